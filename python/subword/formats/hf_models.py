"""Models of a ``tokenizer.json`` that are not byte-level BPE.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/models.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

from subword import _core
from subword.errors import FormatError
from subword.formats.hf_tables import TabledVocab
from subword.formats.json_file import checked, flag, refuse_others
from subword.models import CharacterBpe, Model, Piece, Pieces, Unigram, WordPiece, Words
from subword.types import TokenId

__all__ = [
    "BPE_FIELDS",
    "character_bpe",
    "check_dropout",
    "model_kind",
    "read_merges",
    "read_other",
    "read_vocab",
    "write_other",
]

BPE_FIELDS: Final = {
    "type",
    "dropout",
    "unk_token",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "fuse_unk",
    "byte_fallback",
    "ignore_merges",
    "vocab",
    "merges",
    "subword",
}
_OTHER_FIELDS: Final = {
    "WordPiece": {
        "type",
        "unk_token",
        "continuing_subword_prefix",
        "max_input_chars_per_word",
        "vocab",
        "subword",
    },
    "WordLevel": {"type", "unk_token", "vocab", "subword"},
    "Unigram": {"type", "unk_id", "byte_fallback", "vocab", "subword"},
}


def model_kind(fields: Mapping[str, Any], place: str) -> str:
    """Give the kind of a model; old files do not name it, but have its fields.

    Raises:
        FormatError: A kind that HF does not have, or none to be told.
    """
    kind = fields.get("type")
    if "type" not in fields:
        if "merges" in fields:
            kind = "BPE"
        elif type(fields.get("vocab")) is list:
            kind = "Unigram"
        elif "max_input_chars_per_word" in fields:
            kind = "WordPiece"
        elif set(fields) == {"vocab", "unk_token"}:
            kind = "WordLevel"
    if kind not in ("BPE", *_OTHER_FIELDS):
        raise FormatError(f"{place}.type is {kind!r:.40}; expected BPE, {', '.join(_OTHER_FIELDS)}")
    return str(kind)


def read_vocab(fields: Mapping[str, Any], place: str) -> Mapping[str, TokenId]:
    """Read the id of each token.

    Raises:
        FormatError: An id that is none, or that two tokens have.
    """
    found = fields.get("vocab")
    if type(found) is list:
        return {text: at for at, (text, _) in enumerate(_read_pieces(found, place))}
    if isinstance(found, TabledVocab):  # read already
        return found
    vocab = checked(found, dict, place)
    ids = set(vocab.values()) if set(map(type, vocab.values())) <= {int} else set()
    if len(ids) == len(vocab) and (not ids or (min(ids) >= 0 and max(ids) < 2**32 - 1)):
        return vocab
    seen: dict[int, str] = {}
    for text, token_id in vocab.items():
        if not 0 <= checked(token_id, int, f"{place}[{text!r:.40}]") < 2**32 - 1:
            raise FormatError(f"{place}[{text!r:.40}]: id {token_id} is not from 0 to 2^32-2")
        if token_id in seen:
            raise FormatError(
                f"{place}: {seen[token_id]!r:.40} and {text!r:.40} have one id, {token_id}"
            )
        seen[token_id] = text
    return vocab


def read_other(kind: str, fields: Mapping[str, Any], place: str) -> Model:
    """Read a WordPiece, WordLevel or Unigram model.

    Raises:
        FormatError: A field that is damaged or unknown.
    """
    refuse_others(fields, _OTHER_FIELDS[kind], place)
    vocab_place = f"{place}.vocab"
    if kind == "Unigram":
        return _read_unigram(fields, place)
    tokens = _utf8(read_vocab(fields, vocab_place), vocab_place)
    unk_token = checked(fields.get("unk_token"), str, f"{place}.unk_token")
    if kind == "WordLevel":
        return Words(tokens, unk_token)
    longest_place = f"{place}.max_input_chars_per_word"
    longest = checked(fields.get("max_input_chars_per_word", 100), int, longest_place)
    if longest < 0:
        raise FormatError(f"{longest_place} is {longest}; it cannot be negative")
    prefix = fields.get("continuing_subword_prefix", "##")
    prefix = checked(prefix, str, f"{place}.continuing_subword_prefix")
    return WordPiece(tokens, unk_token, prefix, min(longest, 1 << 32))


def character_bpe(fields: Mapping[str, Any], vocab: Mapping[str, TokenId], place: str) -> Model:
    """Read a BPE model whose symbols are characters.

    Raises:
        FormatError: A field that is damaged or unknown.
    """
    refuse_others(fields, BPE_FIELDS, place)

    def optional(name: str) -> str | None:
        value = fields.get(name)
        return None if value is None else checked(value, str, f"{place}.{name}")

    return CharacterBpe(
        _utf8(vocab, f"{place}.vocab"),
        read_merges(fields.get("merges"), vocab, f"{place}.merges"),
        optional("unk_token"),
        fuse_unk=flag(fields, "fuse_unk", place, default=False),
        byte_fallback=flag(fields, "byte_fallback", place, default=False),
        continuing_subword_prefix=optional("continuing_subword_prefix") or "",
        end_of_word_suffix=optional("end_of_word_suffix") or "",
        whole_first=flag(fields, "ignore_merges", place, default=False),
    )


def check_dropout(fields: Mapping[str, Any], place: str) -> None:
    """Refuse dropout: HF would give other ids each time.

    Raises:
        FormatError: It is more than zero.
    """
    if fields.get("dropout"):
        raise FormatError(
            f"{place}.dropout is {fields['dropout']!r:.40}, which makes the ids of a text differ "
            "from call to call; set it to null for the ids that have none"
        )


def read_merges(
    found: Any, vocab: Mapping[str, TokenId], place: str
) -> tuple[tuple[TokenId, TokenId], ...]:
    """Read merges as pairs of ids: lists of two tokens, or strings with a space between.

    Raises:
        FormatError: A merge that is neither, or that names a token the vocabulary lacks.
    """
    if isinstance(found, _core.JsonTables):  # read already
        return tuple(found.merges())
    merges = checked(found, list, place)
    pairs = []
    try:
        for merge in merges:
            left, right = merge.split(" ") if type(merge) is str else merge
            pairs.append((vocab[left], vocab[right]))
    except (ValueError, TypeError, KeyError, AttributeError):
        at = len(pairs)
        _refuse_merge(merges[at], vocab, f"{place}[{at}]")
    return tuple(pairs)


def _refuse_merge(merge: Any, vocab: Mapping[str, TokenId], place: str) -> None:
    parts = merge.split(" ") if type(merge) is str else merge
    if type(parts) is not list or len(parts) != 2 or not all(type(part) is str for part in parts):
        raise FormatError(f"{place}: expected two tokens, got {merge!r:.60}") from None
    part = next(part for part in parts if part not in vocab)
    raise FormatError(f"{place} names {part!r:.40}, which is no token of the vocabulary") from None


def write_other(
    model: Model, vocab: Mapping[str, TokenId]
) -> tuple[dict[str, object], list[object] | None]:
    """Give the fields of a model without its vocabulary and merges, and a list for a vocabulary.

    Args:
        model: Any but ``Bpe``.
        vocab: What the file's vocabulary will be.

    Raises:
        FormatError: A model that HF does not have.
    """
    match model:
        case WordPiece():
            return {
                "type": "WordPiece",
                "unk_token": _needed(model.unk_token, "WordPiece", vocab),
                "continuing_subword_prefix": model.prefix,
                "max_input_chars_per_word": model.max_input_chars_per_word,
            }, None
        case Words():
            unk_token = _needed(model.unk_token, "WordLevel", vocab)
            return {"type": "WordLevel", "unk_token": unk_token}, None
        case CharacterBpe():
            return {
                "type": "BPE",
                "dropout": None,
                "unk_token": model.unk_token,
                "continuing_subword_prefix": model.continuing_subword_prefix or None,
                "end_of_word_suffix": model.end_of_word_suffix or None,
                "fuse_unk": model.fuse_unk,
                "byte_fallback": model.byte_fallback,
                "ignore_merges": model.whole_first,
            }, None
        case Unigram():
            if not model.fuse_unknown:
                raise FormatError(
                    "tokenizer.json cannot hold a Unigram model with fuse_unknown=False; HF "
                    "tokenizers makes unknown characters in a row one id"
                )
            pieces: list[object] = [[piece.text.decode(), piece.score] for piece in model.pieces]
            return {
                "type": "Unigram",
                "unk_id": model.unk_id,
                "byte_fallback": model.byte_fallback,
            }, pieces
        case _:
            raise FormatError(
                f"tokenizer.json cannot hold {_name(model)} model; HF tokenizers has byte-level "
                "and character BPE, WordPiece, words and Unigram"
            )


def _name(model: Model) -> str:
    if isinstance(model, Pieces):
        return f"SentencePiece's {model.kind}"
    return f"a {type(model).__name__}"


def _needed(unk_token: str | None, kind: str, vocab: Mapping[str, TokenId]) -> str:
    """Give the unknown token, which HF's model has to have: one that is no token refuses too."""
    if unk_token is not None:
        return unk_token
    if "[UNK]" in vocab:
        raise FormatError(
            f"tokenizer.json cannot hold a {kind} model with the token '[UNK]' that refuses "
            "unknown words: HF tokenizers would give them '[UNK]'"
        )
    return "[UNK]"


