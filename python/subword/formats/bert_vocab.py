"""BERT's ``vocab.txt``: a token a line, whose id is the number of the line.

Source: google-research/bert, tokenization.py, ``load_vocab``.
"""

from os import PathLike

from subword.errors import FormatError
from subword.formats.json_file import decode_text, read_bytes

__all__ = ["read_tokens"]


def read_tokens(path: str | PathLike[str]) -> list[str]:
    """Read the tokens.

    Only U+000A, and U+000D before it, end a line: tokens may be other line separators of
    Unicode, which multilingual vocabularies have. The last line's end is optional.

    Args:
        path: ``vocab.txt``.

    Returns:
        Tokens in the order of their ids, from 0.

    Raises:
        FormatError: Not UTF-8, no token at all, an empty line, or a token that stands twice; with
            the line.
        SourceError: The file cannot be read.
    """
    tokens = [line.removesuffix("\r") for line in decode_text(read_bytes(path), path).split("\n")]
    if tokens[-1] == "":
        tokens.pop()
    if not tokens:
        raise FormatError(f"{path}: the file is empty; expected a token a line")
    first: dict[str, int] = {}
    for number, token in enumerate(tokens, start=1):
        if not token:
            raise FormatError(f"{path}:{number}: the line is empty; expected a token")
        if first.setdefault(token, number) != number:
            raise FormatError(
                f"{path}:{number}: {token!r:.40} stands on line {first[token]} too; each "
                "token has one id"
            )
    return tokens
