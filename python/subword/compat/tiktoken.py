"""tiktoken's ``Encoding`` and the functions that find one, over a ``Tokenizer``.

Source: openai/tiktoken 0.14.0, tiktoken/core.py, tiktoken/registry.py, tiktoken/model.py (the
interface, and which models use which encoding), src/lib.rs (``encode_with_unstable``).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, cached_property, lru_cache
from typing import Final, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from subword.bpe_models import bpe_from_ranks
from subword.compat.tiktoken_models import encoding_name_for_model
from subword.compat.tiktoken_unstable import completions, n_unstable
from subword.errors import (
    SpecialTokenInTextError,
    UnknownTokenError,
    UnknownTokenIdError,
    VocabularyError,
)
from subword.formats.tiktoken import ENCODINGS, read_named
from subword.models import Bpe
from subword.patterns import Pattern, resolve_pattern
from subword.tokenizer import Special, Tokenizer

__all__ = [
    "Encoding",
    "encoding_for_model",
    "encoding_name_for_model",
    "from_tiktoken",
    "get_encoding",
    "list_encoding_names",
]

Allowed: TypeAlias = Literal["all"] | AbstractSet[str]
Disallowed: TypeAlias = Literal["all"] | Collection[str]

# How tiktoken 0.14.0 spells two patterns that have names here; the languages are the same.
_SPELLINGS: Final = {
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": "gpt2",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s": "cl100k",
}


class Encoding:
    r"""What tiktoken's class of this name is.

    Examples:
        >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256}
        >>> enc = Encoding(
        ...     "tiny", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<end>": 257}
        ... )
        >>> enc.encode("ab<end>", allowed_special={"<end>"})
        [256, 257]
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: Mapping[bytes, int],
        special_tokens: Mapping[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        """Make an encoding.

        Raises:
            VocabularyError: Ranks or ids that repeat, or fewer or more than ``explicit_n_vocab``.
            PatternError: The pattern does not compile.
        """
        self.name = name
        self._pat_str = pat_str
        self._special_tokens = dict(special_tokens)
        self._tokenizer = Tokenizer(
            bpe_from_ranks(mergeable_ranks), self._special_tokens, _pattern_of(pat_str)
        )
        n_tokens = len(mergeable_ranks) + len(self._special_tokens)
        if explicit_n_vocab is not None and (n_tokens, self.n_vocab) != (explicit_n_vocab,) * 2:
            raise VocabularyError(
                f"explicit_n_vocab is {explicit_n_vocab}, but there are {n_tokens} tokens and the "
                f"greatest id is {self.max_token_value}"
            )

    @classmethod
    def from_tokenizer(cls, name: str, tokenizer: Tokenizer) -> "Encoding":
        """Give the encoding of a tokenizer of byte-level BPE.

        Raises:
            VocabularyError: Another model, or several patterns in turn.
        """
        if not isinstance(tokenizer.model, Bpe) or len(tokenizer.pattern) > 1:
            raise VocabularyError(
                "an Encoding is byte-level BPE with one split pattern; this tokenizer has a "
                f"{type(tokenizer.model).__name__} model and {len(tokenizer.pattern)} patterns"
            )
        made = cls.__new__(cls)
        made.name = name
        made._pat_str = tokenizer.pattern[0] if tokenizer.pattern else r"(?s).+"
        made._special_tokens = dict(tokenizer.special_tokens)
        made._tokenizer = tokenizer
        return made

    def __repr__(self) -> str:
        """Give the name."""
        return f"<Encoding {self.name!r}>"

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that does the work."""
        return self._tokenizer

    @cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        return {token: token_id for token_id, token in self._tokenizer.model.vocab.items()}

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode a text in which nothing is special; lone surrogates become U+FFFD."""
        return self._tokenizer.encode(_whole(text), special="as_text")

    def encode(
        self,
        text: str,
        *,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> list[int]:
        """Encode a text.

        Args:
            text: The text; pairs of surrogates are joined, and lone ones become U+FFFD.
            allowed_special: Special tokens that become their ids; ``"all"`` for every one.
            disallowed_special: Special tokens that are refused in the text; ``"all"`` for those
                that are not allowed. The others are text.

        Raises:
            SpecialTokenInTextError: A disallowed special token; also a ``ValueError``.
        """
        special = self._special(text, allowed_special, disallowed_special)
        return self._tokenizer.encode(_whole(text), special=special)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> npt.NDArray[np.uint32]:
        """Encode a text into an array: shape (n_tokens,), uint32. Raises as ``encode``."""
        special = self._special(text, allowed_special, disallowed_special)
        return self._tokenizer.encode_array(_whole(text), special=special)

    def encode_ordinary_batch(self, text: list[str], *, num_threads: int = 8) -> list[list[int]]:
        """Encode texts in which nothing is special."""
        texts = [_whole(part) for part in text]
        batch = self._tokenizer.encode_batch(texts, n_threads=num_threads, special="as_text")
        return batch.tolist()

    def encode_batch(
        self,
        text: list[str],
        *,
        num_threads: int = 8,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Encode texts. Raises as ``encode``."""
        special: Special = "as_text"
        for part in text:
            special = self._special(part, allowed_special, disallowed_special)
        texts = [_whole(part) for part in text]
        return self._tokenizer.encode_batch(texts, n_threads=num_threads, special=special).tolist()

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Give the ids that no continuation of the text changes, and how the rest may go on.

        Returns:
            Ids, and sequences of ids, each of which spells the rest of the text, or more.
        """
        ids = self.encode(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        n_last = n_unstable(self._tokenizer, _whole(text), ids)
        stable, unstable = ids[: len(ids) - n_last], ids[len(ids) - n_last :]
        if not unstable:
            return stable, []
        found = completions(self._tokenizer, self._sorted_tokens, self.decode_bytes(unstable))
        return stable, sorted(map(list, found))

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Give the id of a token, special or not.

        Raises:
            KeyError: It is none.
        """
        try:
            return self._tokenizer.token_id(text_or_bytes)
        except UnknownTokenError as error:
            raise KeyError(text_or_bytes) from error

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Give the bytes of ids.

        Raises:
            KeyError: An id outside the vocabulary.
        """
        try:
            return self._tokenizer.decode_bytes(tokens)
        except UnknownTokenIdError as error:
            raise KeyError(str(error)) from error

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Give the text of ids. Raises as ``decode_bytes``."""
        return self.decode_bytes(tokens).decode("utf-8", errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Give the bytes of an id. Raises as ``decode_bytes``."""
        try:
            return self._tokenizer.token_bytes(token)
        except UnknownTokenIdError as error:
            raise KeyError(token) from error

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Give the bytes of each id. Raises as ``decode_bytes``."""
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Give the text of ids, and the character in which each begins.

        Raises:
            UnicodeDecodeError: Bytes that are no UTF-8.
        """
        parts = self.decode_tokens_bytes(tokens)
        offsets: list[int] = []
        n_characters = 0
        for part in parts:
            begins_inside = 0x80 <= part[0] < 0xC0
            offsets.append(max(0, n_characters - begins_inside))
            n_characters += sum(not 0x80 <= byte < 0xC0 for byte in part)
        return b"".join(parts).decode(), offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Give the text of each list of ids; ``num_threads`` is taken and not needed."""
        del num_threads
        return [self.decode(ids, errors) for ids in batch]

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """Give the bytes of each list of ids; ``num_threads`` is taken and not needed."""
        del num_threads
        return [self.decode_bytes(ids) for ids in batch]

    def token_byte_values(self) -> list[bytes]:
        """Give the tokens that are not special, in the order of their bytes."""
        return list(self._sorted_tokens)

    @property
    def eot_token(self) -> int:
        """The id of ``<|endoftext|>``."""
        return self._special_tokens["<|endoftext|>"]

    @cached_property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Tell whether an id is that of a special token."""
        return token in self._special_tokens.values()

    @property
    def max_token_value(self) -> int:
        """The greatest id."""
        return self._tokenizer.vocab_size - 1

    @property
    def n_vocab(self) -> int:
        """One more than the greatest id."""
        return self._tokenizer.vocab_size

    @cached_property
    def _sorted_tokens(self) -> list[bytes]:
        return sorted(self._mergeable_ranks)

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        return Tokenizer(self._tokenizer.model).encode(text_or_bytes)

    def _encode_bytes(self, text: bytes) -> list[int]:
        return self._tokenizer.encode(text, special="as_text")

    def _special(self, text: str, allowed: Allowed, disallowed: Disallowed) -> Special:
        """Check a text, and give the special tokens that are recognized in it."""
        if allowed == "all":
            allowed = self.special_tokens_set
        refused = self.special_tokens_set - allowed if disallowed == "all" else disallowed
        if refused:
            found = _expression(frozenset(refused)).search(text)
            if found is not None:
                raise SpecialTokenInTextError(
                    f"the text has the special token {found.group()!r:.60} at character "
                    f"{found.start()}; pass it in allowed_special to get its id, or "
                    "disallowed_special=() to encode it as text"
                )
        return frozenset(allowed) if allowed else "as_text"


class _IsEncoding(Protocol):
    """What ``from_tiktoken`` needs of an encoding."""

    _mergeable_ranks: Mapping[bytes, int]
    _special_tokens: Mapping[str, int]
    _pat_str: str


def from_tiktoken(encoding: _IsEncoding) -> Tokenizer:
    """Give the tokenizer of a live tiktoken encoding, with its ids.

    Raises:
        PatternError: Its pattern does not compile here.
    """
    return Tokenizer(
        bpe_from_ranks(encoding._mergeable_ranks),
        dict(encoding._special_tokens),
        _pattern_of(encoding._pat_str),
    )


@cache
def get_encoding(encoding_name: str) -> Encoding:
    """Give a public encoding, from tiktoken's own cache or, where it is not there, its server.

    Raises:
        ValueError: An unknown name.
        FormatError: A file that is not the encoding's.
        SourceError: The file is not in the cache and cannot be fetched.
    """
    return Encoding.from_tokenizer(encoding_name, read_named(encoding_name))


def list_encoding_names() -> list[str]:
    """Give the names that ``get_encoding`` knows."""
    return [name for name, known in ENCODINGS.items() if known.special_tokens is not None]


def encoding_for_model(model_name: str) -> Encoding:
    """Give a model's encoding. Raises as ``encoding_name_for_model`` and ``get_encoding``."""
    return get_encoding(encoding_name_for_model(model_name))


def _pattern_of(pat_str: str) -> Pattern:
    return resolve_pattern(_SPELLINGS.get(pat_str, pat_str))


def _whole(text: str) -> str:
    """Join pairs of surrogates, and replace lone ones, as tiktoken does."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@lru_cache(maxsize=128)
def _expression(tokens: frozenset[str]) -> "re.Pattern[str]":
    return re.compile("|".join(map(re.escape, sorted(tokens, key=len, reverse=True))))
