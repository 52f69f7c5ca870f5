"""A small corpus of files, a tokenizer, and what its shards should hold."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import subword

EOT = "<|endoftext|>"


WORDS = ["the", "cat", "sat", "it's", "naïve", "你好", "🌍", "123", "\n\n", "  "]


def corpus(folder: Path, n_files: int = 5, seed: int = 1) -> list[Path]:
    rng = random.Random(seed)
    paths = []
    for number in range(n_files):
        documents = [
            " ".join(rng.choices(WORDS, k=rng.randrange(60))) for _ in range(rng.randrange(1, 12))
        ]
        path = folder / f"{number}.txt"
        path.write_bytes(EOT.join(documents).encode())
        paths.append(path)
    return paths


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    corpus(folder)
    return folder


@pytest.fixture(scope="module")
def tok() -> subword.Tokenizer:
    return subword.train_bpe([" ".join(WORDS * 3)], 285, [EOT])


def expected(tok: subword.Tokenizer, folder: Path) -> list[list[int]]:
    documents = []
    for path in sorted(folder.glob("*.txt")):
        parts = path.read_bytes().split(EOT.encode())
        documents += parts[:-1] if parts[-1] == b"" else parts
    return [[*tok.encode(document), tok.special_tokens[EOT]] for document in documents]


def lists(shards: Any) -> list[list[int]]:
    return [ids.tolist() for ids in shards]


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def shrinking(path: Path, seen: list[int]) -> Callable[[int], None]:
    """Give a progress that cuts a file short at its first call and notes all of them."""

    def shrink(done: int) -> None:
        if not seen:
            with path.open("r+b") as file:
                file.truncate(1000)
        seen.append(done)

    return shrink
