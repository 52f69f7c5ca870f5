"""BPE of characters against sentencepiece, HF tokenizers and subword-nmt."""

import io
import json
import random
import struct
import tarfile

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from subword import _core

sentencepiece = pytest.importorskip("sentencepiece", reason="the peers group is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="the peers group is not installed")

MISTRAL = ["mistral_v1", "mistral_v3", "mistral_v7"]
KINDS = {1: "normal", 2: "unknown", 3: "control", 4: "user_defined", 5: "unused", 6: "byte"}
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def unpacked(path):
    return zstandard.ZstdDecompressor().decompress(path.read_bytes(), max_output_size=1 << 28)


def loaded(model):
    """The peer's processor of a serialized model, and ours."""
    sp = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = [(text, score, KINDS[kind]) for text, score, kind in pieces_of(model)]
    has_bytes = any(kind == "byte" for _, _, kind in pieces)
    ours = _core.CharacterBpe.from_pieces(pieces, unk_id=sp.unk_id(), byte_fallback=has_bytes)
    return sp, ours


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """Fields of a protobuf message: number and value."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = data[at : at + size], at + size
        yield tag >> 3, value


def pieces_of(model):
    pieces = []
    for number, value in fields(model):
        if number == 1:
            piece = {2: b"\0\0\0\0", 3: 1} | dict(fields(value))
            pieces.append((piece[1], struct.unpack("<f", piece[2])[0], piece[3]))
    return pieces


def serialized(pieces, *, byte_fallback=False, model_type=2):
    """A model of sentencepiece without a normalizer; type 2 is bpe, 3 word, 4 char."""

    def field(number, value):
        if isinstance(value, int):
            return bytes([number << 3]) + packed(value)
        if isinstance(value, float):
            return bytes([number << 3 | 5]) + struct.pack("<f", value)
        return packed(number << 3 | 2) + packed(len(value)) + value

    def packed(value):
        out = b""
        while value >= 128:
            out, value = out + bytes([value & 127 | 128]), value >> 7
        return out + bytes([value])

    numbers = {kind: number for number, kind in KINDS.items()}
    out = b""
    for text, score, kind in pieces:
        out += field(1, field(1, text.encode()) + field(2, float(score)) + field(3, numbers[kind]))
    trainer = field(3, model_type)
    trainer += packed(35 << 3) + packed(int(byte_fallback))
    normalizer = field(1, b"identity") + field(3, 0) + field(4, 0) + field(5, 1)
    return out + field(2, trainer) + field(3, normalizer)


def real_models(shared):
    for name in MISTRAL:
        yield name, unpacked(shared / "vocab" / name / "tokenizer.model.zst")
    for path in sorted((shared / "vocab" / "keras_hub_spm").glob("*.spm.zst")):
        yield path.name, unpacked(path)


def is_bpe(model):
    trainer = [value for number, value in fields(model) if number == 2]
    return bool(trainer) and dict(fields(trainer[0])).get(3, 1) == 2


def texts_of(shared):
    """The beginnings of the corpora, by line, and in long stretches."""
    texts = []
    for path in sorted((shared / "data").glob("*/*.txt.zst")):
        with zstandard.ZstdDecompressor().stream_reader(path.read_bytes()) as reader:
            text = reader.read(60_000).decode(errors="ignore")
        texts += [text, *text.splitlines()[:100]]
    return texts


def test_ids_of_the_golden_texts_are_those_of_sentencepiece(shared):
    for name in MISTRAL:
        sp, ours = loaded(unpacked(shared / "vocab" / name / "tokenizer.model.zst"))
        golden = json.loads((shared / "golden" / f"{name}.json").read_text(encoding="utf-8"))
        assert len(golden["cases"]) > 100
        for case in golden["cases"]:
            assert ours.encode(sp.normalize(case["t"]).encode()) == case["ids"], case["t"]


def test_ids_of_the_corpora_are_those_of_sentencepiece(shared):
    texts = texts_of(shared)
    assert sum(map(len, texts)) > 300_000
    n_models = 0
    for name, model in real_models(shared):
        if not is_bpe(model):
            continue
        n_models += 1
        sp, ours = loaded(model)
        for text in texts:
            normalized = sp.normalize(text)
            if "\0" not in normalized:
                assert ours.encode(normalized.encode()) == sp.encode(text), (name, text[:60])
    assert n_models >= len(MISTRAL)


def random_pieces(pick):
    letters = pick.choice(["ab", "ab▁", "abcé▁", "a🙂你"])
    texts = {"".join(pick.choices(letters, k=pick.randrange(1, 6))) for _ in range(25)}
    kinds = ["normal"] * 8 + ["unused", "user_defined"]
    pieces = [("<unk>", 0.0, "unknown")]
    in_order = pick.random() < 0.5
    for at, text in enumerate(sorted(texts, key=lambda _: pick.random())):
        score = -float(at) if in_order else float(pick.randrange(-4, 1))
        pieces.append((text, score, pick.choice(kinds)))
    if pick.random() < 0.4:
        pieces += [(text, 0.0, "byte") for text in BYTES]
    return pieces, letters + "x"


@pytest.mark.parametrize("seed", range(400))
def test_ids_of_random_pieces_are_those_of_sentencepiece(seed):
    pick = random.Random(seed)
    pieces, letters = random_pieces(pick)
    has_bytes = pieces[-1][2] == "byte"
    sp = sentencepiece.SentencePieceProcessor(
        model_proto=serialized(pieces, byte_fallback=has_bytes)
    )
    raw = [(text.encode(), score, kind) for text, score, kind in pieces]
    ours = _core.CharacterBpe.from_pieces(raw, unk_id=0, byte_fallback=has_bytes)
    for n_letters in (1, 2, 3, 5, 8, 13, 40, 100, 3000):
        for _ in range(3):
            text = "".join(pick.choices(letters, k=n_letters))
            assert ours.encode(text.encode()) == sp.encode(text), (pieces, text)


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize(("kernel", "model_type"), [(_core.Words, 3), (_core.Characters, 4)])
def test_words_and_characters_are_those_of_sentencepiece(seed, kernel, model_type):
    pick = random.Random(seed)
    pieces, letters = random_pieces(pick)
    has_bytes = pieces[-1][2] == "byte"
    model = serialized(pieces, byte_fallback=has_bytes, model_type=model_type)
    sp = sentencepiece.SentencePieceProcessor(model_proto=model)
    raw = [(text.encode(), score, kind) for text, score, kind in pieces]
    ours = kernel.from_pieces(raw, unk_id=0, byte_fallback=has_bytes)
    for n_letters in (1, 2, 3, 5, 8, 13, 40, 100):
        text = "".join(pick.choices(letters + "▁▁", k=n_letters))
        assert ours.encode(text.encode()) == sp.encode(text), (pieces, text)


@st.composite
def merge_models(draw):
    prefix = draw(st.sampled_from(["", "", "##"]))
    suffix = draw(st.sampled_from(["", "", "</w>"]))
    letters = draw(st.lists(st.sampled_from("abcdé你"), min_size=1, max_size=6, unique=True))
    tokens = ["?"]
    for letter in letters:
        tokens += sorted({p + letter + s for p in ("", prefix) for s in ("", suffix)})
    has_bytes = draw(st.booleans())
    # With an affix the peer also falls back to the bytes of the affix.
    byte_fallback = has_bytes and not prefix and not suffix and draw(st.booleans())
    if has_bytes:
        tokens += BYTES
    vocab = {token: at for at, token in enumerate(dict.fromkeys(tokens))}
    merges = []
    for _ in range(draw(st.integers(0, 12))):
        listed = [token for token in vocab if not token.startswith(("<0x", "?"))]
        left, right = draw(st.sampled_from(listed)), draw(st.sampled_from(listed))
        # The peer cuts the length of the prefix off whatever stands on the right.
        if prefix and not right.startswith(prefix):
            continue
        made = left + right.removeprefix(prefix)
        vocab.setdefault(made, len(vocab))
        if (left, right) not in merges:
            merges.append((left, right))
    options = {
        "unk_token": "?",
        "fuse_unk": draw(st.booleans()),
        "byte_fallback": byte_fallback,
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": suffix,
        "ignore_merges": draw(st.booleans()),
    }
    return vocab, draw(st.permutations(merges)), options


@given(
    model=merge_models(), texts=st.lists(st.text(alphabet="abcdé你x🙂", max_size=60), max_size=5)
)
@settings(max_examples=300)
def test_spans_of_random_merges_are_those_of_hf(model, texts):
    vocab, merges, options = model
    given = {key: value for key, value in options.items() if value != ""}
    peer = tokenizers.models.BPE(vocab=vocab, merges=merges, **given)
    ours = _core.CharacterBpe(
        [(token.encode(), at) for token, at in vocab.items()],
        [(vocab[left], vocab[right]) for left, right in merges],
        unk_id=0,
        fuse_unk=options["fuse_unk"],
        byte_fallback=options["byte_fallback"],
        continuing_subword_prefix=options["continuing_subword_prefix"],
        end_of_word_suffix=options["end_of_word_suffix"],
        whole_first=options["ignore_merges"],
    )
    for text in filter(None, texts):
        expected = [(token.id, *token.offsets) for token in peer.tokenize(text)]
        assert ours.encode_spans(text.encode()) == expected


def test_segmentation_is_that_of_subword_nmt(shared):
    packed = shared / "data" / "reference_fixtures" / "bpe_training.tar.zst"
    with tarfile.open(fileobj=io.BytesIO(unpacked(packed))) as archive:

        def read(name):
            file = archive.extractfile(f"bpe_training/subword_nmt/{name}")
            return file.read().decode().splitlines()

        codes, expected, lines = read("bpe.ref"), read("corpus.bpe.ref.en"), read("corpus.en")
    merges = [tuple(line.split(" ")) for line in codes if not line.startswith("#version")]
    spelled = {c + suffix: None for line in lines for c in line for suffix in ("", "</w>")}
    spelled |= dict.fromkeys(part for pair in merges for part in pair)
    spelled |= dict.fromkeys(left + right for left, right in merges)
    vocab = {token: at for at, token in enumerate(spelled)}
    ours = _core.CharacterBpe(
        [(token.encode(), at) for token, at in vocab.items()],
        [(vocab[left], vocab[right]) for left, right in merges],
        end_of_word_suffix="</w>",
    )
    assert len(lines) == len(expected) > 500
    for line, segmented in zip(lines, expected, strict=True):
        parts = []
        for word in filter(None, line.split(" ")):
            raw = word.encode()
            cut = [raw[start:end].decode() for _, start, end in ours.encode_spans(raw)]
            parts += [part + "@@" for part in cut[:-1]] + cut[-1:]
        assert parts == segmented.split()
