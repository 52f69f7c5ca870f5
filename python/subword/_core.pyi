# Stub of the compiled module; `make lint` holds it to the module with mypy.stubtest.

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "Bpe",
    "ByteReader",
    "CharacterBpe",
    "Characters",
    "DocumentReader",
    "FileEncoder",
    "JsonTables",
    "Normalizer",
    "PretokenCounter",
    "PretokenTable",
    "RunFile",
    "RunMerge",
    "Steps",
    "TextStream",
    "Tokenizer",
    "Unigram",
    "WordPiece",
    "Words",
    "check_column",
    "class_ranges",
    "continue_merges",
    "encode_column",
    "learn_merges",
    "learn_pieces",
    "learn_wordpiece",
    "merge_runs",
    "script_ranges",
    "split",
    "thread_count",
]

_Text = str | bytes

@final
class CharacterBpe:
    def __new__(
        cls,
        tokens: Sequence[tuple[bytes, int]],
        merges: Sequence[tuple[int, int]],
        *,
        unk_id: int | None = None,
        fuse_unk: bool = False,
        byte_fallback: bool = False,
        continuing_subword_prefix: str = "",
        end_of_word_suffix: str = "",
        whole_first: bool = False,
        byte_level: bool = False,
    ) -> CharacterBpe: ...
    @staticmethod
    def from_pieces(
        pieces: Sequence[tuple[bytes, float, str]], *, unk_id: int, byte_fallback: bool = False
    ) -> CharacterBpe: ...
    def encode(self, pretoken: bytes) -> list[int]: ...
    def encode_spans(self, pretoken: bytes) -> list[tuple[int, int, int]]: ...
    def encode_with_dropout(self, pretoken: bytes, p: float, seed: int) -> list[int]: ...
    def segments(self, text: bytes) -> list[tuple[int, int]]: ...

@final
class Characters:
    def __new__(
        cls, tokens: Sequence[tuple[bytes, int]] | None = None, *, unk_id: int | None = None
    ) -> Characters: ...
    @staticmethod
    def from_pieces(
        pieces: Sequence[tuple[bytes, float, str]], *, unk_id: int, byte_fallback: bool = False
    ) -> Characters: ...
    def encode(self, pretoken: bytes) -> list[int]: ...
    def encode_spans(self, pretoken: bytes) -> list[tuple[int, int, int]]: ...

@final
class Words:
    def __new__(
        cls, tokens: Sequence[tuple[bytes, int]], *, unk_id: int | None = None
    ) -> Words: ...
    @staticmethod
    def from_pieces(
        pieces: Sequence[tuple[bytes, float, str]], *, unk_id: int, byte_fallback: bool = False
    ) -> Words: ...
    def encode(self, pretoken: bytes) -> list[int]: ...
    def encode_spans(self, pretoken: bytes) -> list[tuple[int, int, int]]: ...

_OnBad = Literal["fail", "skip", "replace"]
_U64 = npt.NDArray[np.uint64]

@final
class ByteReader:
    def __new__(cls, path: str | PathLike[str], *, block_bytes: int = ...) -> ByteReader: ...
    def read(self, n_bytes: int) -> bytes: ...
    @property
    def stored_bytes(self) -> int: ...

@final
class DocumentReader:
    def __new__(
        cls,
        paths: Sequence[str | PathLike[str]],
        cut: str | bytes,
        *,
        field: str | None = None,
        on_bad: _OnBad | None = None,
        block_bytes: int = ...,
    ) -> DocumentReader: ...
    @property
    def bad(self) -> tuple[int, list[str]]: ...
    @property
    def stored_bytes(self) -> int: ...
    def __iter__(self) -> DocumentReader: ...
    def __next__(self) -> bytes: ...

