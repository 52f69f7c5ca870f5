"""Decode ids as they arrive, one at a time, into text that is never taken back."""

import codecs
from collections.abc import Callable

from subword.decoders import (
    Decoder,
    Normalize,
    SentencePiece,
)
from subword.decoding import SentencePieceDecoding, decode_tokens, is_byte_token
from subword.types import TokenId

__all__ = ["StreamDecoder"]


class StreamDecoder:
    """Text of ids that arrive one by one.

    The joined parts equal the decoded whole. Bytes that may yet become a character wait; bytes
    that cannot become U+FFFD, so nothing raises and nothing is repeated.

    Examples:
        >>> decoder = StreamDecoder(lambda token_id: bytes([token_id]))
        >>> [decoder.push(byte) for byte in "é!".encode()], decoder.finish()
        (['', 'é', '!'], '')
    """

    def __init__(self, token_bytes: Callable[[TokenId], bytes], decoder: Decoder = ()) -> None:
        """Decode with the bytes that ``token_bytes`` gives for an id, through ``decoder``."""
        self._token_bytes = token_bytes
        self._steps = decoder
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        # The last token that was given, and those behind it that wait: what a token becomes
        # depends on the one before it, and a run of byte tokens on all of the run.
        self._given: list[bytes] = []
        self._waiting: list[bytes] = []
        self._pieces = self._start()
        # What normalizes a text may look at all of it.
        self._is_held = any(isinstance(step, Normalize) for step in decoder)

    def push(self, token_id: TokenId) -> str:
        """Take an id; give the text that is complete with it.

        Raises:
            UnknownTokenIdError: The id is not in the vocabulary; the decoder stays as it was.
        """
        token = self._token_bytes(token_id)
        if not self._steps:
            return self._utf8.decode(token)
        if self._pieces:
            return self._utf8.decode(self._pieces.push(token))
        self._waiting.append(token)
        return "" if self._is_held or is_byte_token(token) else self._give()

    def finish(self) -> str:
        """Give what is left: U+FFFD for the bytes of an unfinished character, else nothing."""
        rest = self._give() if self._waiting else ""
        rest += self._utf8.decode(self._pieces.finish() if self._pieces else b"", final=True)
        self._utf8.reset()
        self._given = []
        self._pieces = self._start()
        return rest

    def _start(self) -> SentencePieceDecoding | None:
        step = self._steps[0] if len(self._steps) == 1 else None
        return SentencePieceDecoding(step) if isinstance(step, SentencePiece) else None

    def _give(self) -> str:
        before = decode_tokens(self._given, self._steps)
        after = decode_tokens(self._given + self._waiting, self._steps)
        self._given = self._waiting[-1:] if not is_byte_token(self._waiting[-1]) else [b"\x00"]
        self._waiting = []
        return self._utf8.decode(after[len(before) :])
