"""Tokens to bytes, by the steps of a decoder.

Source: HF tokenizers 0.23.3, ``decoders/``; sentencepiece 0.2.3,
``SentencePieceProcessor::Decode``.
"""

import codecs
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, singledispatch

from subword import _core
from subword.byte_characters import BYTE_CHARACTERS, from_characters
from subword.decoders import (
    Affixes,
    BpeSuffix,
    ByteFallback,
    Ctc,
    Decoder,
    Join,
    Metaspace,
    Normalize,
    Printable,
    Replace,
    SentencePiece,
    Strip,
    WordPiece,
)
from subword.normalizers import Normalizer

__all__ = ["SentencePieceDecoding", "decode_tokens", "is_byte_token"]

_MARK = "▁".encode()
_ALPHABET = frozenset(BYTE_CHARACTERS)
_BYTE = re.compile(rb"<0x([0-9A-Fa-f]{2})>")


def decode_tokens(tokens: Sequence[bytes], decoder: Decoder) -> bytes:
    """Give the bytes that tokens stand for.

    Args:
        tokens: The tokens of a text, in order; special ones left out where they shall not show.
        decoder: The steps.

    Examples:
        >>> decode_tokens([b"play", b"##ing", b"!"], (WordPiece(),))
        b'playing!'
    """
    parts = list(tokens)
    for step in decoder:
        parts = _apply(step, parts)
    return b"".join(parts)


def is_byte_token(token: bytes) -> bool:
    """Say whether a token names a byte, as ``<0x0A>`` does."""
    return _BYTE.fullmatch(token) is not None


@singledispatch
def _apply(_step: object, tokens: list[bytes]) -> list[bytes]:
    """Give the tokens after one step; ``ByteLevel`` and ``Fuse`` only join them."""
    return [b"".join(tokens)]


@_apply.register
def _(step: Join, tokens: list[bytes]) -> list[bytes]:
    return [step.separator.encode().join(tokens)]


@_apply.register
def _(_step: Printable, tokens: list[bytes]) -> list[bytes]:
    parts = []
    for token in tokens:
        text = token.decode("utf-8", "replace")
        parts.append(from_characters(text) if _ALPHABET.issuperset(text) else token)
    return [b"".join(parts)]


@_apply.register
def _(step: WordPiece, tokens: list[bytes]) -> list[bytes]:
    prefix = step.prefix.encode()
    parts = []
    for at, token in enumerate(tokens):
        if at and token.startswith(prefix):
            token = token[len(prefix) :]
        elif at:
            token = b" " + token
        parts.append(_cleanup(token) if step.cleanup else token)
    return parts


# The order is that of tokenizers 0.23.3, decoders/wordpiece.rs, `cleanup`.
_CLEANUP = [
    (b" .", b"."),
    (b" ?", b"?"),
    (b" !", b"!"),
    (b" ,", b","),
    (b" ' ", b"'"),
    (b" n't", b"n't"),
    (b" 'm", b"'m"),
    (b" do not", b" don't"),
    (b" 's", b"'s"),
    (b" 've", b"'ve"),
    (b" 're", b"'re"),
]


def _cleanup(text: bytes) -> bytes:
    for before, after in _CLEANUP:
        text = text.replace(before, after)
    return text


@_apply.register
def _(step: Metaspace, tokens: list[bytes]) -> list[bytes]:
    mark = step.replacement.encode()
    parts = [token.replace(mark, b" ") for token in tokens]
    if parts and step.add_prefix_space:
        parts[0] = tokens[0].replace(mark, b"")
    return parts


@_apply.register
def _(_step: ByteFallback, tokens: list[bytes]) -> list[bytes]:
    return _join_bytes(tokens, lambda run: b"\xef\xbf\xbd" * len(run))


def _join_bytes(tokens: list[bytes], invalid: Callable[[bytes], bytes]) -> list[bytes]:
    """Replace runs of byte tokens by their bytes, or by what ``invalid`` gives for them."""
    parts: list[bytes] = []
    run = bytearray()

    def flush() -> None:
        if run:
            whole = bytes(run)
            try:
                whole.decode()
            except UnicodeDecodeError:
                whole = invalid(whole)
            parts.append(whole)
            run.clear()

    for token in tokens:
        match = _BYTE.fullmatch(token)
        if match:
            run.append(int(match[1], 16))
        else:
            flush()
            parts.append(token)
    flush()
    return parts