def check_column(
    data: npt.NDArray[np.uint8],
    bounds: npt.NDArray[np.int64],
    on_bad: _OnBad,
    *,
    is_text: npt.NDArray[np.bool_] | None = None,
    place: str = "",
    first: int = 0,
) -> tuple[tuple[bytes, npt.NDArray[np.int64]] | None, int, list[str]]: ...

_Block = tuple[
    npt.NDArray[np.uint16] | npt.NDArray[np.uint32],
    npt.NDArray[np.uint64],
    npt.NDArray[np.uint32],
]

def encode_column(
    tokenizer: Tokenizer,
    data: npt.NDArray[np.uint8],
    bounds: npt.NDArray[np.int64],
    special: str | Iterable[str],
    *,
    separator: int | None = None,
    narrow: bool = False,
    n_threads: int | None = None,
    place: str = "",
    first: int = 0,
) -> _Block: ...

@final
class FileEncoder:
    def __new__(
        cls,
        tokenizer: Tokenizer,
        path: str | PathLike[str],
        cut: str | bytes,
        special: str | Iterable[str],
        *,
        field: str | None = None,
        on_bad: _OnBad | None = None,
        separator: int | None = None,
        narrow: bool = False,
        n_threads: int | None = None,
        skip: int = 0,
        chunk_bytes: int | None = None,
    ) -> FileEncoder: ...
    def __iter__(self) -> FileEncoder: ...
    def __next__(self) -> _Block: ...
    @property
    def bad(self) -> tuple[int, list[str]]: ...
    @property
    def stored_bytes(self) -> int: ...

@final
class PretokenCounter:
    def __new__(
        cls,
        patterns: list[str],
        special_tokens: list[_Text] | list[str],
        *,
        n_threads: int | None = None,
        piece_bytes: int = ...,
        spill: tuple[str | PathLike[str], int] | None = None,
        position: int = 0,
    ) -> PretokenCounter: ...
    def add(
        self, documents: list[_Text], *, progress: Callable[[int], object] | None = None
    ) -> None: ...
    def add_column(self, data: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]) -> None: ...
    def add_files(
        self,
        paths: Sequence[str | PathLike[str]],
        cut: str | bytes,
        *,
        field: str | None = None,
        on_bad: _OnBad | None = None,
        block_bytes: int = ...,
        progress: Callable[[int], object] | None = None,
    ) -> None: ...
    def take_bad(self) -> tuple[int, list[str]]: ...
    def take_runs(self) -> list[Path]: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def n_documents(self) -> int: ...
    def finish(self) -> PretokenTable: ...

@final
class RunFile:
    def __new__(cls, path: str | PathLike[str]) -> RunFile: ...
    def append(
        self,
        data: npt.NDArray[np.uint8],
        ends: _U64,
        counts: _U64,
        first_seen: _U64,
        *,
        factor: int = 1,
    ) -> None: ...
    def finish(self) -> None: ...

_Run = tuple[str | PathLike[str], int]

@final
class RunMerge:
    def __new__(cls, runs: Sequence[_Run], *, min_count: int = 1) -> RunMerge: ...
    def take(self, n_rows: int) -> tuple[bytes, _U64, _U64, _U64]: ...
    @property
    def dropped(self) -> tuple[int, int]: ...

def merge_runs(runs: Sequence[_Run], into: str | PathLike[str]) -> None: ...

