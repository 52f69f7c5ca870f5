"""The vocabulary, the merges and the training of a model in YAML."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Final, get_args

from subword.bpe_models import bpe_from_tokens
from subword.errors import FormatError
from subword.formats.json_file import checked, refuse_others
from subword.formats.yaml_parts import fields_of, flow, part_of
from subword.formats.yaml_tokens import quoted_token, unquoted
from subword.models import AllCharacters, Model, Piece, PieceKind, Ties, Training
from subword.types import Pair, TokenId

__all__ = ["model_line", "read_model", "training_line", "vocabulary_lines"]

_KINDS: Final = {kind.__name__: kind for kind in get_args(Model)}
# What stands in blocks of its own.
_TABLES: Final = ("vocab", "pieces", "merges", "training")
_ALL: Final = "all_characters"


def model_line(model: Model) -> str:
    """Write the kind of a model and its settings."""
    name, settings = type(model).__name__, fields_of(model, _TABLES)
    return f"model: {{{name}: {flow(settings)}}}" if settings else f"model: {name}"


def training_line(training: Training, merges: tuple[Pair, ...]) -> str:
    """Write how a model was learnt; the counts of merges that it has stand beside these."""
    written: dict[str, Any] = {"min_frequency": training.min_frequency}
    if training.merge_counts and len(training.merge_counts) != len(merges):
        written["merge_counts"] = list(training.merge_counts)
    return f"training: {{ties: {training.ties}, {flow(written)[1:-1]}}}"


def vocabulary_lines(model: Model) -> Iterator[str]:
    """Write the vocabulary, and the merges where the model has such."""
    if isinstance(model.vocab, AllCharacters):
        yield f"vocab: {_ALL}"
    elif hasattr(model, "pieces"):
        yield from _block("vocab", map(_piece_line, model.pieces), "[]")
    else:
        vocab = model.vocab.items()
        yield from _block("vocab", (f"  {at}: {quoted_token(t)}" for at, t in vocab), "{}")
    if hasattr(model, "merges"):
        yield from _block("merges", _merge_lines(model), "[]")


def _block(name: str, lines: Iterator[str], empty: str) -> Iterator[str]:
    first = next(lines, None)
    if first is None:
        yield f"{name}: {empty}"
        return
    yield f"{name}:"
    yield first
    yield from lines


def _piece_line(piece: Piece) -> str:
    kind = "" if piece.kind == "normal" else f", {piece.kind}"
    return f"  - [{quoted_token(piece.text)}, {float(piece.score)!r}{kind}]"


def _merge_lines(model: Any) -> Iterator[str]:
    vocab, training = model.vocab, model.training
    counts = training.merge_counts if training is not None else ()
    counted = len(counts) == len(model.merges)
    for rank, (left, right) in enumerate(model.merges):
        count = f", {counts[rank]}" if counted else ""
        yield f"  - [{quoted_token(vocab[left])}, {quoted_token(vocab[right])}{count}]"


def read_model(root: Mapping[str, Any], place: str) -> Model:
    """Read a model; ``sizes`` of the file has been compared with what it has.

    Raises:
        FormatError: A field that is unknown, missing or damaged.
        VocabularyError: A merge of unknown tokens, or a token with two ids.
    """
    found = root.get("model")
    name, settings = next(iter(found.items()), ("", {})) if type(found) is dict else (found, {})
    if type(name) is not str or name not in _KINDS or (type(found) is dict and len(found) != 1):
        raise FormatError(f"{place}: model is {found!r:.60}; expected one of {', '.join(_KINDS)}")
    kind = _KINDS[name]
    known = {own.name for own in fields(kind)}
    tables: dict[str, Any] = {}
    if "pieces" in known:
        tables["pieces"] = _read_pieces(root.get("vocab"), f"{place}: vocab")
    else:
        tables["vocab"] = _read_vocab(root.get("vocab"), f"{place}: vocab")
    merges, counts = _read_merges(root.get("merges", []), f"{place}: merges")
    if "merges" in known:
        tables["merges"] = bpe_from_tokens(tables["vocab"], merges).merges
    elif merges:
        raise FormatError(f"{place}: a {name} model has no merges")
    training = _read_training(root.get("training"), counts, f"{place}: training")
    if "training" in known:
        tables["training"] = training
    elif training is not None:
        raise FormatError(f"{place}: a {name} model has no training")
    model: Model = part_of(kind, settings, f"{place}: model.{name}", **tables)
    return model


def _read_vocab(found: Any, place: str) -> Mapping[TokenId, bytes]:
    if found == _ALL:
        return AllCharacters()
    entries = checked(found, dict, place)
    return {
        checked(token_id, int, place): unquoted(text, f"{place}[{token_id}]")
        for token_id, text in entries.items()
    }


def _read_pieces(found: Any, place: str) -> tuple[Piece, ...]:
    pieces = []
    for at, item in enumerate(checked(found, list, place)):
        item_place = f"{place}[{at}]"
        parts = checked(item, list, item_place)
        kind: Any = parts[2] if len(parts) == 3 else "normal"
        if len(parts) not in (2, 3) or kind not in get_args(PieceKind):
            raise FormatError(
                f"{item_place}: expected a piece, its score, and its kind, if any, of "
                f"{', '.join(get_args(PieceKind))}; got {parts!r:.60}"
            )
        score = _read_score(parts[1], f"{item_place}[1]")
        pieces.append(Piece(unquoted(parts[0], item_place), score, kind))
    return tuple(pieces)


def _read_score(found: Any, place: str) -> float:
    try:
        return float(found)
    except (TypeError, ValueError) as error:
        raise FormatError(f"{place}: expected a number, got {found!r:.40}") from error


def _read_merges(found: Any, place: str) -> tuple[list[tuple[bytes, bytes]], list[int]]:
    merges: list[tuple[bytes, bytes]] = []
    counts: list[int] = []
    for rank, item in enumerate(checked(found, list, place)):
        item_place = f"{place}[{rank}]"
        parts = checked(item, list, item_place)
        if len(parts) not in (2, 3):
            raise FormatError(f"{item_place}: expected two tokens and a count, got {parts!r:.60}")
        merges.append((unquoted(parts[0], item_place), unquoted(parts[1], item_place)))
        if len(parts) == 3:
            counts.append(checked(parts[2], int, item_place))
    if counts and len(counts) != len(merges):
        raise FormatError(f"{place}: {len(counts)} of {len(merges)} merges have a count")
    return merges, counts


def _read_training(found: Any, counts: list[int], place: str) -> Training | None:
    if found is None:
        if counts:
            raise FormatError(f"{place} is missing, but the merges have counts")
        return None
    given: Mapping[str, Any] = checked(found, dict, place)
    refuse_others(given, {"ties", "min_frequency", "merge_counts"}, place)
    ties: Any = given.get("ties")
    if ties not in get_args(Ties):
        raise FormatError(f"{place}.ties is {ties!r:.40}; expected one of {get_args(Ties)}")
    least = checked(given.get("min_frequency"), int, f"{place}.min_frequency")
    merge_counts = checked(given.get("merge_counts", counts), list, f"{place}.merge_counts")
    for count in merge_counts:
        checked(count, int, f"{place}.merge_counts")
    return Training(ties, tuple(merge_counts), least)
