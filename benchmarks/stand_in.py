"""Train the vocabulary that stands in for the public ones, run by the peers' Python.

A machine without the shared data still has something to encode with: GPT-2's pattern and
merges learned from the Python standard library by HF ``tokenizers``.
"""

import base64
import sys
from pathlib import Path

from benchmarks.peers import PEERS
from benchmarks.trainers import TrainingJob

__all__ = ["main"]


def main() -> None:
    """Write a rank file: arguments are documents, vocabulary size and the file to write."""
    documents, vocab_size, rank_file = sys.argv[1:]
    prepare = PEERS["tokenizers"].train
    if prepare is None:
        raise ValueError("tokenizers has no training")
    training = prepare(TrainingJob(documents, documents, int(vocab_size), n_threads=1))
    merges = training.merges(training.call()) or []
    tokens = [bytes([byte]) for byte in range(256)] + [left + right for left, right in merges]
    lines = [f"{base64.b64encode(token).decode()} {i}\n" for i, token in enumerate(tokens)]
    Path(rank_file).write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    main()