@final
class PretokenTable:
    def __new__(
        cls,
        data: bytes,
        ends: npt.NDArray[np.uint64],
        counts: npt.NDArray[np.uint64],
        first_seen: npt.NDArray[np.uint64],
    ) -> PretokenTable: ...
    def __len__(self) -> int: ...
    def find(self, pretoken: bytes) -> int | None: ...
    def row(self, row: int) -> tuple[bytes, int, int] | None: ...
    def data(self) -> bytes: ...
    def ends(self) -> npt.NDArray[np.uint64]: ...
    def counts(self) -> npt.NDArray[np.uint64]: ...
    def first_seen(self) -> npt.NDArray[np.uint64]: ...
    @staticmethod
    def from_batches(
        batches: Iterable[tuple[npt.NDArray[np.uint8], _U64, _U64, _U64]], min_count: int
    ) -> PretokenTable: ...
    @staticmethod
    def from_runs(runs: Sequence[_Run], *, min_count: int = 1) -> PretokenTable: ...
    def scaled(self, factor: int) -> PretokenTable: ...
    def at_least(self, min_count: int) -> PretokenTable: ...
    def added(self, other: PretokenTable, offset: int) -> PretokenTable: ...
    def __eq__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class Tokenizer:
    def __new__(
        cls,
        model: Bpe | WordPiece | Unigram | CharacterBpe | Words | Characters,
        added_tokens: list[tuple[str, int, bool, bool, bool, bool, bool, bool]],
        patterns: list[str],
        *,
        tokens: tuple[list[int], list[bytes]] | None = None,
        normalizer: Normalizer | None = None,
        steps: Steps | None = None,
        memo_bytes: int = ...,
    ) -> Tokenizer: ...
    def encode(self, text: _Text, special: str | Iterable[str]) -> list[int]: ...
    def encode_array(self, text: _Text, special: str | Iterable[str]) -> npt.NDArray[np.uint32]: ...
    def count_tokens(self, text: _Text, special: str | Iterable[str]) -> int: ...
    def encode_batch(
        self,
        texts: Sequence[_Text],
        special: str | Iterable[str],
        *,
        n_threads: int | None = None,
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]: ...
    def encode_spans(
        self, text: _Text, special: str | Iterable[str]
    ) -> tuple[
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint64],
        npt.NDArray[np.uint64],
        npt.NDArray[np.uint64],
        npt.NDArray[np.uint64],
    ]: ...
    def sample(
        self,
        text: _Text,
        special: str | Iterable[str],
        seed: int,
        *,
        dropout: float | None = None,
        alpha: float = 0.0,
        n_best: int | None = None,
    ) -> list[int]: ...
    def n_best(
        self, text: _Text, special: str | Iterable[str], n: int
    ) -> list[tuple[list[int], float]]: ...
    def decode_bytes(self, ids: Iterable[int], *, skip_special: bool = False) -> bytes: ...
    def decode(self, ids: Iterable[int], errors: str, *, skip_special: bool = False) -> str: ...
    def token_bytes(self, token_id: int) -> bytes | None: ...
    def decoded_bytes(self, token_id: int) -> bytes | None: ...
    def token_id(self, token: bytes) -> int | None: ...
    def stream(self, special: str | Iterable[str]) -> TextStream: ...

@final
class Bpe:
    def __new__(
        cls,
        ids: list[int],
        tokens: list[bytes],
        merges: list[tuple[int, int]],
        *,
        whole_first: bool = False,
    ) -> Bpe: ...
    @staticmethod
    def from_ranks(ids: list[int], tokens: list[bytes]) -> Bpe: ...
    @staticmethod
    def from_rank_lines(data: bytes) -> Bpe | None: ...
    @property
    def whole_first(self) -> bool: ...
    @property
    def n_tokens(self) -> int: ...
    @property
    def n_merges(self) -> int: ...
    def token(self, token_id: int) -> bytes | None: ...
    def vocab(self) -> dict[int, bytes]: ...
    def merges(self) -> list[tuple[int, int]]: ...

@final
class JsonTables:
    @staticmethod
    def read(data: bytes) -> JsonTables | None: ...
    @property
    def rest(self) -> bytes: ...
    def added(self) -> tuple[list[str], list[int], bytes] | None: ...
    @property
    def has_merges(self) -> bool: ...
    @property
    def n_tokens(self) -> int: ...
    def vocab(self) -> dict[str, int] | None: ...
    def id_of(self, token: str) -> int | None: ...
    def others(self) -> dict[str, int]: ...
    def merges(self) -> list[tuple[int, int]]: ...
    def bpe(self, also: list[tuple[int, bytes]], whole_first: bool) -> Bpe: ...

