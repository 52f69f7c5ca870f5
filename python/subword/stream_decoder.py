"""Decode ids as they arrive, one at a time, into text that is never taken back."""

import codecs
from collections.abc import Callable

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

    def __init__(self, token_bytes: Callable[[TokenId], bytes]) -> None:
        """Decode with the bytes that ``token_bytes`` gives for an id."""
        self._token_bytes = token_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token_id: TokenId) -> str:
        """Take an id; give the text that is complete with it.

        Raises:
            UnknownTokenIdError: The id is not in the vocabulary; the decoder stays as it was.
        """
        return self._decoder.decode(self._token_bytes(token_id))

    def finish(self) -> str:
        """Give what is left: U+FFFD for the bytes of an unfinished character, else nothing."""
        rest = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        return rest
