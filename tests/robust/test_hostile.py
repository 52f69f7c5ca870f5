"""More threads than work, and the worst megabytes through counting, training and streams."""

import warnings

import pytest

from subword.counts import count
from subword.errors import StoppedEarlyWarning
from subword.patterns import NAMED_PATTERNS
from subword.training.bpe import train_bpe

WORST = {
    "a": "a" * 1_000_000,
    "spaces": "a" + " " * 1_000_000 + "b",
    "newlines": "\r\n" * 500_000,
    "cjk": "".join(chr(0x4E00 + n * n % 20_000) for n in range(333_000)),
    "emoji": "🙂" * 250_000,
    "marks": "e" + "\u0301" * 500_000,
    "apostrophes": "'s" * 500_000,
    "capitals": "中" + "A" * 1_000_000,
    "unique words": " ".join(map(str, range(150_000))),
}


@pytest.mark.parametrize("n_threads", [1, 2, 7, 64, 1000])
def test_more_threads_than_work(n_threads: int) -> None:
    texts = [f"text {number} of a batch" for number in range(300)]
    counts = count(texts, n_threads=n_threads)
    assert counts == count(texts, n_threads=1)
    tok = train_bpe(counts, 300)
    assert tok.encode_batch(texts, n_threads=n_threads).tolist() == [tok.encode(t) for t in texts]
    assert tok.encode_batch(texts[:1], n_threads=n_threads)[0].tolist() == tok.encode(texts[0])


@pytest.mark.parametrize("name", sorted(NAMED_PATTERNS))
@pytest.mark.parametrize("text", WORST.values(), ids=WORST)
def test_the_worst_megabytes_are_counted_learnt_and_streamed(text: str, name: str) -> None:
    one, two = (count([text, text[:999]], pattern=name, n_threads=n) for n in (1, 2))
    assert one == two
    assert sum(len(pretoken) * n for pretoken, n in one.items()) == one.n_bytes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        tok = train_bpe(one, 300)
    ids = tok.encode(text)
    assert tok.decode(ids) == text
    parts = [text[at : at + 5_000] for at in range(0, len(text), 5_000)]
    assert list(tok.encode_iterable(parts)) == ids
