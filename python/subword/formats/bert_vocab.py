"""BERT's ``vocab.txt``: a token a line, whose id is the number of the line.

The file holds the tokens alone. That the text is cut as BERT does, with ``##`` inside words and
``[UNK]`` for what cannot be spelled, is what makes it a ``vocab.txt``; whether it is lower-cased
differs from model to model, and has to be said.

Source: google-research/bert, tokenization.py, ``load_vocab`` and ``BasicTokenizer``; the decoder
and the special tokens are those of HF tokenizers 0.23.3, ``BertWordPieceTokenizer``.
"""

from dataclasses import replace
from os import PathLike

from subword.atomic_write import write_atomically
from subword.decoders import WordPiece as WordPieceDecoder
from subword.errors import FormatError
from subword.formats.json_file import decode_text, read_bytes
from subword.formats.reach import refuse_beside
from subword.models import WordPiece
from subword.normalizers import Bert, Normalizer
from subword.pretokens import Bert as BertCut
from subword.special_tokens import TokenFlags
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["read", "read_tokens", "write"]

_ROLES = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}
_TEMPLATE = Template.parse("[CLS] A [SEP]", "[CLS] A [SEP] B:1 [SEP]:1")


def read(
    path: str | PathLike[str],
    *,
    lowercase: bool | None = None,
    strip_accents: bool | None = None,
    handle_chinese_chars: bool = True,
    clean_text: bool = True,
    cleanup: bool = True,
) -> Tokenizer:
    """Read a tokenizer.

    Args:
        path: ``vocab.txt``.
        lowercase: Whether the model was trained on lower case: true for ``uncased``. The file
            does not say, and a guess gives wrong ids without an error, so it has to be given.
        strip_accents: Whether accents are taken off letters; None is the value of ``lowercase``,
            as in BERT.
        handle_chinese_chars: Whether every CJK ideograph is a word; true in BERT.
        clean_text: Whether control characters and NUL go and whitespace becomes spaces; true in
            BERT.
        cleanup: Whether decoding drops spaces before punctuation, as HF does.

    Returns:
        The tokenizer. ``[PAD]``, ``[UNK]``, ``[CLS]``, ``[SEP]`` and ``[MASK]`` are special
        tokens where they are in the file; with ``[CLS]`` and ``[SEP]`` it has BERT's template.

    Raises:
        FormatError: ``lowercase`` is not given, or as ``read_tokens``.
        VocabularyError: ``[UNK]`` is not in the file.
        SourceError: The file cannot be read.
    """
    if lowercase is None:
        raise FormatError(
            f"{path}: a vocab.txt does not say whether its model lower-cases text; pass "
            "lowercase=True for an uncased one, lowercase=False for a cased one"
        )
    steps: Normalizer = ()
    if lowercase or strip_accents or handle_chinese_chars or clean_text:
        steps = (Bert(clean_text, handle_chinese_chars, strip_accents, lowercase),)
    return _made(read_tokens(path), steps, cleanup)


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write the tokens; what ``read`` takes as arguments is not in the file.

    Raises:
        FormatError: A tokenizer that no arguments of ``read`` give back, with the part.
        OSError: The file cannot be written.
    """
    tokens = _tokens(tokenizer)
    steps = tuple(tokenizer.normalizer)
    if steps and (len(steps) > 1 or not isinstance(steps[0], Bert)):
        raise FormatError("vocab.txt is read with BERT's normalizer; this tokenizer has another")
    cleanup = tokenizer.decoder == (WordPieceDecoder("##", True),)
    again = _made(tokens, steps, cleanup)
    for name in ("model", "special_tokens", "pattern", "pretokenizer", "template", "decoder"):
        ours, theirs = getattr(tokenizer, name), getattr(again, name)
        if name == "model":
            ours = replace(ours, vocab=theirs.vocab, training=None)
        if name == "pretokenizer" and ours is not None:
            ours = tuple(ours)
        if ours != theirs:
            shown = "model" if name == "model" else repr(ours)
            raise FormatError(
                f"vocab.txt cannot hold this tokenizer's {name}, {shown:.80}: it is read with "
                f"{theirs!r:.80}"
            )
    if any(flags != TokenFlags() for flags in tokenizer.token_flags.values()):
        raise FormatError("vocab.txt cannot hold flags of special tokens")
    implied = tokenizer.roles.items() <= again.roles.items()
    refuse_beside(tokenizer, "vocab.txt", holds=("roles",) if implied else ())
    write_atomically(path, (f"{token}\n".encode() for token in tokens))


def _made(tokens: list[str], normalizer: Normalizer, cleanup: bool) -> Tokenizer:
    ids = {token: at for at, token in enumerate(tokens)}
    roles = {role: token for role, token in _ROLES.items() if token in ids}
    return Tokenizer(
        WordPiece({at: token.encode() for at, token in enumerate(tokens)}),
        {token: ids[token] for token in roles.values()},
        normalizer=normalizer,
        pretokenizer=(BertCut(),),
        template=_TEMPLATE if {"[CLS]", "[SEP]"} <= ids.keys() else Template(),
        decoder=(WordPieceDecoder("##", cleanup),),
        roles=roles,
    )


def _tokens(tokenizer: Tokenizer) -> list[str]:
    """Give the tokens in the order of their ids."""
    if not isinstance(tokenizer.model, WordPiece):
        raise FormatError(
            f"vocab.txt holds a WordPiece model; this is a {type(tokenizer.model).__name__} model"
        )
    vocab: dict[TokenId, bytes] = tokenizer.vocab
    if list(vocab) != list(range(len(vocab))):
        raise FormatError("vocab.txt has no gaps between ids; this tokenizer has some")
    tokens = [token.decode() for token in vocab.values()]
    for at, token in enumerate(tokens):
        if not token or "\n" in token or token.endswith("\r"):
            raise FormatError(f"vocab.txt has a token a line, which {token!r:.40} (id {at}) is not")
    return tokens


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
