"""Reserved strings: what they may be, and which ids they get."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from subword.errors import SpecialTokenError, TextError

__all__ = ["ROLES", "TokenFlags", "assign_ids", "check_roles", "check_special_tokens"]

ROLES: Final = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
"""What special tokens are for: to begin a text, end it, stand for what is unknown, separate, fill
up, classify, be guessed."""


@dataclass(frozen=True, slots=True)
class TokenFlags:
    r"""How a string with an id of its own is told from other text.

    Attributes:
        special: Reserved: ``special="as_text"`` keeps text from spelling it, and
            ``skip_special`` leaves it out. Otherwise it is an added word, always recognized.
        normalized: Looked for in the normalized text, not in the text as given.
        lstrip: It takes the whitespace before it.
        rstrip: It takes the whitespace after it.
        single_word: Only where no word character (``\w``) touches it.
        control: Never looked for in text: only a template adds it, as SentencePiece's control
            pieces.
        alias: A second spelling: its id is that of a special token before it, which is what the
            id is decoded to. Without it two special tokens of one id are refused.
    """

    special: bool = True
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    control: bool = False
    alias: bool = False


def check_special_tokens(tokens: Iterable[str]) -> tuple[str, ...]:
    """Refuse special tokens that could not be told apart.

    Args:
        tokens: Reserved strings, in the order of their ids.

    Raises:
        SpecialTokenError: A bare string, an empty token, a repeated one, or one that is no ``str``.
        TextError: A token with a lone surrogate.

    Examples:
        >>> check_special_tokens(["<|endoftext|>"])
        ('<|endoftext|>',)
    """
    if isinstance(tokens, str):
        raise SpecialTokenError(
            f"special_tokens is the string {tokens!r:.40}; give a list: [{tokens!r:.40}]"
        )
    tokens = tuple(tokens)
    if _are_plain(tokens):
        return tokens
    checked: list[str] = []
    seen: set[str] = set()
    for token in tokens:
        if not isinstance(token, str):
            raise SpecialTokenError(f"a special token is a str, got {token!r:.40}")
        if not token:
            raise SpecialTokenError("a special token is empty; it would match everywhere")
        if token in seen:
            raise SpecialTokenError(f"special token {token!r:.40} is given twice; give each once")
        try:
            token.encode()
        except UnicodeEncodeError as error:
            raise TextError(
                f"special token {token!r:.40} has a lone surrogate at character {error.start}"
            ) from error
        seen.add(token)
        checked.append(token)
    return tuple(checked)


def _are_plain(tokens: tuple[str, ...]) -> bool:
    """Tell whether nothing is wrong, for all tokens at once: a vocabulary can reserve many."""
    if set(map(type, tokens)) - {str} or "" in tokens or len(set(tokens)) != len(tokens):
        return False
    try:
        "".join(tokens).encode()
    except UnicodeEncodeError:
        return False
    return True


def assign_ids(
    tokens: Sequence[str], known: Mapping[bytes, int], first_free: int
) -> dict[str, int]:
    """Give each special token its id: the vocabulary's, or the next free one.

    Args:
        tokens: Checked special tokens.
        known: Ids of the tokens that the vocabulary holds already.
        first_free: The id after the vocabulary's greatest.

    Examples:
        >>> assign_ids(["<a>", "<b>"], {b"<b>": 7}, 10)
        {'<a>': 10, '<b>': 7}
    """
    ids: dict[str, int] = {}
    for token in tokens:
        known_id = known.get(token.encode())
        if known_id is None:
            ids[token] = first_free
            first_free += 1
        else:
            ids[token] = known_id
    return ids


def check_roles(roles: Mapping[str, str], known: Callable[[bytes], int | None]) -> None:
    """Refuse roles that no token has.

    Args:
        roles: The token of each role.
        known: Gives the id of a token, or None.

    Raises:
        SpecialTokenError: A role that is none of ``ROLES``, or a token that is not known.
    """
    for role, token in roles.items():
        if role not in ROLES:
            raise SpecialTokenError(f"{role!r:.40} is no role; expected one of {', '.join(ROLES)}")
        if known(token.encode("utf-8", "surrogatepass")) is None:
            raise SpecialTokenError(
                f"the token {token!r:.40} of role {role!r} is not in the vocabulary; add it with "
                "with_special_tokens, or leave the role out"
            )