def _utf8(vocab: Mapping[str, TokenId], place: str) -> dict[TokenId, bytes]:
    try:
        return {token_id: text.encode() for text, token_id in vocab.items()}
    except UnicodeEncodeError as error:
        raise FormatError(f"{place}: token {error.object!r:.40} has a lone surrogate") from error


def _read_pieces(found: Any, place: str) -> Iterator[tuple[str, float]]:
    for at, item in enumerate(checked(found, list, place)):
        entry = checked(item, list, f"{place}[{at}]")
        if len(entry) != 2:
            raise FormatError(f"{place}[{at}]: expected a piece and a score, got {entry!r:.60}")
        score = entry[1] if type(entry[1]) in (int, float) else math.nan
        if not abs(score) < 1e300:
            raise FormatError(f"{place}[{at}]: score {entry[1]!r:.40} is no finite number")
        yield checked(entry[0], str, f"{place}[{at}][0]"), float(score)


def _read_unigram(fields: Mapping[str, Any], place: str) -> Unigram:
    pieces = list(_read_pieces(fields.get("vocab"), f"{place}.vocab"))
    unk_id = fields.get("unk_id")
    if unk_id is None:
        raise FormatError(
            f"{place}.unk_id is null, so that HF tokenizers fails at a text which needs it; give "
            "the id of the unknown piece"
        )
    if not 0 <= checked(unk_id, int, f"{place}.unk_id") < len(pieces):
        raise FormatError(f"{place}.unk_id is {unk_id}, but there are {len(pieces)} pieces")
    has_bytes = flag(fields, "byte_fallback", place, default=False)
    try:
        # HF matches every piece in text: the unknown one, and those that name bytes.
        made = tuple(Piece(text.encode(), score) for text, score in pieces)
    except UnicodeEncodeError as error:
        raise FormatError(
            f"{place}.vocab: piece {error.object!r:.40} has a lone surrogate"
        ) from error
    return Unigram(
        made,
        unk_id,
        byte_fallback=has_bytes,
        single_precision=False,
    )
