"""How the laws of a certificate are looked at: texts and tokens under two tokenizers."""

import random
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from subword.errors import ArgumentError, UnencodableTextError
from subword.models import Bpe, Model, Pieces, Unigram, WordPiece, unknown_id
from subword.tokenizer import Tokenizer
from subword.types import TextLike, TokenId, is_utf8
from subword.vocabulary.certificate import Moved, SourceChange, Unreachable
from subword.vocabulary.torn import changed_texts, moved, torn_texts
from subword.vocabulary.words import Front

__all__ = [
    "HOSTILE_TEXTS",
    "Comparison",
    "Texts",
    "broken_round_trips",
    "collisions",
    "compare",
    "model_alone",
    "named_texts",
    "unreachable",
]

Texts = Mapping[str, Iterable[TextLike]] | Iterable[TextLike]
"""Documents to look at, or several sources of them by name."""

_BATCH_BYTES: Final = 1 << 24
_MOST_SHOWN: Final = 10
_REPLACEMENT: Final = "\ufffd".encode()


@dataclass(frozen=True, slots=True)
class Comparison:
    """One source under two tokenizers.

    Attributes:
        change: Its sizes.
        n_torn: Documents in which a new token ends inside an old one that was known.
        n_touched: Documents without removed tokens whose tokens are others all the same.
        used: New ids that came up.
        moved: What moved in the first documents that were torn.
    """

    change: SourceChange
    n_torn: int
    n_touched: int
    used: frozenset[TokenId]
    moved: tuple[Moved, ...] = ()


def model_alone(tokenizer: Tokenizer) -> Tokenizer:
    """Give the model without anything around it: it encodes single pre-tokens."""
    return Tokenizer(tokenizer.model)


def named_texts(texts: Texts) -> dict[str, Iterable[TextLike]]:
    """Give the sources by name; those without one are ``"texts"``.

    Raises:
        ArgumentError: A single text in place of a list.
    """
    if isinstance(texts, str | bytes):
        raise ArgumentError("texts is a single text; pass a list of texts, or sources by name")
    if isinstance(texts, Mapping):
        for name, documents in texts.items():
            if isinstance(documents, str | bytes):
                raise ArgumentError(f"texts[{name!r:.40}] is a single text; pass a list of texts")
        return dict(texts)
    documents = list(texts)
    return {"texts": documents} if documents else {}


def compare(
    name: str,
    texts: Iterable[TextLike],
    old: Tokenizer,
    new: Tokenizer,
    old_to_new: Mapping[TokenId, TokenId | None],
    weights: npt.NDArray[np.uint64] | None = None,
) -> Comparison:
    """Encode documents with both tokenizers and lay the tokens side by side.

    Args:
        name: The name of the source.
        texts: Its documents.
        old: The tokenizer before.
        new: The tokenizer after.
        old_to_new: New id of each old id, or None.
        weights: How often each document counts, for sizes; once by default.
    """
    # The model alone has fewer ids than the tokenizer, whose special tokens come after it.
    places = np.full(max(old_to_new, default=-1) + 1, -1, np.int64)
    for old_id, new_id in old_to_new.items():
        places[old_id] = -1 if new_id is None else new_id
    sizes = np.zeros(3, object)
    n_documents = n_changed = n_torn = n_touched = 0
    used: set[int] = set()
    shown: list[Moved] = []
    for batch in _batches(texts):
        before, after = old.encode_batch(batch), new.encode_batch(batch)
        share = None if weights is None else weights[n_documents : n_documents + len(batch)]
        lengths = np.array([_n_bytes(text) for text in batch], np.int64)
        for at, column in enumerate((lengths, np.diff(before.bounds), np.diff(after.bounds))):
            sizes[at] += _weighted(column, share)
        changed, removed = changed_texts(before, after, places)
        n_changed += int(changed.sum())
        n_touched += int((changed & ~removed).sum())
        torn = torn_texts(batch, before, after, old, new, changed)
        n_torn += len(torn)
        shown += moved(name, [batch[at] for at in torn[: _MOST_SHOWN - len(shown)]], old, new)
        used.update(np.unique(after.ids).tolist())
        n_documents += len(batch)
    change = SourceChange(name, n_documents, int(sizes[0]), int(sizes[1]), int(sizes[2]), n_changed)
    return Comparison(change, n_torn, n_touched, frozenset(used), tuple(shown))


def _batches(texts: Iterable[TextLike]) -> Iterator[list[TextLike]]:
    batch: list[TextLike] = []
    n_bytes = 0
    for text in texts:
        batch.append(text)
        n_bytes += len(text)
        if n_bytes >= _BATCH_BYTES:
            yield batch
            batch, n_bytes = [], 0
    if batch:
        yield batch


def _n_bytes(text: TextLike) -> int:
    return len(text.encode() if isinstance(text, str) else text)


def _weighted(column: npt.NDArray[np.int64], share: npt.NDArray[np.uint64] | None) -> int:
    if share is None:
        return int(column.sum())
    return int((column.astype(object) * share.astype(object)).sum()) if len(column) else 0


Reason = Literal["inside", "pattern", "normalizer", "merges", "special"]


