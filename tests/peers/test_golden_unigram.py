"""Ids of sentencepiece 0.2.3 for real vocabularies, and its likelihood as the bar for training."""

import io
import json
import math
import struct
import tarfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

import subword
from subword import _core

NAMES = ["albert_sp", "xlnet_sp", "spm_test_en", "spm_test_ja", "seqio_test_sp"]
KINDS = {1: "normal", 2: "unknown", 3: "control", 4: "user_defined", 5: "unused", 6: "byte"}


def read(path: Path, n: int = -1) -> bytes:
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as reader:
        return reader.read(n) if n >= 0 else reader.readall()


def fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a protobuf message, as far as a model has them."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        n = {1: 8, 5: 4}[key & 7] if key & 7 != 2 else varint()
        yield key >> 3, message[at : at + n]
        at += n


def read_model(model: bytes) -> tuple[list[tuple[bytes, float, str]], int]:
    pieces, unk_id = [], 0
    for field, content in fields(model):
        if field == 1:
            piece = {2: struct.pack("<f", 0.0), 3: 1} | dict(fields(content))
            pieces.append((piece[1], struct.unpack("<f", piece[2])[0], KINDS[piece[3]]))
        elif field == 2:
            unk_id = dict(fields(content)).get(40, 0)
    return pieces, unk_id


@pytest.fixture(scope="module", params=NAMES)
def pair(request: pytest.FixtureRequest, shared: Path) -> tuple[str, _core.Unigram, Any]:
    """A vocabulary's name, our model of it and sentencepiece's."""
    sentencepiece = pytest.importorskip("sentencepiece")
    (path,) = (shared / "vocab" / request.param).glob("*.model.zst")
    model = read(path)
    pieces, unk_id = read_model(model)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return request.param, _core.Unigram(pieces, unk_id=unk_id), processor


def test_golden_ids(pair: tuple[str, _core.Unigram, Any], shared: Path) -> None:
    name, unigram, processor = pair
    cases = json.loads((shared / "golden" / f"{name}.json").read_bytes())["cases"]
    assert len(cases) > 300
    for case in cases:
        assert unigram.encode(processor.normalize(case["t"]).encode()) == case["ids"], case["t"]


def test_golden_n_best(pair: tuple[str, _core.Unigram, Any], shared: Path) -> None:
    """The same paths; those of equal score come in an order of our own."""
    name, unigram, processor = pair
    cases = json.loads((shared / "golden" / f"{name}.json").read_bytes())["cases"]
    cases = [case for case in cases if "nbest" in case]
    assert cases
    for case in cases:
        text = processor.normalize(case["t"]).encode()
        ours = unigram.n_best(text, 4)
        score_of = {tuple(ids): score for ids, score in unigram.n_best(text, 400)}
        theirs = [score_of[tuple(ids)] for ids in case["nbest"]]
        assert len(ours) == len(theirs)
        assert theirs == pytest.approx([score for _, score in ours], rel=1e-6)


@pytest.mark.parametrize(
    "corpus", ["en_web/wikitext2_valid_test", "ja/aozora_bunko", "ru/tinystories_ru", "code/c"]
)
def test_ids_of_running_text(
    pair: tuple[str, _core.Unigram, Any], shared: Path, corpus: str
) -> None:
    """Lines, and stretches so long that 32-bit scores lose digits."""
    _, unigram, processor = pair
    text = read(shared / "data" / f"{corpus}.txt.zst", 400_000).decode(errors="ignore")
    stretches = [text[at : at + 60_000] for at in range(0, len(text), 60_000)]
    for piece in [*text.split("\n"), *stretches]:
        normalized = processor.normalize(piece).encode()
        assert unigram.encode(normalized) == processor.encode(piece)


