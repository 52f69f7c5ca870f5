"""HF ``tokenizer.json``: every model, and the parts around it.

What a tokenizer knows that the format does not have stands in ``model.subword``: HF's reader
passes over unknown fields there and nowhere else. What the format has and ``Tokenizer`` does not
is refused by name.

Source: huggingface/tokenizers 0.23.3, tokenizers/src: tokenizer/serialization.rs,
models/bpe/serialization.rs, tokenizer/added_vocabulary.rs, pre_tokenizers/{split,byte_level}.rs.
"""

import json
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, Final, cast

from subword import _core
from subword.atomic_write import write_atomically
from subword.byte_characters import to_characters
from subword.errors import FormatError
from subword.formats.hf_added_tokens import read_added, write_added
from subword.formats.hf_block import read_block, read_control, write_block
from subword.formats.hf_byte_level import fits, read_byte_level, spellings
from subword.formats.hf_decoders import read_decoder, write_decoder
from subword.formats.hf_models import (
    character_bpe,
    check_dropout,
    model_kind,
    read_other,
    read_vocab,
    write_other,
)
from subword.formats.hf_normalizers import read_normalizer, write_normalizer
from subword.formats.hf_padding import (
    read_padding,
    read_truncation,
    write_padding,
    write_truncation,
)
from subword.formats.hf_pieces import as_character_bpe, is_held, write_pieces
from subword.formats.hf_pretokenizers import Cut, read_pretokenizer, write_pretokenizer
from subword.formats.hf_tables import tabled_vocab
from subword.formats.hf_templates import read_template, write_template
from subword.formats.json_file import checked, parse_json, read_bytes, refuse_others
from subword.models import Bpe, CharacterBpe, Model, Unigram
from subword.pretokens import ByteLevel, PretokenStep, Split
from subword.special_tokens import TokenFlags
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["from_json", "read", "to_json", "vocabulary_of", "write"]

