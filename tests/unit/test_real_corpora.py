"""Training on real text against the course's reference and the twin."""

import io
import tarfile
from functools import cache
from pathlib import Path

import pytest

from subword.byte_characters import from_characters
from subword.counts import PretokenCounts, count
from subword.models import Ties
from subword.patterns import resolve_pattern
from subword.reference.bpe import learn_merges
from subword.reference.counts import count as count_by_twin
from subword.training.bpe import train_bpe

zstandard = pytest.importorskip("zstandard")

SEPARATOR = b"<|endoftext|>\n"
CORPORA = [
    "en_tinystories/tinystories_real",
    "code/python",
    "zh/modern_chinese_prose",
    "ru/tinystories_ru",
]


def read(path: Path, n_bytes: int = -1) -> bytes:
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as reader:
        content = reader.read(n_bytes) if n_bytes >= 0 else reader.read()
    return bytes(content)


def read_archive(path: Path) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(read(path))) as members:
        return {
            Path(member.name).name: extracted.read()
            for member in members
            if (extracted := members.extractfile(member)) is not None
        }


def test_the_course_fixture(shared: Path, tmp_path: Path) -> None:
    """500 tokens of ``corpus.en``: its reference merges and vocabulary, exactly."""
    import json

    files = read_archive(shared / "data" / "reference_fixtures" / "bpe_training.tar.zst")
    corpus = tmp_path / "corpus.en"
    corpus.write_bytes(files["corpus.en"])
    lines = files["train-bpe-reference-merges.txt"].decode().splitlines()
    merges = [tuple(map(from_characters, line.split(" "))) for line in lines]
    vocab = json.loads(files["train-bpe-reference-vocab.json"])
    for n_threads in (1, 2, 8):
        tok = train_bpe(corpus, 500, ["<|endoftext|>"], n_threads=n_threads)
        assert tok.merges == merges
        tokens = {
            token.encode() if token == "<|endoftext|>" else from_characters(token)
            for token in vocab
        }
        assert set(tok.vocab.values()) == tokens
        assert len(tok.vocab) == len(vocab) == 500


@cache
def documents_of(path: Path, n_bytes: int) -> list[bytes]:
    # What the cut leaves of a character is no UTF-8, and is learnt from all the same.
    return read(path, n_bytes).split(SEPARATOR)


@cache
def counts_of(path: Path, n_bytes: int) -> PretokenCounts:
    return count(documents_of(path, n_bytes), n_threads=2)


def n_bytes_of(slow: bool) -> int:
    return 1_000_000 if slow else 30_000


@pytest.mark.parametrize("corpus", CORPORA)
def test_counts_are_those_of_the_twin(shared: Path, corpus: str, slow: bool) -> None:
    path = shared / "data" / f"{corpus}.txt.zst"
    counts = counts_of(path, n_bytes_of(slow))
    expected = count_by_twin(documents_of(path, n_bytes_of(slow)), resolve_pattern("gpt2"))
    assert {p: (counts[p], counts.first_seen(p)) for p in counts} == expected


@pytest.mark.parametrize("ties", ["greatest", "first", "hf", "smallest_id"])
@pytest.mark.parametrize("corpus", CORPORA)
def test_merges_are_those_of_the_twin(shared: Path, corpus: str, ties: Ties, slow: bool) -> None:
    """At 1,000 tokens; SUBWORD_SLOW=1 takes the first megabyte, else 30 kB."""
    counts = counts_of(shared / "data" / f"{corpus}.txt.zst", n_bytes_of(slow))
    n_merges = 1_000 - 256
    seen = {p: (counts[p], counts.first_seen(p)) for p in counts}
    tok = train_bpe(counts, 1_000, ties=ties)
    tokens = [bytes([byte]) for byte in range(256)]
    merges = []
    for (left, right), _ in learn_merges(seen, n_merges, ties=ties):
        merges.append((tokens[left], tokens[right]))
        tokens.append(tokens[left] + tokens[right])
    assert tok.merges == merges
