"""Byte-level BPE of a ``tokenizer.json``: its tokens are bytes, written as printable characters.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/models/bpe.
"""

from collections.abc import Mapping
from typing import Any

from subword.bpe_models import without_tokens
from subword.byte_characters import BYTE_CHARACTERS, from_characters, to_characters
from subword.errors import FormatError
from subword.formats.hf_models import BPE_FIELDS, read_merges
from subword.formats.hf_tables import TabledVocab
from subword.formats.json_file import flag, refuse_others
from subword.models import Bpe, as_model
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["fits", "read_byte_level", "spellings"]

_ALPHABET = frozenset(BYTE_CHARACTERS)
_BYTE_OF = {ord(character): byte for byte, character in enumerate(BYTE_CHARACTERS)}
_SPECIALS = ("continuing_subword_prefix", "end_of_word_suffix")


def fits(fields: Mapping[str, Any], vocab: Mapping[str, TokenId]) -> bool:
    """Tell whether a BPE model behind ``ByteLevel`` needs no more than bytes.

    With a prefix, a suffix or an unknown token that text can need, its symbols are more than
    bytes: such a model runs over the printable characters.
    """
    if any(fields.get(name) for name in _SPECIALS):
        return False
    return vocab.keys() >= _ALPHABET or not (fields.get("unk_token") or fields.get("byte_fallback"))


def read_byte_level(
    fields: Mapping[str, Any],
    vocab: Mapping[str, TokenId],
    special: Mapping[str, TokenId],
    place: str,
) -> Bpe:
    """Read the model.

    Args:
        fields: Those of the model.
        vocab: Id of each token, as written.
        special: Added tokens: those that are not written in printable characters are no tokens.
        place: Where the fields stand.

    Raises:
        FormatError: A field that is damaged or unknown, or a token that is not byte-level.
        VocabularyError: Merges that the vocabulary does not bear.
    """
    refuse_others(fields, BPE_FIELDS, place)
    whole_first = flag(fields, "ignore_merges", place, default=False)

    def as_text(others: Mapping[str, TokenId]) -> list[tuple[TokenId, bytes]]:
        return [
            (token_id, _as_text(text, whole_first, f"{place}.vocab"))
            for text, token_id in others.items()
            if text not in special
        ]

    if isinstance(vocab, TabledVocab):
        tables = vocab.tables
        return as_model(tables.bpe(as_text(tables.others()), whole_first))
    known = {text: _spelt(text) for text in vocab}
    tokens = {vocab[text]: token for text, token in known.items() if token is not None}
    tokens.update(as_text({text: vocab[text] for text in vocab if known[text] is None}))
    spelt = {text: at for text, at in vocab.items() if known[text] is not None}
    return Bpe(tokens, read_merges(fields.get("merges"), spelt, f"{place}.merges"), whole_first)


def _spelt(text: str) -> bytes | None:
    # The alphabet's characters become those below U+0100, which Latin-1 writes as bytes.
    return text.translate(_BYTE_OF).encode("latin-1") if _ALPHABET.issuperset(text) else None


def _as_text(text: str, whole_first: bool, place: str) -> bytes:
    """Take a token that no text reaches in HF, but that decodes to itself."""
    if whole_first:
        from_characters(text)  # names the character
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"{place}: token {text!r:.40} has a lone surrogate") from error


def spellings(tokenizer: Tokenizer, model: Bpe) -> dict[str, TokenId]:
    """Give the entries of the vocabulary, special tokens among them where HF needs them there.

    HF looks an added token up in the vocabulary by its content, and numbers those it does not
    find itself, from the vocabulary's size on: the file's ``id`` does not count.

    Raises:
        FormatError: A special token that is spelt like another token.
    """
    special = tokenizer.special_tokens
    bare = without_tokens(model, special)
    vocab = {to_characters(token): token_id for token_id, token in bare.vocab.items()}
    absent = {text: token_id for text, token_id in special.items() if vocab.get(text) != token_id}
    for text, token_id in absent.items():
        if text in vocab or token_id in bare.vocab:
            raise FormatError(
                f"tokenizer.json cannot hold the special token {text!r:.40} with id {token_id}: "
                f"an ordinary token has its spelling or its id"
            )
    n_tokens = len(model.vocab)
    appended = list(absent.values()) == list(range(n_tokens, n_tokens + len(absent)))
    # Control tokens are no added tokens, so that the vocabulary alone can give them their ids.
    control = any(own.control for own in tokenizer.token_flags.values())
    if control or not appended or len(bare.vocab) != n_tokens:
        vocab.update(absent)
    return dict(sorted(vocab.items(), key=lambda item: item[1]))
