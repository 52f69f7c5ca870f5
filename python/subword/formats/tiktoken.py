"""tiktoken's rank files: one ``base64 rank`` a line.

The file holds tokens and ranks alone. Its split pattern and special tokens come from the
caller, or are known because the file is one of those that a public encoding is made of.

Source: openai/tiktoken 0.14.0, tiktoken/load.py (form), tiktoken_ext/openai_public.py (encodings
and the SHA-256 of their files); meta-llama/llama-models 0.3.0 and openai/whisper 20250625 (files
whose pattern is public, but which several sets of special tokens share).
"""

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Final

from subword import _core
from subword.atomic_write import write_atomically
from subword.bpe_models import bpe_from_ranks, without_tokens
from subword.errors import ArgumentError, FormatError
from subword.formats.json_file import read_bytes
from subword.formats.reach import byte_level_bpe, ranks_of
from subword.hub import tiktoken_file
from subword.models import Bpe, as_model
from subword.patterns import resolve_pattern
from subword.special_tokens import TokenFlags, assign_ids, check_special_tokens
from subword.tokenizer import Tokenizer
from subword.types import SpecialTokens, TokenId

__all__ = ["ENCODINGS", "Encoding", "read", "read_named", "write"]


@dataclass(frozen=True, slots=True)
class Encoding:
    """What a public encoding adds to its rank file.

    Attributes:
        sha256: Of the rank file.
        pattern: A name of ``subword.patterns.NAMED_PATTERNS``.
        special_tokens: With their ids; None where the file serves several sets, so that the
            caller has to say which.
        aliases: Second spellings of ids that special tokens have, with those ids.
    """

    sha256: str
    pattern: str
    special_tokens: Mapping[str, TokenId] | None
    aliases: Mapping[str, TokenId] = field(default_factory=dict)


# How the last line of Whisper's file spells a token of no bytes.
_EMPTY: Final = b"="

_R50K: Final = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
_P50K: Final = "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
_CL100K: Final = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_O200K: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_LLAMA3: Final = "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55"
_WHISPER: Final = "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126"

_HARMONY_NAMES: Final = {
    199998: "startoftext",
    199999: "endoftext",
    200002: "return",
    200003: "constrain",
    200005: "channel",
    200006: "start",
    200007: "end",
    200008: "message",
    200012: "call",
    200018: "endofprompt",
}

