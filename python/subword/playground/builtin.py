"""Tokenizers for a page that was opened without any: trained at the start, on a text of our own."""

import warnings
from importlib.resources import files
from typing import Final

from subword.errors import StoppedEarlyWarning, TextLeftOutWarning
from subword.named import ByteTokenizer
from subword.playground.catalog import Entry, make_entry
from subword.training.bpe import train_bpe
from subword.training.unigram import train_unigram
from subword.training.wordpiece import train_wordpiece

__all__ = ["builtin_entries"]

_END: Final = "<|endoftext|>"


def builtin_entries() -> list[Entry]:
    """Train one small tokenizer of each kind; the same every time, in well under a second."""
    text = (files("subword.playground") / "sample.txt").read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        warnings.simplefilter("ignore", TextLeftOutWarning)  # rare characters become their bytes
        return [
            make_entry("BPE · 1,000", train_bpe([text], 1_000, [_END])),
            make_entry("BPE · 500", train_bpe([text], 500, [_END])),
            make_entry("WordPiece", train_wordpiece([text], 1_000, score="frequency")),
            make_entry("Unigram", train_unigram([text], 1_000, [_END])),
            make_entry("Bytes", ByteTokenizer([_END])),
        ]
