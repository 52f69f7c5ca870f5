"""Which ids a longer text could change, and how the text under them may go on.

Source: openai/tiktoken 0.14.0, src/lib.rs, ``_encode_unstable_native``.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from subword import _core
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["completions", "n_unstable"]


def n_unstable(tokenizer: Tokenizer, text: str, ids: Sequence[TokenId]) -> int:
    """Give how many of the last ids of a text a continuation of it could change.

    They are those of the last pre-token, and of the whitespace before it if it is whitespace.
    """
    if not ids or ids[-1] in tokenizer.special_tokens.values():
        return 0
    last = _core.split(text.encode(), list(tokenizer.pattern))[-1]
    n_last, n_bytes = 0, 0
    while n_last < len(ids) and n_bytes < len(last):
        n_last += 1
        n_bytes += len(tokenizer.token_bytes(ids[-n_last]))

    def is_space(token_id: TokenId) -> bool:
        return not tokenizer.token_bytes(token_id).strip(b" \n\t")

    if n_last and is_space(ids[-n_last]):
        while n_last < len(ids) and is_space(ids[-n_last - 1]):
            n_last += 1
    return n_last


def completions(
    tokenizer: Tokenizer, tokens: Sequence[bytes], unstable: bytes
) -> set[tuple[TokenId, ...]]:
    """Give sequences of ids that spell some bytes, or start with them.

    Args:
        tokenizer: Byte-level BPE.
        tokens: Its tokens that are not special, sorted.
        unstable: The bytes; not empty.
    """
    unsplit = Tokenizer(tokenizer.model)

    def starting_with(prefix: bytes) -> Iterator[bytes]:
        for token in tokens[bisect_left(tokens, prefix) :]:
            if not token.startswith(prefix):
                return
            yield token

    def cut(text: bytes) -> tuple[TokenId, ...]:
        """Encode a text, and give the first ids that cover the bytes."""
        try:
            ids = tokenizer.encode(text.decode(), special="as_text")
        except UnicodeDecodeError:
            ids = unsplit.encode(text)
        n_bytes = 0
        for n_ids, token_id in enumerate(ids, start=1):
            n_bytes += len(tokenizer.token_bytes(token_id))
            if n_bytes >= len(unstable):
                return tuple(ids[:n_ids])
        return tuple(ids)

    found: set[tuple[TokenId, ...]] = set()
    found.update((tokenizer.token_id(token),) for token in starting_with(unstable))
    for at in range(1, len(unstable)):
        found.update(cut(unstable[:at] + token) for token in starting_with(unstable[at:]))
    last = _last_character(unstable)
    if last is not None and len(last) < len(unstable) and last.decode().isspace():
        parts = unstable[: -len(last)], last
        found.add(tuple(token_id for part in parts for token_id in unsplit.encode(part)))
    return found


def _last_character(text: bytes) -> bytes | None:
    for n_bytes in range(1, 5):
        try:
            if len(text[-n_bytes:].decode()) == 1:
                return text[-n_bytes:]
        except UnicodeDecodeError:
            pass
    return None
