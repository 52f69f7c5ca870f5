r"""YAML that a person can read and that loses no byte; it holds every tokenizer.

    format: subword
    version: 2
    model: Bpe
    pattern: gpt2
    normalizer:
      - Nfc
      - Replace: {pattern: '  ', content: ' '}
    sizes: {vocab: 258, special_tokens: 1, merges: 1}
    special_tokens:
      - [257, '<|endoftext|>']
    roles: {eos: '<|endoftext|>'}
    training: {ties: greatest, min_frequency: 1}
    vocab:
      0: '\x00'
      ...
      258: ' t'
    merges:
      - [' ', 't', 1234]

Models and parts have the names and fields of this library's classes; what is as by default may be
left out (see ``yaml_parts``). A special token may have a list of flags after it, those of
``TokenFlags`` that are not as by default; ``added`` is a token that is not special. Models of
pieces have a list as ``vocab``: the piece, its score, and its kind if it is not a normal one. The
third part of a merge, which only trained tokenizers have, is how often its pair occurred. How
tokens are spelt is in ``yaml_tokens``.

Version 1, which is read too, holds byte-level BPE alone: ``model: bpe``, with ``whole_first`` as
a field of the file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from os import PathLike
from typing import Any, Final

from subword.atomic_write import write_atomically
from subword.chat import ChatTemplate
from subword.decoders import Decoder
from subword.errors import FormatError
from subword.formats.json_file import checked, decode_text, read_bytes, read_chat, refuse_others
from subword.formats.yaml_models import model_line, read_model, training_line, vocabulary_lines
from subword.formats.yaml_parts import fields_of, flow, from_plain, part_of, quoted, to_plain
from subword.formats.yaml_text import parse_yaml
from subword.formats.yaml_tokens import quoted_token, token_text
from subword.normalizers import Normalizer
from subword.padding import Padding, Truncation
from subword.patterns import NAMED_PATTERNS, Pattern, pattern_name
from subword.pretokens import PretokenStep
from subword.special_tokens import TokenFlags
from subword.templates import Template, TemplatePart
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["read", "write"]

_FIELDS: Final = {
    *("format", "version", "model", "pattern", "sizes", "special_tokens", "training", "vocab"),
    *("merges", "normalizer", "pretokenizer", "template", "decoder", "roles", "padding"),
    *("truncation", "chat_template"),
}
_FIELDS_1: Final = {
    *("format", "version", "model", "whole_first", "pattern", "sizes", "special_tokens"),
    *("training", "vocab", "merges"),
}
_STEPS: Final[dict[str, Any]] = {
    "normalizer": Normalizer,
    "pretokenizer": tuple[PretokenStep, ...],
    "decoder": Decoder,
}
_FLAGS: Final = tuple(field.name for field in fields(TokenFlags))
_ADDED: Final = "added"


def read(path: str | PathLike[str]) -> Tokenizer:
    """Read a tokenizer.

    Raises:
        FormatError: Not such a file, or a damaged one, with its place.
        SubwordError: A vocabulary, pattern or special tokens that no tokenizer can have.
        SourceError: The file cannot be read.
    """
    place = str(path)
    root = checked(parse_yaml(decode_text(read_bytes(path), path), place), dict, place)
    if root.get("format") != "subword" or root.get("version") not in (1, 2):
        raise FormatError(
            f"{place}: format is {root.get('format')!r:.40} and version "
            f"{root.get('version')!r:.40}; expected 'subword', 1 or 2"
        )
    if root["version"] == 1:
        root = _version_2(root, place)
    refuse_others(root, _FIELDS, place)
    special, flags = _read_special(root.get("special_tokens"), f"{place}: special_tokens")
    _check_sizes(root, place)
    changes: dict[str, Any] = {
        name: from_plain(hint, root[name], f"{place}: {name}")
        for name, hint in _STEPS.items()
        if name in root
    }
    for name, kind in {"padding": Padding, "truncation": Truncation}.items():
        if name in root:
            changes[name] = part_of(kind, root[name], f"{place}: {name}")
    if "template" in root:
        changes["template"] = _read_template(root["template"], f"{place}: template")
    if "roles" in root:
        changes["roles"] = _read_texts(root["roles"], f"{place}: roles")
    if "chat_template" in root:
        changes["chat_template"] = read_chat(root["chat_template"], f"{place}: chat_template")
    pattern = _read_pattern(root.get("pattern"), f"{place}: pattern")
    return Tokenizer(read_model(root, place), special, pattern, token_flags=flags, **changes)


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write a tokenizer; it is read back equal.

    Raises:
        OSError: The file cannot be written.
    """
    write_atomically(path, (f"{line}\n".encode() for line in _lines(tokenizer)))