_ROOT: Final = {
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


def read(path: str | PathLike[str]) -> Tokenizer:
    """Read a tokenizer.

    Added tokens become special tokens; those that the file does not call special have
    ``TokenFlags.special`` false. ``truncation`` and ``padding`` are kept as data: ``encode`` does
    neither.

    Raises:
        FormatError: A damaged file, or one that asks for what subword does not do, with the
            field that does.
        VocabularyError: A token with two ids, or a model without its unknown token.
        SourceError: The file cannot be read.
    """
    return from_json(read_bytes(path), str(path))


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write a tokenizer that HF ``tokenizers`` loads, and that gives the same ids there.

    SentencePiece's BPE is written as merges with ``Prepend`` and ``Replace``, as Llama's files are.
    HF decodes control and unknown pieces to their spelling, as no added tokens.

    Raises:
        FormatError: The format cannot hold the tokenizer: a pattern that HF's regex engine
            reads otherwise, a special token spelt like another token, or a part that HF lacks.
        OSError: The file cannot be written.
    """
    write_atomically(path, list(_lines(tokenizer)))


def from_json(text: str | bytes, name: str = "tokenizer.json") -> Tokenizer:
    """Make a tokenizer from the text of a ``tokenizer.json``, such as HF's ``to_str()``.

    Args:
        text: The JSON.
        name: What to call it in messages.

    Raises:
        FormatError: As ``read``.
        VocabularyError: As ``read``.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    root = _parsed(data, name)
    refuse_others(root, _ROOT, name)
    if root.get("version", "1.0") != "1.0":
        raise FormatError(f"{name}: version is {root['version']!r:.40}; expected '1.0'")
    return _read_root(root, name)


def to_json(tokenizer: Tokenizer) -> str:
    """Give the text of a ``tokenizer.json``. Raises as ``write``."""
    return b"".join(_lines(tokenizer)).decode()


def vocabulary_of(tokenizer: Tokenizer) -> dict[str, TokenId]:
    """Give the id of each token as a ``tokenizer.json`` spells it, added ones among them.

    Raises:
        FormatError: As ``write``.
    """
    model = tokenizer.model
    vocab = spellings(tokenizer, model) if isinstance(model, Bpe) else _vocab(tokenizer)
    return {**vocab, **tokenizer.special_tokens}


def _parsed(data: bytes, name: str) -> dict[str, Any]:
    """Parse a file; its large tables come ready-made where nothing is wrong with them."""
    tables = _core.JsonTables.read(data)
    vocab = None if tables is None else tabled_vocab(tables)
    if tables is None or vocab is None:
        return checked(parse_json(data, name), dict, name)
    try:
        root: dict[str, Any] = checked(parse_json(tables.rest, name), dict, name)
    except FormatError:
        return checked(parse_json(data, name), dict, name)
    root["model"]["vocab"] = vocab
    if tables.has_merges:
        root["model"]["merges"] = tables
    added = tables.added()
    if added is not None:
        root["added_tokens"] = added
    return root


def _read_root(root: Mapping[str, Any], name: str) -> Tokenizer:
    place = f"{name}: model"
    fields = checked(root.get("model"), dict, place)
    kind = model_kind(fields, place)
    vocab = read_vocab(fields, f"{place}.vocab")
    special, flags = read_added(root.get("added_tokens"), vocab, f"{name}: added_tokens")
    for text, own in read_control(fields.get("subword"), vocab, f"{place}.subword").items():
        special[text], flags[text] = vocab[text], own
    normalizer, is_printable = read_normalizer(root.get("normalizer"), f"{name}: normalizer")
    cut = _read_cut(root, is_printable, name)
    if kind == "BPE":
        check_dropout(fields, place)
    is_byte_level = cut.is_byte_level and kind == "BPE" and fits(fields, vocab)
    model: Model
    if is_byte_level:
        model = read_byte_level(fields, vocab, special, place)
    elif kind == "BPE":
        model = character_bpe(fields, vocab, place)
    else:
        model = read_other(kind, fields, place)
    if cut.is_byte_level and not is_byte_level:
        cut = Cut((), _printable_steps(cut), is_byte_level=False)
    known = ChainMap(special, cast(dict[str, TokenId], vocab))  # only read
    template = read_template(root.get("post_processor"), known, f"{name}: post_processor")
    for token in _absent(template, special):
        special[token] = vocab[token]
        flags[token] = TokenFlags(special=False, control=True)
    decoder = read_decoder(root.get("decoder"), f"{name}: decoder", is_byte_level=is_byte_level)
    parts: dict[str, Any] = {
        "model": model,
        "special_tokens": dict(sorted(special.items(), key=lambda item: item[1])),
        "pattern": cut.pattern,
        "normalizer": normalizer,
        "pretokenizer": cut.steps,
        "token_flags": flags,
        "template": template,
        "decoder": decoder,
        "truncation": read_truncation(root.get("truncation"), f"{name}: truncation"),
        "padding": read_padding(root.get("padding"), f"{name}: padding"),
    }
    if fields.get("subword") is not None:
        parts |= read_block(parts, fields["subword"], f"{place}.subword")
    return Tokenizer(**parts)


def _read_cut(root: Mapping[str, Any], is_printable: bool, name: str) -> Cut:
    """Read how a text is cut, where the normalizer may have written bytes as characters."""
    place = f"{name}: pre_tokenizer"
    cut = read_pretokenizer(root.get("pre_tokenizer"), place)
    if not is_printable:
        return cut
    if cut.is_byte_level or cut.pattern or cut.steps:
        raise FormatError(
            f"{place} cuts what the normalizer ByteLevel wrote as printable characters; subword "
            "reads ByteLevel as the last pre-tokenizer"
        )
    return Cut((), None, is_byte_level=True)


def _printable_steps(cut: Cut) -> tuple[PretokenStep, ...]:
    """Give the steps that end in printable characters, for models that are not of bytes."""
    steps: list[PretokenStep] = (
        [Split(part) for part in cut.pattern] if cut.steps is None else list(cut.steps)
    )
    if steps and isinstance(steps[-1], ByteLevel):
        steps[-1] = replace(steps[-1], printable=True)
    else:
        steps.append(ByteLevel(False, False, printable=True))
    return tuple(steps)


def _absent(template: Template, special: Mapping[str, TokenId]) -> list[str]:
    """Give the tokens that a template names and that are no added tokens."""
    named = [part.token for part in template.single + template.pair if part.token is not None]
    return [token for token in dict.fromkeys(named) if token not in special]


def _lines(tokenizer: Tokenizer) -> Iterator[bytes]:
    """Give the file, an entry of the vocabulary and a merge a line."""
    own: dict[str, object] = {}
    if is_held(tokenizer):
        given, tokenizer = tokenizer, as_character_bpe(tokenizer)
        own["pieces"] = write_pieces(given, tokenizer)
    model = tokenizer.model
    is_byte_level = isinstance(model, Bpe)
    vocab = spellings(tokenizer, model) if isinstance(model, Bpe) else _vocab(tokenizer)
    flags = tokenizer.token_flags
    head = {
        "version": "1.0",
        "truncation": write_truncation(tokenizer.truncation),
        "padding": write_padding(tokenizer.padding),
        "added_tokens": write_added(tokenizer.special_tokens, flags),
        "normalizer": write_normalizer(tokenizer.normalizer),
        "pre_tokenizer": write_pretokenizer(
            tokenizer.pattern, tokenizer.pretokenizer, is_byte_level=is_byte_level
        ),
        "post_processor": write_template(tokenizer.template, tokenizer.special_tokens),
        "decoder": write_decoder(tokenizer.decoder, is_byte_level=is_byte_level),
    }
    settings, pieces = _settings(model), None
    if settings is None:
        settings, pieces = write_other(model, vocab)
    settings["subword"] = write_block(tokenizer) | own
    yield (_dump(head, indent=2).removesuffix("\n}") + ',\n  "model": {\n').encode()
    for name, value in settings.items():
        yield f"    {_dump(name)}: {_dump(value)},\n".encode()
    if pieces is not None:
        yield b'    "vocab": ['
        yield from _separated(map(_dump, pieces))
        yield b"\n    ]\n  }\n}\n"
        return
    yield b'    "vocab": {'
    yield from _separated(f"{_dump(text)}: {token_id}" for text, token_id in vocab.items())
    if isinstance(model, Bpe | CharacterBpe):
        yield b'\n    },\n    "merges": ['
        yield from _separated(_merges(model))
        yield b"\n    ]\n  }\n}\n"
    else:
        yield b"\n    }\n  }\n}\n"


def _settings(model: Model) -> dict[str, object] | None:
    if not isinstance(model, Bpe):
        return None
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": model.whole_first,
    }


