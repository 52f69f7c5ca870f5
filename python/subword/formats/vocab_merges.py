"""GPT-2's ``vocab.json`` and ``merges.txt``: bytes as printable characters.

``vocab.json`` maps each token to its id; ``merges.txt`` has a merge a line, its two tokens
apart by one space. Neither says which tokens are special nor how text is split, so the split is
GPT-2's, and the special tokens stand in ``added_tokens.json`` beside them where there are any.

Source: openai/gpt-2, src/encoder.py (``encoder.json``, ``vocab.bpe``); the names of the files
are those of huggingface/transformers 4, ``GPT2Tokenizer``.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path

from subword.atomic_write import write_atomically
from subword.bpe_models import bpe_from_tokens, without_tokens
from subword.byte_characters import to_characters
from subword.errors import FormatError
from subword.formats.json_file import checked, read_json
from subword.formats.reach import whole_first_matters
from subword.formats.vocab_files import read_files, token_of
from subword.patterns import NAMED_PATTERNS, pattern_name, resolve_pattern
from subword.special_tokens import assign_ids, check_special_tokens
from subword.tokenizer import Tokenizer
from subword.types import SpecialTokens, TokenId

__all__ = ["read", "write"]

_VOCAB, _MERGES, _ADDED = "vocab.json", "merges.txt", "added_tokens.json"
_HEADER = b"#version: 0.2\n"


def read(
    path: str | PathLike[str],
    *,
    merges_path: str | PathLike[str] | None = None,
    special_tokens: SpecialTokens | None = None,
    pattern: str | Sequence[str] = "gpt2",
) -> Tokenizer:
    """Read a tokenizer.

    Args:
        path: The folder of ``vocab.json`` and ``merges.txt``, or the vocabulary's path.
        merges_path: The merges; by default ``merges.txt`` beside the vocabulary.
        special_tokens: Reserved strings; those that are no tokens get the next free ids. By
            default those of ``added_tokens.json`` beside the vocabulary, none without it.
        pattern: The split pattern the merges were learnt with.

    Raises:
        FormatError: A damaged file, with its place.
        SourceError: A file that cannot be read.
        SubwordError: A vocabulary or special tokens that no tokenizer can have.
    """
    path = Path(path)
    vocab_path = path / _VOCAB if path.is_dir() else path
    merges = merges_path if merges_path is not None else vocab_path.with_name(_MERGES)
    model = bpe_from_tokens(*read_files(vocab_path, merges))
    if special_tokens is None:
        special_tokens = _added_tokens(vocab_path.with_name(_ADDED))
        model = without_tokens(model, special_tokens)
    if not isinstance(special_tokens, Mapping):
        known = {token: token_id for token_id, token in model.vocab.items()}
        first_free = max(model.vocab, default=-1) + 1
        special_tokens = assign_ids(check_special_tokens(special_tokens), known, first_free)
    return Tokenizer(model, special_tokens, resolve_pattern(pattern))


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write a tokenizer into a folder, which is made where there is none.

    What a training leaves behind (its tie rule and counts) is not kept.

    Raises:
        FormatError: The files cannot hold the tokenizer: its pattern is not GPT-2's, two of its
            tokens have one spelling, or a token is only found by looking up whole pre-tokens.
        OSError: A file cannot be written.
    """
    _check_pattern(tokenizer)
    vocab = _spellings(tokenizer)
    if whole_first_matters(tokenizer):
        raise FormatError(
            f"{path}: merges alone do not make every token of this tokenizer, which looks whole "
            "pre-tokens up first, and merges.txt cannot say so; write tokenizer.json instead"
        )
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / _MERGES, _merge_lines(tokenizer.merges))
    added = folder / _ADDED
    if tokenizer.special_tokens:
        write_atomically(added, [_dump(dict(tokenizer.special_tokens))])
    else:
        added.unlink(missing_ok=True)
    write_atomically(folder / _VOCAB, [_dump(vocab)])


def _added_tokens(path: Path) -> dict[str, TokenId]:
    if not path.exists():
        return {}
    found = checked(read_json(path), dict, str(path))
    return {token: checked(at, int, f"{path}: {token!r:.40}") for token, at in found.items()}


def _check_pattern(tokenizer: Tokenizer) -> None:
    if tokenizer.pattern != NAMED_PATTERNS["gpt2"]:
        name = pattern_name(tokenizer.pattern) or tokenizer.pattern
        raise FormatError(
            "vocab.json and merges.txt hold no split pattern, and readers take GPT-2's; this "
            f"tokenizer has {name!r:.60}. Write tokenizer.json or YAML instead"
        )


def _spellings(tokenizer: Tokenizer) -> dict[str, TokenId]:
    """Give the entries of ``vocab.json``: each must be read back as the token it was."""
    special = {token_id: token for token, token_id in tokenizer.special_tokens.items()}
    vocab: dict[str, TokenId] = {}
    for token_id, token in tokenizer.vocab.items():
        text = special.get(token_id)
        if text is None or token_of(text, _VOCAB) != token:
            text = to_characters(token)
        if text in vocab:
            raise FormatError(
                f"vocab.json cannot hold two tokens spelt {text!r:.40}: ids {vocab[text]} and "
                f"{token_id}"
            )
        vocab[text] = token_id
    return vocab


def _merge_lines(merges: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    yield _HEADER
    for left, right in merges:
        yield f"{to_characters(left)} {to_characters(right)}\n".encode()


def _dump(entries: Mapping[str, TokenId]) -> bytes:
    return json.dumps(entries, ensure_ascii=False).encode()