def unreachable(
    tokenizer: Tokenizer, added: Set[TokenId], used: Set[TokenId] = frozenset()
) -> tuple[Unreachable, ...]:
    """List the tokens that are not the encoding of their own text, in the order of the ids.

    Args:
        tokenizer: What to look at; its special tokens are left out.
        added: Ids that a change brought.
        used: Ids known to come up in the encoding of some text.
    """
    special = set(tokenizer.special_tokens.values())
    vocab = {at: token for at, token in sorted(tokenizer.model.vocab.items()) if at not in special}
    model = tokenizer.model
    if isinstance(model, Unigram | Pieces):
        normal = ("normal", "user_defined")
        vocab = {at: token for at, token in vocab.items() if model.pieces[at].kind in normal}
    alone = model_alone(tokenizer)
    begin, front = _longest_begin(tokenizer), Front(tokenizer)
    found: list[Unreachable] = []
    for token_id, token in vocab.items():
        text: TextLike = token if isinstance(model, Bpe) else tokenizer.decode([token_id])
        if _ids(tokenizer, text) == [token_id]:
            continue
        reason: Reason = "merges"
        if any(name.encode() in token for name in tokenizer.special_tokens):
            reason = "special"
        elif _continues(model, alone, token_id, token, begin):
            reason = "inside"
        elif _ids(alone, token) == [token_id]:
            reason = _cut(tokenizer, front, token, token_id in used)
        found.append(Unreachable(token_id, token, reason, token_id in added))
    return tuple(found)


def _longest_begin(tokenizer: Tokenizer) -> bytes:
    """Give the longest token that begins words of WordPiece; empty for other models."""
    model = tokenizer.model
    if not isinstance(model, WordPiece):
        return b""
    prefix = model.prefix.encode()
    special = {text.encode() for text in (*tokenizer.special_tokens, model.unk_token or "")}
    begins = (t for t in model.vocab.values() if not t.startswith(prefix) and t not in special)
    return max(begins, key=len, default=b"")


def _continues(
    model: Model, alone: Tokenizer, token_id: TokenId, token: bytes, begin: bytes
) -> bool:
    """Tell whether a token of WordPiece comes up behind this, which no longer one begins."""
    if not isinstance(model, WordPiece) or not token.startswith(model.prefix.encode()):
        return False
    rest = token.removeprefix(model.prefix.encode())
    return token_id in (_ids(alone, begin + rest) or ())


def _cut(tokenizer: Tokenizer, front: Front, token: bytes, is_used: bool) -> Reason:
    """Tell why a token that the model reaches is not reached by its text."""
    if is_used or not is_utf8(token):
        return "inside"
    if front.changes(token):
        return "normalizer"
    is_split = bool(tokenizer.pattern) or tokenizer.pretokenizer is not None
    return "pattern" if is_split else "inside"


def _ids(tokenizer: Tokenizer, text: TextLike) -> list[TokenId] | None:
    try:
        return tokenizer.encode(text)
    except UnencodableTextError:
        return None


def collisions(tokenizer: Tokenizer) -> list[str]:
    """Name tokens that have two ids, or that are spelt as a special token with another id."""
    ids: dict[bytes, TokenId] = {}
    found: list[str] = []
    special = {text.encode(): at for text, at in tokenizer.special_tokens.items()}
    for token_id, token in tokenizer.model.vocab.items():
        other = ids.setdefault(token, token_id)
        if other != token_id:
            found.append(f"{token!r:.40} has the ids {other} and {token_id}")
        elif special.get(token, token_id) != token_id:
            found.append(f"{token!r:.40} (id {token_id}) spells a special token")
    return found


def _hostile_texts() -> tuple[TextLike, ...]:
    generator = random.Random(0)
    noise = [generator.randbytes(generator.randrange(1, 200)) for _ in range(50)]
    characters = [
        "".join(chr(generator.choice((32, 97, 0x4E2D, 0x301, 0x1F600, 0x200D))) for _ in range(40))
        for _ in range(20)
    ]
    return (
        "",
        "\0",
        " ",
        "\n\r\n\t  \u3000\u00a0\u2028",
        "a" * 5000,
        " " * 5000,
        "ab" * 2500,
        "👩\u200d👩\u200d👧\u200d👦🏽🇩🇪",
        "e\u0301\u0301\u0301 Ａﬁ",
        "שלום عليكم नमस्ते",
        "\ufeff\u200b\u202e\uffff\U0010ffff",
        "don't I'LL 12345678 3.14e-10",
        bytes(range(256)),
        b"\xf0\x9f\x98",
        b"\xc0\x80\xed\xa0\x80\xff",
        *characters,
        *noise,
    )


HOSTILE_TEXTS: Final = _hostile_texts()
"""Texts that break tokenizers: runs, parts of characters, bytes that are no UTF-8, noise."""


def broken_round_trips(old: Tokenizer, new: Tokenizer) -> list[TextLike]:
    """Give the hostile texts that decode to something else than they did before.

    What was lost before, to the unknown token or to U+FFFD, may have come back since.
    """
    names = tuple(f"x{name}y" for name in new.special_tokens)[:100]
    unk_id = unknown_id(old.model)
    broken: list[TextLike] = []
    for text in (*HOSTILE_TEXTS, *names):
        before, after = _ids(old, text), _ids(new, text)
        if before is None or unk_id in before:
            continue
        decoded = old.decode_bytes(before)
        data = text.encode() if isinstance(text, str) else text
        was_lost = _REPLACEMENT in decoded and _REPLACEMENT not in data
        if not was_lost and (after is None or decoded != new.decode_bytes(after)):
            broken.append(text)
    return broken