def _vocab(tokenizer: Tokenizer) -> dict[str, TokenId]:
    """Give the entries of the vocabulary of a model that is not of bytes; see ``spellings``."""
    model, special = tokenizer.model, tokenizer.special_tokens
    if isinstance(model, CharacterBpe) and model.byte_level:
        raise FormatError(
            "tokenizer.json cannot hold byte-level BPE with a suffix or prefix, as CLIP's; write "
            "CLIP's own file instead"
        )
    vocab = {token.decode(): token_id for token_id, token in model.vocab.items()}
    absent = {text: token_id for text, token_id in special.items() if text not in vocab}
    is_next = list(absent.values()) == list(range(len(vocab), len(vocab) + len(absent)))
    flags = tokenizer.token_flags
    if not is_next or any(flags.get(text, TokenFlags()).control for text in absent):
        if isinstance(model, Unigram):
            raise FormatError(
                "tokenizer.json cannot hold special tokens of a Unigram model whose ids do not "
                "follow those of its pieces"
            )
        vocab.update(absent)
    return dict(sorted(vocab.items(), key=lambda item: item[1]))


def _merges(model: Bpe | CharacterBpe) -> Iterator[str]:
    spell = to_characters if isinstance(model, Bpe) else bytes.decode
    quoted = {token_id: _dump(spell(token)) for token_id, token in model.vocab.items()}
    return (f"[{quoted[left]}, {quoted[right]}]" for left, right in model.merges)


def _separated(items: Iterable[str]) -> Iterator[bytes]:
    separator = "\n      "
    for item in items:
        yield (separator + item).encode()
        separator = ",\n      "


def _dump(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)
