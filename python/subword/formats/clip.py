"""CLIP's ``bpe_simple_vocab_16e6.txt.gz``: merges in order, from which the vocabulary follows.

Ids 0 to 255 are the bytes in the order of GPT-2's printable characters, 256 to 511 the same at
the end of a word (``</w>``), then come the merges, and the tokens that start and end a text.

Source: openai/CLIP, clip/simple_tokenizer.py; open_clip 3.3.0, open_clip/tokenizer.py (the
vocabulary, the pattern, the cleaning of texts).
"""

import gzip
import html
import zlib
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Final

from subword.atomic_write import write_atomically
from subword.byte_characters import BYTE_CHARACTERS, from_characters, to_characters
from subword.decoders import Replace
from subword.errors import FormatError, MissingExtraError, SpecialTokenError
from subword.formats.json_file import decode_text, read_bytes
from subword.formats.reach import refuse_beside
from subword.models import CharacterBpe
from subword.normalizers import Lowercase
from subword.pretokens import Split
from subword.special_tokens import check_special_tokens
from subword.templates import Template, TemplatePart
from subword.tokenizer import Tokenizer
from subword.types import Pair

__all__ = ["clean", "read", "write"]

SUFFIX: Final = "</w>"
SPECIAL_TOKENS: Final = ("<start_of_text>", "<end_of_text>")
"""As open_clip spells them. OpenAI's CLIP has ``<|startoftext|>`` and ``<|endoftext|>``."""
# The special tokens come first in it; they are cut out of the text before.
PATTERN: Final = r"(?i)'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^\s\p{L}\p{N}]+"
# Lines of the published file that are used: what CLIP's own reader takes.
_N_MERGES: Final = 49152 - 256 - 2
# No vocabulary is larger; a gzip bomb ends here.
_MAX_BYTES: Final = 1 << 26


def read(path: str | PathLike[str], *, special_tokens: Sequence[str] = SPECIAL_TOKENS) -> Tokenizer:
    """Read a tokenizer.

    The first line is a heading, and of the lines after it the first 48,894 are merges, as in
    CLIP's own reader. CLIP cleans a text before it encodes it; ``clean`` does that.

    Args:
        path: The file, compressed by gzip or not.
        special_tokens: The tokens that start and end a text; the file does not hold them.

    Raises:
        FormatError: A damaged file; a line that is no pair of tokens known by then; a pair or
            a token that stands twice; a file of more than 64 MiB.
        SpecialTokenError: Other than two different special tokens.
        SourceError: The file cannot be read.
    """
    return _made_of(read_bytes(path), path, special_tokens)


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write the merges of a tokenizer that is CLIP's in everything else, compressed by gzip.

    Raises:
        FormatError: A tokenizer that ``read`` would not make of any file.
        OSError: The file cannot be written.
    """
    model = tokenizer.model
    if not isinstance(model, CharacterBpe) or len(model.merges) > _N_MERGES:
        raise FormatError(
            f"CLIP's file holds at most {_N_MERGES} merges of bytes and their words' ends; this is "
            f"a {type(model).__name__} model"
        )
    lines = ['"bpe_simple_vocab: merges of subword"']
    for left, right in model.merges:
        lines.append(f"{to_characters(model.vocab[left])} {to_characters(model.vocab[right])}")
    data = gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)
    if _made_of(data, path, tuple(tokenizer.special_tokens)) != tokenizer:
        raise FormatError(
            f"{path}: CLIP's file holds merges alone, and this tokenizer differs from CLIP's in "
            "its ids, pre-tokenizer, normalizer, template, decoder or flags of special tokens; "
            "write YAML instead"
        )
    refuse_beside(tokenizer, "CLIP's file")
    write_atomically(path, [data])


def clean(text: str) -> str:
    """Clean a text as CLIP does before it encodes it.

    Mends mojibake with ftfy, replaces HTML entities, twice, and strips the ends. (That runs of
    whitespace become one space changes no id.)

    Raises:
        MissingExtraError: ftfy is not installed.
    """
    try:
        import ftfy
    except ImportError as error:
        raise MissingExtraError(
            "cleaning a text for CLIP needs ftfy: pip install 'subword[clip]'"
        ) from error
    return html.unescape(html.unescape(ftfy.fix_text(text))).strip()


def _made_of(data: bytes, path: str | PathLike[str], special_tokens: Sequence[str]) -> Tokenizer:
    reserved = check_special_tokens(special_tokens)
    if len(reserved) != 2:
        raise SpecialTokenError(
            f"CLIP has two special tokens, which start and end a text; got {len(reserved)}"
        )
    lines = decode_text(_unpacked(data, path), path).split("\n")
    ids = {token: at for at, token in enumerate(_alphabet())}
    merges: list[Pair] = []
    for number, line in enumerate(lines[1 : 1 + _N_MERGES], start=2):
        if not line and number == len(lines):
            break
        left, right = _pair(line, ids, f"{path}:{number}")
        merges.append((ids[left], ids[right]))
        ids[left + right] = len(ids)
    if not merges:
        raise FormatError(f"{path}: expected a heading and lines of two tokens; got no pair")
    vocab = {token_id: token for token, token_id in ids.items()}
    special = {token: len(ids) + at for at, token in enumerate(reserved)}
    return Tokenizer(
        CharacterBpe(vocab, tuple(merges), end_of_word_suffix=SUFFIX, byte_level=True),
        special,
        normalizer=(Lowercase(),),
        pretokenizer=(Split(r"\s+", behavior="removed"), Split(PATTERN)),
        template=Template((TemplatePart(reserved[0]), TemplatePart(), TemplatePart(reserved[1]))),
        decoder=(Replace(SUFFIX, " "),),
    )


def _alphabet() -> list[bytes]:
    """Give the tokens that no merge makes, in the order of their ids."""
    first = [byte for byte, character in enumerate(BYTE_CHARACTERS) if ord(character) == byte]
    order = first + [byte for byte, character in enumerate(BYTE_CHARACTERS) if ord(character) > 255]
    return [bytes([byte]) + end for end in (b"", SUFFIX.encode()) for byte in order]


def _pair(line: str, ids: Mapping[bytes, int], place: str) -> tuple[bytes, bytes]:
    parts = line.split()
    if len(parts) != 2:
        raise FormatError(f"{place}: expected two tokens, got {line!r:.60}")
    left, right = map(from_characters, parts)
    for part in (left, right):
        if part not in ids:
            raise FormatError(f"{place}: {part!r:.60} is no byte and no earlier line makes it")
    if left + right in ids:
        raise FormatError(f"{place}: {left + right!r:.60} is a token already")
    return left, right


def _unpacked(data: bytes, path: str | PathLike[str]) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    unpacker = zlib.decompressobj(wbits=31)
    try:
        text = unpacker.decompress(data, _MAX_BYTES)
    except zlib.error as error:
        raise FormatError(f"{path}: damaged gzip: {error}") from error
    if unpacker.unconsumed_tail:
        raise FormatError(f"{path}: more than {_MAX_BYTES} bytes of text; not a CLIP vocabulary")
    if not unpacker.eof:
        raise FormatError(f"{path}: the gzip stream ends early; the file is cut short")
    return text