# Of encodings that share a file, the first is the one a file alone stands for.
ENCODINGS: Final[dict[str, Encoding]] = {
    "r50k_base": Encoding(_R50K, "gpt2", {"<|endoftext|>": 50256}),
    "gpt2": Encoding(_R50K, "gpt2", {"<|endoftext|>": 50256}),
    "p50k_base": Encoding(_P50K, "gpt2", {"<|endoftext|>": 50256}),
    "p50k_edit": Encoding(
        _P50K,
        "gpt2",
        {
            "<|endoftext|>": 50256,
            "<|fim_prefix|>": 50281,
            "<|fim_middle|>": 50282,
            "<|fim_suffix|>": 50283,
        },
    ),
    "cl100k_base": Encoding(
        _CL100K,
        "cl100k",
        {
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "o200k_base": Encoding(_O200K, "o200k", {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}),
    "o200k_harmony": Encoding(
        _O200K,
        "o200k",
        {f"<|{_HARMONY_NAMES.get(at, f'reserved_{at}')}|>": at for at in range(199998, 201088)},
        aliases={"<|reserved_200018|>": 200018},
    ),
    "llama3": Encoding(_LLAMA3, "llama3", None),
    "whisper_multilingual": Encoding(_WHISPER, "gpt2", None),
}
"""Public encodings by name."""


def read(
    path: str | PathLike[str],
    *,
    pattern: str | Sequence[str] | None = None,
    special_tokens: SpecialTokens | None = None,
    encoding: str | None = None,
) -> Tokenizer:
    """Read a tokenizer.

    A file of a public encoding, told by its SHA-256, needs neither pattern nor special tokens:
    what is not given is that encoding's. Of several that share a file it is the base one, such
    as p50k_base, unless ``encoding`` names another. The files of Llama 3 and Whisper bring
    their pattern, but need ``special_tokens``. Any other file needs ``pattern``, and has no
    special tokens unless they are given. A token of no bytes, as the last one of Whisper's
    file, is none: no text gives its id, which stays free.

    Args:
        path: A ``.tiktoken`` file.
        pattern: The split pattern: a name, a regular expression, or several in turn; "none" for
            no split.
        special_tokens: Reserved strings with their ids, or those that get the ids after the
            greatest rank, in order.
        encoding: A name of ``ENCODINGS``; the file must be the one it is made of.

    Raises:
        FormatError: A damaged file, with its place; a file whose pattern or special tokens are
            not known and not given, or which is not that of ``encoding``.
        ArgumentError: An unknown ``encoding``.
        SourceError: The file cannot be read.
    """
    data = read_bytes(path)
    known = _known(data, encoding, path)
    if pattern is None:
        if known is None:
            raise FormatError(
                f"{path}: a rank file does not hold its split pattern, and this one is not of a "
                "public encoding; pass pattern= (and special_tokens= if there are any)"
            )
        pattern = known.pattern
    flags: dict[str, TokenFlags] = {}
    if special_tokens is None:
        if known is not None and known.special_tokens is None:
            raise FormatError(
                f"{path}: several sets of special tokens go with this file; pass special_tokens=, "
                "with [] for none"
            )
        special_tokens = {} if known is None else (known.special_tokens or {})
        aliases = {} if known is None else known.aliases
        special_tokens = {**special_tokens, **aliases}
        flags = dict.fromkeys(aliases, TokenFlags(alias=True))
    model = _model(data, path)
    if not isinstance(special_tokens, Mapping):
        ids = {token: token_id for token_id, token in model.vocab.items()}
        first_free = max(model.vocab, default=-1) + 1
        special_tokens = assign_ids(check_special_tokens(special_tokens), ids, first_free)
    return Tokenizer(model, special_tokens, resolve_pattern(pattern), token_flags=flags)


def read_named(name: str) -> Tokenizer:
    """Read a public encoding from tiktoken's cache, or fetch it; see ``subword.hub``.

    Raises:
        ArgumentError: An unknown name, or one whose special tokens the name does not tell.
        FormatError: A file that is not the encoding's.
        SourceError: The file is not in the cache and cannot be fetched.
    """
    named = [known for known, encoding in ENCODINGS.items() if encoding.special_tokens is not None]
    if name not in named:
        raise ArgumentError(f"encoding is {name!r:.40}; expected one of {', '.join(named)}")
    sha256 = ENCODINGS[name].sha256
    file = next(known for known, encoding in ENCODINGS.items() if encoding.sha256 == sha256)
    return read(tiktoken_file(file, sha256), encoding=name)


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write the ranks. The pattern and the special tokens are not in the file: note them.

    Raises:
        FormatError: tiktoken would not make the tokenizer's merges from its tokens alone, in
            the order of their ids.
        OSError: The file cannot be written.
    """
    model = without_tokens(byte_level_bpe(tokenizer, "a rank file"), tokenizer.special_tokens)
    ranks_of(model, "a rank file")
    write_atomically(path, _lines(model.vocab))


def _lines(vocab: Mapping[TokenId, bytes]) -> Iterator[bytes]:
    for rank, token in sorted(vocab.items()):
        yield base64.b64encode(token) + f" {rank}\n".encode()


def _known(data: bytes, encoding: str | None, path: str | PathLike[str]) -> Encoding | None:
    digest = hashlib.sha256(data).hexdigest()
    if encoding is None:
        return next((known for known in ENCODINGS.values() if known.sha256 == digest), None)
    if encoding not in ENCODINGS:
        raise ArgumentError(f"encoding is {encoding!r:.40}; expected one of {', '.join(ENCODINGS)}")
    known = ENCODINGS[encoding]
    if known.sha256 != digest:
        raise FormatError(
            f"{path}: this is not the rank file of {encoding} (SHA-256 {digest}, expected "
            f"{known.sha256})"
        )
    return known


def _model(data: bytes, path: str | PathLike[str]) -> Bpe:
    compiled = _core.Bpe.from_rank_lines(data)
    return bpe_from_ranks(_checked_ranks(data, path)) if compiled is None else as_model(compiled)


def _checked_ranks(data: bytes, path: str | PathLike[str]) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    taken: set[int] = set()
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        token, rank = _entry(line, number, path)
        if token in ranks or rank in taken:
            what = f"token {token!r:.40}" if token in ranks else f"rank {rank}"
            raise FormatError(f"{path}:{number}: {what} stands twice; each token has one rank")
        taken.add(rank)
        if token:
            ranks[token] = rank
    if not ranks:
        raise FormatError(f"{path}: the file has no line; expected 'base64 rank' lines")
    return ranks


def _entry(line: bytes, number: int, path: str | PathLike[str]) -> tuple[bytes, int]:
    parts = line.split()
    try:
        token = b"" if parts[0] == _EMPTY else base64.b64decode(parts[0], validate=True)
    except binascii.Error:
        parts.clear()
    if len(parts) != 2 or not parts[1].isdigit():
        raise FormatError(f"{path}:{number}: expected 'base64 rank', got {line[:40]!r}")
    rank = int(parts[1][:11])
    if rank >= 2**32 - 1:
        raise FormatError(f"{path}:{number}: rank {rank} is not from 0 to 2^32-2")
    return token, rank