@_apply.register
def _(step: Strip, tokens: list[bytes]) -> list[bytes]:
    content = step.content.encode()
    parts = []
    for token in tokens:
        for _ in range(step.start):
            token = token.removeprefix(content)
        for _ in range(step.stop):
            token = token.removesuffix(content)
        parts.append(token)
    return parts


@_apply.register
def _(step: Replace, tokens: list[bytes]) -> list[bytes]:
    return [token.replace(step.pattern.encode(), step.content.encode()) for token in tokens]


@_apply.register
def _(step: BpeSuffix, tokens: list[bytes]) -> list[bytes]:
    suffix = step.suffix.encode()
    last = len(tokens) - 1
    return [token.replace(suffix, b"" if at == last else b" ") for at, token in enumerate(tokens)]


@_apply.register
def _(step: Affixes, tokens: list[bytes]) -> list[bytes]:
    prefix, suffix = step.prefix.encode(), step.suffix.encode()
    return [token.removeprefix(prefix).removesuffix(suffix) for token in tokens]


@_apply.register
def _(step: Ctc, tokens: list[bytes]) -> list[bytes]:
    kept = [token for at, token in enumerate(tokens) if not at or token != tokens[at - 1]]
    parts = []
    for token in kept:
        token = token.replace(step.pad_token.encode(), b"")
        if step.cleanup:
            token = _cleanup(token).replace(step.word_delimiter_token.encode(), b" ")
        parts.append(token)
    return [part for part in parts if part]


@_apply.register
def _(step: SentencePiece, tokens: list[bytes]) -> list[bytes]:
    decoding = SentencePieceDecoding(step)
    parts = [decoding.push(token) for token in tokens]
    return [*parts, decoding.finish()]


class SentencePieceDecoding:
    """Give the text of SentencePiece's tokens one by one, each as soon as it is settled.

    Of bytes that are no UTF-8, each becomes U+FFFD.
    """

    def __init__(self, step: SentencePiece) -> None:
        """Start a text."""
        self._step = step
        self._special = _special_pieces(step)
        self._run = bytearray()
        self._at_start = step.strip_prefix or step.strip_all

    def push(self, token: bytes) -> bytes:
        """Take a token; give the text that no later one can change."""
        byte = _BYTE.fullmatch(token) if self._step.byte_fallback else None
        if byte:
            self._run.append(int(byte[1], 16))
            return self._settle(final=False)
        before = self._settle(final=True) if self._run else b""
        text = self._special.get(token)
        if text is None:
            text = token.replace(_MARK, b" ")
            if self._at_start and text.startswith(b" "):
                text = text[1:]
                self._at_start = self._step.strip_all
        if text:
            self._at_start = False
        return before + text

    def finish(self) -> bytes:
        """Give what is left: U+FFFD for each byte of an unfinished character."""
        return self._settle(final=True)

    def _settle(self, *, final: bool) -> bytes:
        settled = bytearray()
        while self._run:
            try:
                _, n_bytes = codecs.utf_8_decode(self._run, "strict", final)
            except UnicodeDecodeError as error:
                settled += self._run[: error.start] + b"\xef\xbf\xbd"
                del self._run[: error.start + 1]
                continue
            settled += self._run[:n_bytes]
            del self._run[:n_bytes]
            break
        if settled:
            self._at_start = False
        return bytes(settled)


@lru_cache(maxsize=8)
def _special_pieces(step: SentencePiece) -> dict[bytes, bytes]:
    """Give what the pieces become that do not stand for themselves."""
    special = {token.encode(): b"" for token in step.control}
    return special | {step.unknown.encode(): step.unknown_surface.encode()}


@_apply.register
def _(step: Normalize, tokens: list[bytes]) -> list[bytes]:
    return [_compiled(step.steps).normalize(b"".join(tokens))[0]]


@lru_cache(maxsize=8)
def _compiled(steps: Normalizer) -> _core.Normalizer:
    return _core.Normalizer(list(steps))
