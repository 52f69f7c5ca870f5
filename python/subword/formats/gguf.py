"""The vocabulary of a GGUF file: ``read`` takes it from any, ``write`` makes one without weights.

The package ``gguf`` writes; reading needs nothing, and is in ``gguf_vocabulary``.

Source: ggml-org/llama.cpp, gguf-py 0.19.0, gguf/gguf_writer.py and gguf/constants.py.
"""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np

from subword.atomic_write import write_atomically
from subword.byte_characters import to_characters
from subword.errors import FormatError, MissingExtraError
from subword.formats.gguf_vocabulary import (
    KINDS,
    PATTERNS,
    ROLE_FIELDS,
    WHOLE_FIRST,
    WORD,
    read,
)
from subword.formats.reach import byte_level_bpe, refuse_beside, whole_first_matters
from subword.formats.sentencepiece_parts import model_of
from subword.models import Bpe, Pieces, Unigram, WordPiece
from subword.patterns import pattern_name
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["read", "write"]

_ARCHITECTURE: Final = {"gpt2": "gpt2", "llama": "llama", "t5": "t5", "bert": "bert"}


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write a tokenizer.

    Ids without a token become unused tokens ``[PADn]``.

    Raises:
        MissingExtraError: gguf is not installed.
        FormatError: The format cannot hold the tokenizer: another model than byte-level BPE,
            SentencePiece's BPE or Unigram, or WordPiece as BERT's uncased; a split pattern that
            llama.cpp has no name for; parts that would not be read back.
        OSError: The file cannot be written.
    """
    try:
        import gguf
    except ImportError as error:
        raise MissingExtraError("writing GGUF needs gguf: pip install 'subword[gguf]'") from error
    name, fill = _filler(tokenizer, str(path))
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "vocab.gguf"
        writer = gguf.GGUFWriter(made, _ARCHITECTURE[name])
        writer.add_tokenizer_model(name)
        fill(writer)
        _add_chat(writer, tokenizer)
        _add_roles(writer, tokenizer)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.close()
        _check_read_back(tokenizer, made)
        data = made.read_bytes()
    write_atomically(path, [data])


def _filler(tokenizer: Tokenizer, place: str) -> tuple[str, Callable[[Any], None]]:
    refuse_beside(tokenizer, "GGUF", holds=("roles", "chat_template"))
    match tokenizer.model:
        case Bpe():
            byte_level_bpe(
                tokenizer.replace(template=Template(), roles={}, chat_template=None), "GGUF"
            )
            return "gpt2", lambda writer: _bpe(tokenizer, writer)
        case Pieces(kind="bpe"):
            return "llama", lambda writer: _sentencepiece(tokenizer, writer, place)
        case Unigram():
            return "t5", lambda writer: _sentencepiece(tokenizer, writer, place)
        case WordPiece():
            return "bert", lambda writer: _bert(tokenizer, writer)
    raise FormatError(f"GGUF has no {type(tokenizer.model).__name__} model")


def _bpe(tokenizer: Tokenizer, writer: Any) -> None:
    model: Any = tokenizer.model
    pattern = pattern_name(tokenizer.pattern)
    # Where every token is what its bytes merge to, both kinds of names give the same ids.
    matters = whole_first_matters(Tokenizer(replace(model, whole_first=True)))
    names = [
        name
        for name, known in PATTERNS.items()
        if known == pattern and not (matters and (name in WHOLE_FIRST) != model.whole_first)
    ]
    if not names:
        how = f" {'with' if model.whole_first else 'without'} looking whole pre-tokens up first"
        raise FormatError(
            f"llama.cpp has no name for the split pattern {pattern or tokenizer.pattern!r:.60}"
            f"{how if matters else ''}"
        )
    writer.add_tokenizer_pre(names[0])
    special = {token_id: text for text, token_id in tokenizer.special_tokens.items()}
    tokens: dict[TokenId, tuple[str, str]] = {
        token_id: (to_characters(token), "normal") for token_id, token in model.vocab.items()
    }
    tokens |= {token_id: (text, "control") for token_id, text in special.items()}
    _add_tokens(writer, tokens, tokenizer.vocab_size)
    writer.add_token_merges(
        [f"{to_characters(left)} {to_characters(right)}" for left, right in tokenizer.merges]
    )
    _add_template(writer, tokenizer)


def _sentencepiece(tokenizer: Tokenizer, writer: Any, place: str) -> None:
    model = model_of(tokenizer, place)
    writer.add_tokenizer_pre("default")
    pieces = dict(enumerate((piece.text, piece.type) for piece in model.pieces))
    _add_tokens(writer, pieces, len(pieces))
    writer.add_token_scores([piece.score for piece in model.pieces])
    _add_id(writer, "unk", next(at for at, (_, kind) in pieces.items() if kind == "unknown"))
    writer.add_add_space_prefix(model.normalizer.add_dummy_prefix)
    writer.add_remove_extra_whitespaces(model.normalizer.remove_extra_whitespaces)
    if model.normalizer.precompiled_charsmap:
        writer.add_precompiled_charsmap(model.normalizer.precompiled_charsmap)
    _add_template(writer, tokenizer)


def _bert(tokenizer: Tokenizer, writer: Any) -> None:
    model: Any = tokenizer.model
    writer.add_tokenizer_pre("default")
    reserved = set(tokenizer.special_tokens.values())
    tokens = {}
    for token_id, token in tokenizer.vocab.items():
        text = token.decode()
        is_named = token_id in reserved or text[:1] + text[-1:] == "[]"
        spelled = text.removeprefix(model.prefix) if text.startswith(model.prefix) else WORD + text
        kind = "control" if token_id in reserved else "normal"
        tokens[token_id] = (text if is_named else spelled, kind)
    _add_tokens(writer, tokens, tokenizer.vocab_size)
    _add_id(writer, "unk", tokenizer.special_tokens.get(model.unk_token or "", 0))
    around = [part.token for part in tokenizer.template.single if part.token is not None]
    if len(around) != 2:
        raise FormatError("GGUF's WordPiece puts one token before a text and one after it")
    for role, name in zip(("cls", "sep"), around, strict=True):
        _add_id(writer, role, tokenizer.special_tokens[name])


def _add_tokens(writer: Any, tokens: Mapping[TokenId, tuple[str, str]], vocab_size: int) -> None:
    filled = [tokens.get(at, (f"[PAD{at}]", "unused")) for at in range(vocab_size)]
    writer.add_token_list([text for text, _ in filled])
    writer.add_token_types([1 + KINDS.index(kind) for _, kind in filled])


def _add_template(writer: Any, tokenizer: Tokenizer) -> None:
    parts = [part.token for part in tokenizer.template.single]
    if not parts:
        return
    at = parts.index(None)
    before, after = parts[:at], parts[at + 1 :]
    if len(before) > 1 or len(after) > 1:
        raise FormatError("GGUF puts at most one token before a text and one after it")
    for role, tokens in (("bos", before), ("eos", after)):
        for token in tokens:
            _add_id(writer, role, tokenizer.special_tokens[str(token)])
            getattr(writer, f"add_add_{role}_token")(True)


def _add_roles(writer: Any, tokenizer: Tokenizer) -> None:
    for role, token in tokenizer.roles.items():
        _add_id(writer, role, tokenizer.token_id(token))


def _add_id(writer: Any, role: str, token_id: TokenId) -> None:
    """Name the token of a role, unless the template has: the writer would refuse a second time."""
    key = f"tokenizer.ggml.{ROLE_FIELDS[role]}_token_id"
    if key not in writer.kv_data[0]:
        writer.add_uint32(key, token_id)


def _add_chat(writer: Any, tokenizer: Tokenizer) -> None:
    given = tokenizer.chat_template
    if isinstance(given, str):
        writer.add_chat_template(given)
    elif given is not None:
        writer.add_chat_template([{"name": n, "template": text} for n, text in given.items()])


def _check_read_back(tokenizer: Tokenizer, path: Path) -> None:
    """Refuse what the file does not hold: it is read again and compared part by part."""
    again = read(path)
    names = ("special_tokens", "pattern", "normalizer", "pretokenizer", "token_flags", "decoder")
    beside = ("template", "chat_template")
    parts = [n for n in names + beside if getattr(again, n) != getattr(tokenizer, n)]
    if not tokenizer.roles.items() <= again.roles.items():
        parts.append("roles")
    same = np.array_equal(
        again.encode_array(_PROBE, special="as_text"),
        tokenizer.encode_array(_PROBE, special="as_text"),
    )
    if again.vocab != tokenizer.vocab or not same:
        parts.append("vocabulary")
    if parts:
        raise FormatError(
            f"GGUF would not give this tokenizer's {', '.join(parts)} back; write tokenizer.json "
            "or YAML instead"
        )


_PROBE: Final = "The quick\tbrown  fox, it's 12345 naïve 你好\n\n \U0001f642 <s>[PAD] e\u0301\x00"
