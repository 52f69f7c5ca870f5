"""HF ``tokenizer.json``, for byte-level BPE.

What a tokenizer knows that the format does not have stands in ``model.subword``: HF's reader
passes over unknown fields there and nowhere else. What the format has and ``Tokenizer`` does not
is refused by name.

Source: huggingface/tokenizers 0.23.3, tokenizers/src: tokenizer/serialization.rs,
models/bpe/serialization.rs, tokenizer/added_vocabulary.rs, pre_tokenizers/{split,byte_level}.rs.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, get_args

from subword.byte_characters import BYTE_CHARACTERS, from_characters, to_characters
from subword.errors import FormatError
from subword.formats.atomic import write_atomically
from subword.formats.hf_added_tokens import read_added, write_added
from subword.formats.hf_steps import (
    BYTE_LEVEL,
    check_decoder,
    check_normalizer,
    check_post_processor,
    read_pattern,
    write_pattern,
)
from subword.formats.json_file import checked, read_json, refuse_others
from subword.formats.oniguruma import from_oniguruma, to_oniguruma
from subword.formats.reach import byte_level_bpe, without_tokens
from subword.models import Bpe, Ties, Training, bpe_from_tokens
from subword.patterns import Pattern
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["read", "write"]

_ALPHABET = frozenset(BYTE_CHARACTERS)
_ROOT = {
    "version",
    "truncation",
    "padding",
    "added_tokens",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
}
_MODEL = {
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
_BLOCK = {"version", "pattern", "special_in_model", "ties", "min_frequency", "merge_counts"}


def read(path: str | PathLike[str]) -> Tokenizer:
    """Read a tokenizer.

    Added tokens become special tokens, whether the file calls them special or not: HF finds
    both kinds in text.

    Raises:
        FormatError: A damaged file, or one that asks for what subword does not do, with the
            field that does.
        VocabularyError: Merges that name unknown tokens, a token with two ids.
        SourceError: The file cannot be read.
    """
    place = str(path)
    root = checked(read_json(path), dict, place)
    refuse_others(root, _ROOT, place)
    if root.get("version", "1.0") != "1.0":
        raise FormatError(f"{place}: version is {root['version']!r:.40}; expected '1.0'")
    for name in ("truncation", "padding"):
        if root.get(name) is not None:
            raise FormatError(
                f"{place}: {name} is set, which changes ids on its own; set it to null and call "
                "encode_batch(...).pad(...) instead"
            )
    check_normalizer(root.get("normalizer"), f"{place}: normalizer")
    check_post_processor(root.get("post_processor"), f"{place}: post_processor")
    check_decoder(root.get("decoder"), f"{place}: decoder")
    pattern = read_pattern(root.get("pre_tokenizer"), f"{place}: pre_tokenizer")
    model_place = f"{place}: model"
    fields = checked(root.get("model"), dict, model_place)
    _check_model(fields, model_place)
    vocab = _checked_vocab(fields, f"{model_place}.vocab")
    special = read_added(root.get("added_tokens"), vocab, f"{place}: added_tokens")
    model = _read_model(fields, vocab, special, model_place)
    block = fields.get("subword")
    if block is not None:
        block_place = f"{model_place}.subword"
        model = _with_block(model, checked(block, dict, block_place), special, block_place)
        pattern = _block_pattern(block, pattern, block_place)
    return Tokenizer(model, special, pattern)


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write a tokenizer that HF ``tokenizers`` loads, and that gives the same ids there.

    Raises:
        FormatError: The format cannot hold the tokenizer: a pattern that HF's regex engine
            reads otherwise, or a special token spelt like another token.
        OSError: The file cannot be written.
    """
    write_atomically(path, list(_lines(tokenizer)))