@final
class TextStream:
    def push(self, part: _Text) -> list[int]: ...
    def finish(self) -> list[int]: ...

def class_ranges(expression: str) -> list[tuple[int, int]]: ...

@final
class Unigram:
    def __new__(
        cls,
        pieces: list[tuple[bytes, float, str]],
        *,
        unk_id: int,
        byte_fallback: bool = False,
        fuse_unknown: bool = True,
        single_precision: bool = True,
    ) -> Unigram: ...
    def encode(self, text: bytes) -> list[int]: ...
    def encode_spans(self, text: bytes) -> list[tuple[int, int, int]]: ...
    def n_best(self, text: bytes, n: int) -> list[tuple[list[int], float]]: ...
    def sample(
        self, text: bytes, *, alpha: float, seed: int, n_best: int | None = None
    ) -> list[int]: ...
    @property
    def vocab_size(self) -> int: ...

def continue_merges(
    symbols: npt.NDArray[np.uint32],
    bounds: npt.NDArray[np.int64],
    counts: npt.NDArray[np.uint64],
    tokens: list[bytes],
    n_merges: int,
    *,
    taken: list[bytes],
    forbidden: npt.NDArray[np.uint64],
    min_frequency: int = 1,
    max_token_length: int | None = None,
) -> list[tuple[int, int, int]]: ...
def learn_merges(
    table: PretokenTable,
    n_merges: int,
    *,
    ties: str = "greatest",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[tuple[int, int, int]]: ...
def learn_pieces(
    table: PretokenTable,
    vocab_size: int,
    *,
    character_coverage: float = 0.9995,
    extra_alphabet: str = "",
    max_piece_length: int = 16,
    seed_size: int = 1_000_000,
    shrinking_factor: float = 0.75,
    n_sub_iterations: int = 2,
    n_threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> tuple[list[tuple[str, float]], list[tuple[str, int]]]: ...
def split(text: bytes, patterns: list[str], *, engine: bool = False) -> list[bytes]: ...
def thread_count(wanted: int | None = None) -> int: ...

@final
class Normalizer:
    def __new__(cls, steps: Sequence[object]) -> Normalizer: ...
    def normalize(
        self, text: bytes
    ) -> tuple[bytes, list[tuple[int, int, int, int, bool]] | None]: ...
    def spans(
        self, text: bytes, ranges: Sequence[tuple[int, int]]
    ) -> tuple[bytes, list[tuple[int, int]]]: ...

@final
class Steps:
    def __new__(cls, steps: Sequence[object]) -> Steps: ...
    def split(self, text: bytes, *, at_start: bool = True) -> list[tuple[bytes, int, int]]: ...

def script_ranges() -> tuple[list[str], list[tuple[int, int, int]]]: ...

@final
class WordPiece:
    def __new__(
        cls,
        tokens: list[tuple[bytes, int]],
        *,
        continuing_prefix: bytes,
        unk_id: int | None,
        max_input_chars_per_word: int,
    ) -> WordPiece: ...
    def encode(self, word: bytes) -> list[int]: ...
    def encode_spans(self, word: bytes) -> list[tuple[int, int, int]]: ...

def learn_wordpiece(
    pretoken_counts: list[tuple[bytes, int]],
    *,
    vocab_size: int,
    max_merges: int | None,
    score: str,
    ties: str,
    min_frequency: int,
    continuing_prefix: str,
    end_of_word_suffix: str,
    special_tokens: list[str],
    limit_alphabet: int | None,
    character_coverage: float,
    extra_alphabet: list[str],
    all_forms: bool,
    first_seen: list[int] | None = None,
    progress: Callable[[int], object] | None = None,
) -> tuple[
    list[bytes], int, list[tuple[int, int, int, int, int, int]], str, list[tuple[str, int]], int
]: ...