def _lines(tokenizer: Tokenizer) -> Iterator[str]:
    model, special = tokenizer.model, tokenizer.special_tokens
    training = getattr(model, "training", None)
    merges = getattr(model, "merges", ())
    yield "# A tokenizer of the Python package subword. In tokens, \\xNN is a byte."
    yield "format: subword"
    yield "version: 2"
    yield model_line(model)
    name = pattern_name(tokenizer.pattern)
    yield f"pattern: {name if name is not None else flow(list(tokenizer.pattern))}"
    for part in _STEPS:
        yield from _step_lines(part, getattr(tokenizer, part))
    if tokenizer.template != Template():
        yield "template:"
        yield from _template_lines(tokenizer.template)
    sizes = {"vocab": len(model.vocab), "special_tokens": len(special), "merges": len(merges)}
    yield f"sizes: {flow(sizes)}"
    yield "special_tokens:" if special else "special_tokens: []"
    for text, at in special.items():
        flags = _flag_names(tokenizer.token_flags.get(text))
        yield f"  - [{at}, {quoted_token(text.encode())}{flags}]"
    if tokenizer.roles:
        yield f"roles: {flow(dict(tokenizer.roles))}"
    for beside in (tokenizer.padding, tokenizer.truncation):
        if beside is not None:
            yield f"{type(beside).__name__.lower()}: {flow(fields_of(beside))}"
    yield from _chat_lines(tokenizer.chat_template)
    if training is not None:
        yield training_line(training, tuple(merges))
    yield from vocabulary_lines(model)


def _step_lines(name: str, steps: Any) -> Iterator[str]:
    if steps is None or (not steps and name != "pretokenizer"):
        return
    yield f"{name}:" if steps else f"{name}: []"
    for step in map(to_plain, steps):
        spelt = step if isinstance(step, str) else flow(step)[1:-1]
        yield f"  - {spelt}"


def _template_lines(template: Template) -> Iterator[str]:
    for name, parts in {"single": template.single, "pair": template.pair}.items():
        if parts:
            written = [
                {**({} if part.token is not None else {"text": part.text}), **fields_of(part)}
                for part in parts
            ]
            yield f"  {name}: {flow(written)}"


def _chat_lines(chat_template: ChatTemplate | None) -> Iterator[str]:
    if isinstance(chat_template, str):
        yield from _text_lines("chat_template", chat_template, "")
    elif chat_template is not None:
        yield "chat_template:" if chat_template else "chat_template: {}"
        for name, text in chat_template.items():
            yield from _text_lines(quoted(name), text, "  ")


def _text_lines(name: str, text: str, indent: str) -> Iterator[str]:
    """Write a text as a block of lines, where YAML has all of its characters as they are."""
    lines = text.split("\n")
    if len(lines) == 1 or not all(line.replace("\t", "").isprintable() for line in lines):
        yield f"{indent}{name}: {quoted(text)}"
        return
    # The lines' own indent is not to be guessed, and each line end at the end counts.
    keep = "+" if lines[-1] == "" else "-"
    yield f"{indent}{name}: |2{keep}"
    yield from (f"{indent}  {line}" for line in lines[: -1 if keep == "+" else None])


