"""What a tokenizer is, and what is odd about it."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from subword.errors import SubwordError
from subword.models import AllCharacters, Bpe, CharacterBpe, Pieces, Unigram, WordPiece
from subword.patterns import pattern_name
from subword.special_tokens import TokenFlags
from subword.templates import TemplatePart
from subword.tokenizer import Tokenizer
from subword.types import TokenId, is_utf8

__all__ = ["facts", "oddities"]

_FLAGS: Final = ("special", "normalized", "lstrip", "rstrip", "single_word", "control")
_SHOWN: Final = 20


def facts(tokenizer: Tokenizer) -> dict[str, Any]:
    """Give what a tokenizer is, as plain data.

    Returns:
        The model and its settings, the sizes, the pattern by its name where it has one, each
        step of the normalizer, pre-tokenizer and decoder, the templates, the special tokens with
        their flags, the roles, and how the model was learnt where that is recorded.
    """
    model = tokenizer.model
    training = getattr(model, "training", None)
    flags = tokenizer.token_flags
    return {
        "model": type(model).__name__,
        "model_settings": _settings(model),
        "vocab_size": tokenizer.vocab_size,
        "n_tokens": len(tokenizer.vocab),
        "n_merges": len(getattr(model, "merges", ())),
        "n_special_tokens": len(tokenizer.special_tokens),
        "pattern": pattern_name(tokenizer.pattern) or list(tokenizer.pattern),
        "normalizer": [repr(step) for step in tokenizer.normalizer],
        "pretokenizer": [repr(step) for step in tokenizer.pretokenizer or ()],
        "decoder": [repr(step) for step in tokenizer.decoder],
        "template": _template(tokenizer.template.single),
        "pair_template": _template(tokenizer.template.pair),
        "special_tokens": dict(tokenizer.special_tokens),
        "token_flags": {
            token: [name for name in _FLAGS if getattr(own, name)]
            for token in tokenizer.special_tokens
            if (own := flags.get(token, TokenFlags())) is not None
        },
        "roles": dict(tokenizer.roles),
        "padding": None if tokenizer.padding is None else repr(tokenizer.padding),
        "truncation": None if tokenizer.truncation is None else repr(tokenizer.truncation),
        "has_chat_template": tokenizer.chat_template is not None,
        "ties": None if training is None else training.ties,
        "min_frequency": None if training is None else training.min_frequency,
    }


def oddities(tokenizer: Tokenizer) -> dict[str, dict[str, Any]]:
    """Give what is odd about a tokenizer: each kind with its number, and the first twenty.

    Returns:
        Of ``unreachable``, ids of tokens whose own text does not encode to them: with byte-level
        BPE in the whole tokenizer, else in the model alone, where special tokens, pieces that are
        not ordinary, and what WordPiece has inside words are left out. Of ``duplicate_merges``,
        ranks of merges that make what an earlier one makes of other parts. Of ``missing_bytes``,
        bytes that no token of byte-level BPE is. Of ``gaps``, ids below the vocabulary's size
        without a token. Of ``not_utf8``, ids of tokens that are no whole characters. Kinds that
        are not there are left out.

    Examples:
        >>> model = Bpe({0: b"a", 1: b"aa", 3: b"aaa"}, [(0, 0), (0, 1), (1, 0)])
        >>> found = oddities(Tokenizer(model))
        >>> found["duplicate_merges"], found["gaps"], found["missing_bytes"]["n"]
        ({'n': 1, 'first': [2]}, {'n': 1, 'first': [2]}, 255)
    """
    model = tokenizer.model
    if isinstance(model.vocab, AllCharacters):
        return {}
    found: dict[str, list[int]] = {"unreachable": _unreachable(tokenizer)}
    if isinstance(model, Bpe | CharacterBpe):
        found["duplicate_merges"] = _duplicates(
            tokenizer.merges, getattr(model, "continuing_subword_prefix", "")
        )
    if isinstance(model, Bpe):
        single = {token[0] for token in model.vocab.values() if len(token) == 1}
        found["missing_bytes"] = [byte for byte in range(256) if byte not in single]
    vocab = tokenizer.vocab
    found["gaps"] = _gaps(vocab, tokenizer.vocab_size)
    found["not_utf8"] = [token_id for token_id, token in vocab.items() if not is_utf8(token)]
    return {
        name: {"n": len(places), "first": places[:_SHOWN]}
        for name, places in found.items()
        if places
    }


def _settings(model: object) -> dict[str, Any]:
    fields = getattr(model, "__dataclass_fields__", {})
    return {
        name: value
        for name in fields
        if name not in ("vocab", "merges", "pieces", "training")
        and isinstance(value := getattr(model, name), str | int | float | bool | None)
    }


def _template(parts: Iterable[TemplatePart]) -> str:
    """Write a template as ``Template.parse`` reads it."""
    words = []
    for part in parts:
        name = "AB"[part.text] if part.token is None else part.token
        words.append(f"{name}:{part.type_id}" if part.type_id else name)
    return " ".join(words)


def _unreachable(tokenizer: Tokenizer) -> list[TokenId]:
    model, special = tokenizer.model, set(tokenizer.special_tokens.values())
    if isinstance(model, Unigram | Pieces):
        tokens = {
            at: piece.text
            for at, piece in enumerate(model.pieces)
            if piece.kind == "normal" and at not in special
        }
    else:
        tokens = {at: token for at, token in model.vocab.items() if at not in special and token}
    if isinstance(model, WordPiece):
        prefix = model.prefix.encode()
        tokens = {at: token for at, token in tokens.items() if not token.startswith(prefix)}
    runner = tokenizer if isinstance(model, Bpe) else Tokenizer(model)
    texts = list(tokens.values())
    try:
        encoded: Sequence[list[int] | None] = runner.encode_batch(texts, special="as_text").tolist()
    except SubwordError:
        encoded = [_ids(runner, text) for text in texts]
    return [at for at, ids in zip(tokens, encoded, strict=True) if ids != [at]]


def _ids(tokenizer: Tokenizer, text: bytes) -> list[TokenId] | None:
    try:
        return tokenizer.encode(text, special="as_text")
    except SubwordError:
        return None


def _duplicates(merges: Iterable[tuple[bytes, bytes]], prefix: str) -> list[int]:
    seen: set[bytes] = set()
    ranks = []
    for rank, (left, right) in enumerate(merges):
        token = left + right.removeprefix(prefix.encode())
        if token in seen:
            ranks.append(rank)
        seen.add(token)
    return ranks


def _gaps(vocab: Iterable[TokenId], vocab_size: int) -> list[TokenId]:
    """Give the missing ids; of a vocabulary with billions of them, the first million."""
    known = set(vocab)
    most = min(vocab_size, len(known) + (1 << 20))
    return [token_id for token_id in range(most) if token_id not in known]