def _lines(tokenizer: Tokenizer) -> Iterator[bytes]:
    """Give the file, an entry of the vocabulary and a merge a line."""
    model = byte_level_bpe(tokenizer, "tokenizer.json")
    head = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": write_added(tokenizer.special_tokens),
        "normalizer": None,
        "pre_tokenizer": write_pattern(tokenizer.pattern),
        "post_processor": None,
        "decoder": {**BYTE_LEVEL, "use_regex": True},
    }
    settings = {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": model.whole_first,
        "subword": _block(tokenizer),
    }
    vocab = _spellings(tokenizer)
    yield (_dump(head, indent=2).removesuffix("\n}") + ',\n  "model": {\n').encode()
    for name, value in settings.items():
        yield f"    {_dump(name)}: {_dump(value)},\n".encode()
    yield b'    "vocab": {'
    yield from _separated(f"{_dump(text)}: {token_id}" for text, token_id in vocab.items())
    yield b'\n    },\n    "merges": ['
    quoted = {token_id: _dump(to_characters(token)) for token_id, token in model.vocab.items()}
    yield from _separated(f"[{quoted[left]}, {quoted[right]}]" for left, right in model.merges)
    yield b"\n    ]\n  }\n}\n"


def _separated(items: Iterable[str]) -> Iterator[bytes]:
    separator = "\n      "
    for item in items:
        yield (separator + item).encode()
        separator = ",\n      "


def _dump(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _block(tokenizer: Tokenizer) -> dict[str, object]:
    """Give what only subword reads; see ``_with_block``."""
    model, special_ids = (
        byte_level_bpe(tokenizer, "tokenizer.json"),
        set(tokenizer.special_tokens.values()),
    )
    block: dict[str, object] = {
        "version": 1,
        "pattern": list(tokenizer.pattern),
        "special_in_model": [token_id for token_id in model.vocab if token_id in special_ids],
    }
    if model.training is not None:
        block["ties"] = model.training.ties
        block["min_frequency"] = model.training.min_frequency
        block["merge_counts"] = list(model.training.merge_counts)
    return block


def _spellings(tokenizer: Tokenizer) -> dict[str, TokenId]:
    """Give the entries of the vocabulary, special tokens among them where HF needs them there.

    HF looks an added token up in the vocabulary by its content, and numbers those it does not
    find itself, from the vocabulary's size on: the file's ``id`` does not count.
    """
    special = tokenizer.special_tokens
    bare = without_tokens(byte_level_bpe(tokenizer, "tokenizer.json"), special)
    vocab = {to_characters(token): token_id for token_id, token in bare.vocab.items()}
    absent = {text: token_id for text, token_id in special.items() if vocab.get(text) != token_id}
    for text, token_id in absent.items():
        if text in vocab or token_id in bare.vocab:
            raise FormatError(
                f"tokenizer.json cannot hold the special token {text!r:.40} with id {token_id}: "
                f"an ordinary token has its spelling or its id"
            )
    n_tokens = len(byte_level_bpe(tokenizer, "tokenizer.json").vocab)
    appended = list(absent.values()) == list(range(n_tokens, n_tokens + len(absent)))
    if not appended or len(bare.vocab) != n_tokens:
        vocab.update(absent)
    return dict(sorted(vocab.items(), key=lambda item: item[1]))


def _check_model(fields: Mapping[str, Any], place: str) -> None:
    kind = fields.get("type", "BPE" if "merges" in fields else None)
    if kind != "BPE":
        raise FormatError(f"{place}.type is {kind!r:.40}; subword reads 'BPE' so far")
    refuse_others(fields, _MODEL, place)
    for name in ("continuing_subword_prefix", "end_of_word_suffix", "dropout"):
        if fields.get(name):
            raise FormatError(
                f"{place}.{name} is {fields[name]!r:.40}, which a byte-level BPE of subword "
                "does not have"
            )


def _checked_vocab(fields: Mapping[str, Any], place: str) -> dict[str, TokenId]:
    vocab = checked(fields.get("vocab"), dict, place)
    seen: dict[int, str] = {}
    for text, token_id in vocab.items():
        if not 0 <= checked(token_id, int, f"{place}[{text!r:.40}]") < 2**32 - 1:
            raise FormatError(f"{place}[{text!r:.40}]: id {token_id} is not from 0 to 2^32-2")
        if token_id in seen:
            raise FormatError(
                f"{place}: {seen[token_id]!r:.40} and {text!r:.40} have one id, {token_id}"
            )
        seen[token_id] = text
    if not vocab.keys() >= _ALPHABET:
        for name in ("unk_token", "byte_fallback"):
            if fields.get(name):
                raise FormatError(
                    f"{place} lacks bytes, for which model.{name} is {fields[name]!r:.40}; subword "
                    "refuses text that needs them instead"
                )
    return vocab


def _read_model(
    fields: Mapping[str, Any],
    vocab: Mapping[str, TokenId],
    special: Mapping[str, TokenId],
    place: str,
) -> Bpe:
    whole_first = checked(fields.get("ignore_merges", False), bool, f"{place}.ignore_merges")
    tokens: dict[int, bytes] = {}
    spelt: dict[str, bytes] = {}
    for text, token_id in vocab.items():
        if _ALPHABET.issuperset(text):
            tokens[token_id] = spelt[text] = from_characters(text)
        elif text not in special:
            tokens[token_id] = _as_text(text, whole_first, f"{place}.vocab")
    merges = checked(fields.get("merges"), list, f"{place}.merges")
    pairs = [_read_merge(merge, spelt, f"{place}.merges", at) for at, merge in enumerate(merges)]
    return replace(bpe_from_tokens(tokens, pairs), whole_first=whole_first)


def _as_text(text: str, whole_first: bool, place: str) -> bytes:
    """Take a token that no text reaches in HF, but that decodes to itself."""
    if whole_first:
        from_characters(text)  # names the character
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"{place}: token {text!r:.40} has a lone surrogate") from error