def _version_2(root: dict[str, Any], place: str) -> dict[str, Any]:
    """Give the fields of version 1 as version 2 has them."""
    refuse_others(root, _FIELDS_1, place)
    whole_first = checked(root.get("whole_first"), bool, f"{place}: whole_first")
    if root.get("model") != "bpe":
        raise FormatError(f"{place}: model is {root.get('model')!r:.40}; expected 'bpe'")
    root = {name: value for name, value in root.items() if name != "whole_first"}
    return {**root, "model": {"Bpe": {"whole_first": whole_first}}}


def _check_sizes(root: Mapping[str, Any], place: str) -> None:
    """Refuse a file that is cut short: it says how much it has."""
    found = {name: root.get(name, []) for name in ("vocab", "special_tokens", "merges")}
    sizes = {name: len(item) for name, item in found.items() if isinstance(item, dict | list)}
    given = checked(root.get("sizes"), dict, f"{place}: sizes")
    if given.keys() != found.keys() or not sizes.items() <= given.items():
        raise FormatError(
            f"{place}: sizes are given as {given!r:.80}, but the file has {sizes}; it may be cut "
            "short"
        )


def _flag_names(flags: TokenFlags | None) -> str:
    """Give the flags that are not as they are by default; ``added`` is what is not special."""
    if flags is None:
        return ""
    names = [] if flags.special else [_ADDED]
    names += [name for name in _FLAGS[1:] if getattr(flags, name)]
    return f", [{', '.join(names)}]"


def _read_flags(found: Any, place: str) -> TokenFlags:
    names = checked(found, list, place)
    unknown = [name for name in names if name not in (_ADDED, *_FLAGS[1:])]
    if unknown or len(set(names)) != len(names):
        raise FormatError(
            f"{place}: expected flags, each once, of {_ADDED}, {', '.join(_FLAGS[1:])}; got "
            f"{names!r:.60}"
        )
    return TokenFlags(special=_ADDED not in names, **{n: True for n in names if n != _ADDED})


def _read_special(found: Any, place: str) -> tuple[dict[str, TokenId], dict[str, TokenFlags]]:
    special: dict[str, TokenId] = {}
    flags: dict[str, TokenFlags] = {}
    for at, item in enumerate(checked(found, list, place)):
        item_place = f"{place}[{at}]"
        parts = checked(item, list, item_place)
        if len(parts) not in (2, 3):
            raise FormatError(
                f"{item_place}: expected an id, a token and its flags, if any; got {parts!r:.60}"
            )
        text = token_text(parts[1], item_place)
        if text in special:
            raise FormatError(f"{item_place}: {text!r:.40} is given twice")
        special[text] = checked(parts[0], int, item_place)
        if len(parts) == 3:
            flags[text] = _read_flags(parts[2], item_place)
    return special, flags


def _read_template(found: Any, place: str) -> Template:
    parts = checked(found, dict, place)
    refuse_others(parts, {"single", "pair"}, place)
    made = {
        name: tuple(
            part_of(TemplatePart, item, f"{place}.{name}[{at}]")
            for at, item in enumerate(checked(items, list, f"{place}.{name}"))
        )
        for name, items in parts.items()
    }
    return Template(**made)


def _read_texts(found: Any, place: str) -> dict[str, str]:
    texts = checked(found, dict, place)
    return {
        checked(name, str, place): checked(text, str, f"{place}.{name}")
        for name, text in texts.items()
    }


def _read_pattern(found: Any, place: str) -> Pattern:
    if type(found) is str:
        if found not in NAMED_PATTERNS:
            raise FormatError(
                f"{place} is {found!r:.40}; expected one of {', '.join(NAMED_PATTERNS)}, or a list "
                "of regular expressions"
            )
        return NAMED_PATTERNS[found]
    parts = checked(found, list, place)
    return tuple(checked(part, str, f"{place}[{at}]") for at, part in enumerate(parts))
