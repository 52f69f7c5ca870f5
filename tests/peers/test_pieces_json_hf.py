"""SentencePiece's BPE written as ``tokenizer.json``: HF, sentencepiece and subword give one result."""

import random
from dataclasses import replace

import pytest
import zstandard

import subword
from subword.errors import FormatError
from subword.formats.check_texts import ADVERSARIAL_TEXTS
from subword.formats.sentencepiece_model import tokenizer_of
from subword.formats.sentencepiece_proto import (
    NormalizerSpec,
    Piece,
    SentencePieceModel,
    TrainerSpec,
    format_proto,
    parse_proto,
)
from subword.formats.tokenizer_json import from_json, to_json

sentencepiece = pytest.importorskip("sentencepiece", reason="the peer is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="the peer is not installed")

MISTRAL = ["mistral_v1", "mistral_v3"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
LETTERS = "  ▁▁\n\tabcehlo theéñ你好🙂\x00<s>/[]INST0123"
TEXTS = [
    *ADVERSARIAL_TEXTS,
    "▁",
    "▁a",
    " ▁ a",
    "\x00",
    "<s>a</s> <unk>[INST] x[/INST]<0x41>",
    *(" " * n for n in range(1, 70)),
    *("a" + " " * n + "b" for n in range(70)),
]


@pytest.fixture(scope="module", params=MISTRAL)
def trio(request, shared):
    """HF's, sentencepiece's and ours of a published model.

    Its user-defined pieces, which no text here spells, are control pieces in what is written.
    """
    with (shared / "vocab" / request.param / "tokenizer.model.zst").open("rb") as packed:
        model = parse_proto(zstandard.ZstdDecompressor().stream_reader(packed).read())
    pieces = tuple(
        piece._replace(type="control") if piece.type == "user_defined" else piece
        for piece in model.pieces
    )
    return three(model, replace(model, pieces=pieces))


def three(model, changed=None):
    """Hand HF and subword the file that is written of the changed model, or of the same."""
    tok = tokenizer_of(changed or model)
    text = to_json(tok)
    again = from_json(text)
    assert again == tok
    processor = sentencepiece.SentencePieceProcessor(model_proto=format_proto(model))
    return tokenizers.Tokenizer.from_str(text), processor, again


def encoded(trio, text):
    """The ids that all three give."""
    theirs, processor, ours = trio
    ids = processor.encode(text)
    assert theirs.encode(text, add_special_tokens=False).ids == ids, text
    assert ours.encode(text) == ids, text
    return ids


def check(trio, text):
    theirs, processor, ours = trio
    ids = encoded(trio, text)
    decoded = processor.decode(ids)
    assert ours.decode(ids) == decoded, text
    # HF spells the unknown piece out, where sentencepiece writes its surface.
    if processor.unk_id() not in ids:
        assert theirs.decode(ids, skip_special_tokens=False) == decoded, text


def test_published_models_on_hostile_texts(trio):
    for text in TEXTS:
        check(trio, text)


def test_published_models_on_random_texts(trio):
    pick = random.Random(1)
    for _ in range(1000):
        check(trio, "".join(pick.choices(LETTERS, k=pick.randrange(1, 60))))


def test_what_hf_writes_back_gives_the_same_ids(trio):
    theirs, processor, _ = trio
    again = from_json(theirs.to_str())
    for text in TEXTS:
        assert again.encode(text) == processor.encode(text), text


def test_templates_are_those_of_the_model(trio):
    theirs, processor, ours = trio
    expected = [processor.bos_id(), *processor.encode("a b"), processor.eos_id()]
    assert theirs.encode("a b").ids == ours.encode("a b", template=True) == expected


def test_special_tokens_beside_the_pieces_cut_alike(trio):
    *_, tok = trio
    tok = tok.replace(special_tokens={**tok.special_tokens, "<|x|>": tok.vocab_size})
    theirs = tokenizers.Tokenizer.from_str(to_json(tok))
    pick = random.Random(2)
    for _ in range(300):
        text = "".join(pick.choices(["<|x|>", " ", "a", "▁", "b c"], k=pick.randrange(1, 8)))
        assert theirs.encode(text, add_special_tokens=False).ids == tok.encode(text), text


def test_a_file_is_converted_and_back(shared, tmp_path):
    packed = (shared / "vocab" / "mistral_v1" / "tokenizer.model.zst").read_bytes()
    source, folder = tmp_path / "first.model", tmp_path / "folder"
    source.write_bytes(zstandard.ZstdDecompressor().decompressobj().decompress(packed))
    folder.mkdir()
    report = subword.convert(source, folder / "tokenizer.json")
    assert (report.n_differences, len(report.readers)) == (0, 2)
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert subword.load(folder).encode("a  b", template=True) == theirs.encode("a  b").ids
    subword.convert(folder / "tokenizer.json", tmp_path / "second.model")
    assert subword.load(tmp_path / "second.model") == subword.load(source)


def test_user_defined_pieces_behind_a_dummy_prefix_are_refused(shared, tmp_path):
    packed = (shared / "vocab" / "mistral_v3" / "tokenizer.model.zst").read_bytes()
    source = tmp_path / "first.model"
    source.write_bytes(zstandard.ZstdDecompressor().decompressobj().decompress(packed))
    with pytest.raises(FormatError, match=r"user_defined piece '\[REFERENCE_DOC_19\]'"):
        subword.convert(source, tmp_path / "tokenizer.json")


def random_model(pick):
    """Few letters, so that pieces overlap; scores that tie, runs of one score, kinds of all."""
    letters = pick.choice(["ab", "ab▁", "abcé▁", "a🙂你▁▁", "▁a"])
    texts = {"".join(pick.choices(letters, k=pick.randrange(1, 7))) for _ in range(20)}
    texts |= {"▁" * n for n in pick.sample(range(1, 9), pick.randrange(8))}
    texts |= set(letters) if pick.random() < 0.8 else set()
    kinds = ["normal"] * 20 + ["control"] * pick.randrange(2) + ["user_defined"] * pick.randrange(3)
    scores, n_tied, are_runs_tied = list(range(1, 400)), pick.choice([1, 1, 2, 8]), pick.random()
    pick.shuffle(scores)
    pieces = [Piece("<unk>", 0.0, "unknown"), Piece("<s>", 0.0, "control")]
    for text, score in zip(sorted(texts), scores, strict=False):
        is_run = set(text) == {"▁"} and are_runs_tied < 0.5
        pieces.append(Piece(text, -1e9 if is_run else -float(score // n_tied), pick.choice(kinds)))
    has_bytes = pick.random() < 0.4
    pieces += [Piece(text, 0.0, "byte") for text in BYTES if has_bytes]
    pick.shuffle(pieces)
    normalizer = NormalizerSpec(
        add_dummy_prefix=pick.random() < 0.5, remove_extra_whitespaces=False
    )
    trainer = TrainerSpec(model_type="bpe", byte_fallback=has_bytes, unk_surface="?")
    model = SentencePieceModel(
        pieces=tuple(pieces), trainer=trainer, normalizer=normalizer, denormalizer=None
    )
    return model, letters.replace("▁", " ") + " ▁ x<s>"


def test_random_models_are_held_or_refused():
    n_held = 0
    for seed in range(300):
        pick = random.Random(seed)
        model, letters = random_model(pick)
        try:
            trio = three(model)
        except FormatError:
            continue
        n_held += 1
        for n_letters in (0, 1, 2, 3, 5, 8, 13, 40, 80):
            check(trio, "".join(pick.choices(letters, k=n_letters)))
    assert n_held > 150