def _read_merge(merge: Any, spelt: Mapping[str, bytes], place: str, at: int) -> tuple[bytes, bytes]:
    parts = merge.split(" ") if type(merge) is str else merge
    if type(parts) is not list or len(parts) != 2 or not all(type(part) is str for part in parts):
        raise FormatError(f"{place}[{at}]: expected two tokens, got {merge!r:.60}")
    for part in parts:
        if part not in spelt:
            raise FormatError(
                f"{place}[{at}] names {part!r:.40}, which is no token of the vocabulary"
            )
    return spelt[parts[0]], spelt[parts[1]]


def _with_block(
    model: Bpe, block: Mapping[str, Any], special: Mapping[str, TokenId], place: str
) -> Bpe:
    """Add what only subword writes."""
    refuse_others(block, _BLOCK, place)
    if block.get("version") != 1:
        raise FormatError(f"{place}.version is {block.get('version')!r:.40}; this reads 1")
    ids = checked(block.get("special_in_model"), list, f"{place}.special_in_model")
    kept = {checked(at, int, f"{place}.special_in_model") for at in ids}
    vocab = dict(model.vocab)
    for text, token_id in special.items():
        if token_id in kept:
            vocab[token_id] = text.encode()
        else:
            vocab.pop(token_id, None)
    training = None
    if "ties" in block:
        if block["ties"] not in get_args(Ties):
            raise FormatError(
                f"{place}.ties is {block['ties']!r:.40}; expected one of {get_args(Ties)}"
            )
        counts = checked(block.get("merge_counts"), list, f"{place}.merge_counts")
        if len(counts) != len(model.merges):
            raise FormatError(
                f"{place}.merge_counts has {len(counts)} counts for {len(model.merges)} merges"
            )
        for at, count in enumerate(counts):
            checked(count, int, f"{place}.merge_counts[{at}]")
        least = checked(block.get("min_frequency"), int, f"{place}.min_frequency")
        training = Training(block["ties"], tuple(counts), least)
    return replace(model, vocab=dict(sorted(vocab.items())), training=training)


def _block_pattern(block: Mapping[str, Any], pattern: Pattern, place: str) -> Pattern:
    """Give the pattern as it was written, where the file still splits by it."""
    parts = checked(block.get("pattern"), list, f"{place}.pattern")
    spelt = tuple(checked(part, str, f"{place}.pattern[{at}]") for at, part in enumerate(parts))
    try:
        translated = tuple(from_oniguruma(to_oniguruma(part)) for part in spelt)
    except FormatError:
        translated = ()
    if translated != pattern:
        raise FormatError(
            f"{place}.pattern is not what pre_tokenizer splits by; remove the one that is wrong"
        )
    return spelt