def log_likelihood(pieces: Mapping[str, float], words: Mapping[str, int]) -> float:
    """Mean log probability per character over all segmentations; probabilities sum to 1."""
    log_total = math.log(sum(map(math.exp, pieces.values())))
    probabilities = {piece: math.exp(score - log_total) for piece, score in pieces.items()}
    longest = max(map(len, pieces))
    total, n_chars = 0.0, 0
    for word, count in words.items():
        sums = [1.0, *[0.0] * len(word)]
        for end in range(1, len(word) + 1):
            for start in range(max(0, end - longest), end):
                sums[end] += sums[start] * probabilities.get(word[start:end], 0.0)
        total += count * math.log(sums[-1])
        n_chars += count * len(word)
    return total / n_chars


def test_held_out_text_is_as_likely_as_with_sentencepiece(shared: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    text = read(shared / "data" / "en_web" / "wikitext2_valid_test.txt.zst", 1_500_000)
    words = ["▁" + word for word in text.decode(errors="ignore").split() if len(word) < 60]
    cut = len(words) * 4 // 5
    counts = Counter(words[:cut])
    keys = [word.encode() for word in counts]
    table = _core.PretokenTable(
        b"".join(keys),
        np.array(list(accumulate(map(len, keys))), dtype=np.uint64),
        np.array(list(counts.values()), dtype=np.uint64),
        np.zeros(len(keys), np.uint64),
    )
    ours = dict(_core.learn_pieces(table, 4000)[0])
    model = io.BytesIO()
    lines = (" ".join(words[at : at + 200]).replace("▁", "") for at in range(0, cut, 200))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=lines,
        model_writer=model,
        vocab_size=4003,
        normalization_rule_name="identity",
        split_by_unicode_script=False,
        split_by_number=False,
        num_threads=1,
        minloglevel=2,
    )
    pieces, _ = read_model(model.getvalue())
    theirs = {text.decode(): score for text, score, kind in pieces if kind == "normal"}
    assert len(ours) == len(theirs) == 4000
    held_out = {
        word: count
        for word, count in Counter(words[cut:]).items()
        if all(c in ours and c in theirs for c in word)
    }
    assert log_likelihood(ours, held_out) >= log_likelihood(theirs, held_out)


def running_words(shared: Path, file: str, member: str) -> list[str]:
    data = read(shared / "data" / file, -1 if member else 2_000_000)
    if member:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            content = archive.extractfile(member)
            assert content is not None
            data = content.read()
    return [f" {word}" for word in data.decode(errors="ignore").split() if len(word) < 60]


@pytest.mark.parametrize(
    ("file", "member", "vocab_size"),
    [
        ("en_tinystories/childrens_classics_pd.txt.zst", "", 6000),
        ("zh/modern_chinese_prose.txt.zst", "", 6000),
        ("code/python.txt.zst", "", 6000),
        ("parallel/ntrex128.tar.zst", "ntrex128/hin.txt", 3000),
    ],
)
def test_as_users_train_held_out_text_is_as_likely_as_with_sentencepiece(
    file: str, member: str, vocab_size: int, shared: Path
) -> None:
    """Both with their own splits, of the same words with one space before each."""
    sentencepiece = pytest.importorskip("sentencepiece")
    words = running_words(shared, file, member)
    cut = len(words) * 4 // 5
    lines = ["".join(words[at : at + 200]) for at in range(0, cut, 200)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", subword.TextLeftOutWarning)
        tok = subword.train_unigram(lines, vocab_size, byte_fallback=False)
    assert isinstance(tok.model, subword.models.Unigram)
    ours = {p.text.decode(): p.score for p in tok.model.pieces if p.kind == "normal"}
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=vocab_size,
        normalization_rule_name="identity",
        max_sentence_length=1 << 20,
        bos_id=-1,
        eos_id=-1,
        num_threads=1,
        minloglevel=2,
    )
    pieces, _ = read_model(model.getvalue())
    theirs = {
        text.decode().replace("▁", " "): score for text, score, kind in pieces if kind == "normal"
    }
    assert len(ours) == len(theirs) == vocab_size - 1
    held_out = {
        word: count
        for word, count in Counter(words[cut:]).items()
        if all(c in ours and c in theirs for c in word)
    }
    assert log_likelihood(ours, held_out) >= log_likelihood(theirs, held_out)
