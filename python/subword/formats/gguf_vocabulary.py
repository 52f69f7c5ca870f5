"""The vocabulary of a GGUF file, as llama.cpp uses it.

``tokenizer.ggml.model`` says the algorithm: ``gpt2`` is byte-level BPE, whose split pattern
``tokenizer.ggml.pre`` names; ``llama`` is SentencePiece's BPE, ``t5`` its Unigram, ``bert``
WordPiece with BERT's uncased normalizer.

Source: ggml-org/llama.cpp, src/llama-vocab.cpp (kinds of tokens, names of patterns, which
vocabularies look whole pre-tokens up first), convert_hf_to_gguf.py (spelling of WordPiece);
ggml-org/ggml, docs/gguf.md (names of the fields).
"""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Final

import numpy as np

from subword.bpe_models import bpe_from_tokens
from subword.byte_characters import BYTE_CHARACTERS, from_characters
from subword.chat import ChatTemplate
from subword.decoders import WordPiece as WordPieceDecoder
from subword.errors import FormatError
from subword.formats import sentencepiece_model
from subword.formats.gguf_fields import Value, read_fields
from subword.formats.sentencepiece_proto import (
    NormalizerSpec,
    Piece,
    SentencePieceModel,
    TrainerSpec,
)
from subword.models import WordPiece
from subword.normalizers import NAMED_NORMALIZERS
from subword.patterns import resolve_pattern
from subword.pretokens import Bert
from subword.special_tokens import ROLES
from subword.templates import Template, TemplatePart
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["KINDS", "PATTERNS", "ROLE_FIELDS", "WHOLE_FIRST", "WORD", "read"]

Fields = Mapping[str, Value]

PATTERNS: Final = {
    **dict.fromkeys(("gpt-2", "mpt", "olmo", "jais", "phi-2", "exaone"), "gpt2"),
    **dict.fromkeys(
        ("llama3", "llama-v3", "llama-bpe", "dbrx", "smaug-bpe", "chatglm-bpe"), "llama3"
    ),
    **dict.fromkeys(("qwen2", "stablelm2", "deepseek-r1-qwen"), "qwen2"),
    **dict.fromkeys(("gpt-4o", "llama4"), "o200k"),
    **dict.fromkeys(("deepseek-v3",), "deepseek"),
    "tekken": "tekken",
}
"""What ``tokenizer.ggml.pre`` names, by the name it has in ``subword.patterns``."""

WHOLE_FIRST: Final = ("llama3", "llama-v3", "llama-bpe", "tekken", "gpt-4o", "llama4")
KINDS: Final = ("normal", "unknown", "control", "user_defined", "unused", "byte")
_PREFIX: Final = "tokenizer."
_ALPHABET: Final = frozenset(BYTE_CHARACTERS)
WORD: Final = "\u2581"
ROLE_FIELDS: Final = {
    **{role: role for role in ROLES},
    "unk": "unknown",
    "sep": "seperator",
    "pad": "padding",
}
"""What the fields of roles are called; the format spells ``seperator`` so."""


def read(path: str | PathLike[str], *, pattern: str | Sequence[str] | None = None) -> Tokenizer:
    """Read a tokenizer.

    Args:
        path: A GGUF file; its weights are not read.
        pattern: The split pattern of byte-level BPE, where the file's name for it is not known
            here: a name of ``subword.patterns``, or regular expressions.

    Raises:
        FormatError: A damaged file, with its byte; a file without a vocabulary, or of another
            algorithm; a pattern that is not known and not given.
        SubwordError: A vocabulary that no tokenizer can have.
        SourceError: The file cannot be read.
    """
    place = str(path)
    fields = read_fields(path, _PREFIX)
    name = _text(fields, "ggml.model", place)
    make: dict[str, Callable[[], Tokenizer]] = {
        "gpt2": lambda: _bpe(fields, pattern, place),
        "llama": lambda: _sentencepiece(fields, "bpe", place),
        "t5": lambda: _sentencepiece(fields, "unigram", place),
        "bert": lambda: _bert(fields, place),
    }
    if name not in make:
        raise FormatError(
            f"{place}: {_PREFIX}ggml.model is {name!r:.40}; expected {', '.join(make)}"
        )
    if pattern is not None and name != "gpt2":
        raise FormatError(f"{place}: a {name} vocabulary has no split pattern; leave pattern= out")
    tokenizer = make[name]()
    return tokenizer.replace(
        roles=_read_roles(fields, tokenizer.vocab), chat_template=_read_chat(fields, place)
    )


def _read_roles(fields: Fields, vocab: Mapping[TokenId, bytes]) -> dict[str, str]:
    """Give the token of each role; an id that no text has is passed over, as by llama.cpp."""
    roles: dict[str, str] = {}
    for role, name in ROLE_FIELDS.items():
        token_id = fields.get(f"{_PREFIX}ggml.{name}_token_id")
        token = vocab.get(token_id) if isinstance(token_id, int) else None
        if token is not None and token.decode(errors="ignore").encode() == token:
            roles[role] = token.decode()
    return roles


def _read_chat(fields: Fields, place: str) -> ChatTemplate | None:
    names = _strings(fields, "chat_templates", place)
    named = [_decoded(name, f"{place}: {_PREFIX}chat_templates") for name in names]
    templates = {name: _text(fields, f"chat_template.{name}", place) for name in named}
    if f"{_PREFIX}chat_template" in fields:
        templates = {"default": _text(fields, "chat_template", place), **templates}
    return templates.get("default") if templates.keys() <= {"default"} else templates


def _bpe(fields: Fields, pattern: str | Sequence[str] | None, place: str) -> Tokenizer:
    name = _text(fields, "ggml.pre", place)
    if pattern is None:
        if name not in PATTERNS:
            raise FormatError(
                f"{place}: {_PREFIX}ggml.pre is {name!r:.40}, a split pattern that is not known "
                f"here; pass pattern= (known: {', '.join(PATTERNS)})"
            )
        pattern = PATTERNS[name]
    vocab: dict[TokenId, bytes] = {}
    special: dict[str, TokenId] = {}
    for token_id, (text, kind) in enumerate(_tokens(fields, place)):
        if kind in ("control", "user_defined", "unknown"):
            special[text] = token_id
        elif kind != "unused":
            vocab[token_id] = from_characters(text) if _ALPHABET.issuperset(text) else text.encode()
    merges = []
    for rank, merge in enumerate(_list(fields, "ggml.merges", place)):
        parts = _decoded(merge, f"{place}: merge {rank}").split(" ")
        if len(parts) != 2:
            raise FormatError(f"{place}: merge {rank}: expected two tokens, got {merge!r:.60}")
        merges.append((from_characters(parts[0]), from_characters(parts[1])))
    model = bpe_from_tokens(vocab, merges)
    if name in WHOLE_FIRST:
        model = type(model)(model.vocab, model.merges, whole_first=True)
    tokenizer = Tokenizer(model, special, resolve_pattern(pattern))
    return tokenizer.replace(template=_template(fields, tokenizer.special_tokens, place))


def _sentencepiece(fields: Fields, kind: Any, place: str) -> Tokenizer:
    texts = _tokens(fields, place)
    scores = fields.get(f"{_PREFIX}ggml.scores")
    if not isinstance(scores, np.ndarray) or scores.shape != (len(texts),):
        raise FormatError(f"{place}: {_PREFIX}ggml.scores: expected a number for each token")
    if not np.isfinite(scores).all():
        raise FormatError(f"{place}: {_PREFIX}ggml.scores: a score is no finite number")
    is_t5 = kind == "unigram"
    charsmap = fields.get(f"{_PREFIX}ggml.precompiled_charsmap", np.empty(0, np.uint8))
    if not isinstance(charsmap, np.ndarray):
        raise FormatError(f"{place}: {_PREFIX}ggml.precompiled_charsmap: expected bytes")
    unk_id = fields.get(f"{_PREFIX}ggml.unknown_token_id", 0)
    pieces = tuple(
        Piece(text, float(score), _piece_kind(of, is_unknown=at == unk_id))
        for at, ((text, of), score) in enumerate(zip(texts, scores, strict=True))
    )
    model = SentencePieceModel(
        pieces=pieces,
        trainer=TrainerSpec(
            model_type=kind, byte_fallback=any(piece.type == "byte" for piece in pieces)
        ),
        normalizer=NormalizerSpec(
            precompiled_charsmap=charsmap.astype(np.uint8).tobytes(),
            add_dummy_prefix=_flag(fields, "ggml.add_space_prefix", default=True, place=place),
            remove_extra_whitespaces=_flag(
                fields, "ggml.remove_extra_whitespaces", default=is_t5, place=place
            ),
        ),
        denormalizer=None,
    )
    for _, message in sentencepiece_model.faults(model):
        raise FormatError(f"{place}: {message}")
    tokenizer = sentencepiece_model.tokenizer_of(model)
    return tokenizer.replace(template=_template(fields, tokenizer.special_tokens, place))


def _piece_kind(kind: Any, *, is_unknown: bool) -> Any:
    """Let the file's unknown id be the unknown piece, and none besides.

    It may be called a control piece, and what fills a vocabulary up to a round size unknown.
    """
    if is_unknown:
        return "unknown"
    return "control" if kind == "unknown" else kind


def _bert(fields: Fields, place: str) -> Tokenizer:
    names = ("unknown", "cls", "bos", "seperator", "padding", "mask")
    roles = {fields.get(f"{_PREFIX}ggml.{name}_token_id"): name for name in names}
    vocab: dict[TokenId, bytes] = {}
    special: dict[str, TokenId] = {}
    for token_id, (text, kind) in enumerate(_tokens(fields, place)):
        if kind in ("control", "unknown") or token_id in roles:
            special[text] = token_id
        spelled = text.removeprefix(WORD)
        if spelled == text and text not in special and text[:1] + text[-1:] != "[]":
            spelled = f"##{text}"
        vocab[token_id] = spelled.encode()
    tokenizer = Tokenizer(
        WordPiece(vocab, _role(fields, "unknown", vocab, place), "##"),
        special,
        normalizer=NAMED_NORMALIZERS["bert"],
        pretokenizer=(Bert(),),
        decoder=(WordPieceDecoder("##", cleanup=False),),
    )
    # Files since gguf 0.17 have [CLS] as the token that begins a text.
    first = "cls" if f"{_PREFIX}ggml.cls_token_id" in fields else "bos"
    last = _role(fields, "seperator", vocab, place)
    single = (
        TemplatePart(_role(fields, first, vocab, place)),
        TemplatePart(),
        TemplatePart(last),
    )
    # The file does not say how two texts are joined: as BERT's are, whose vocabulary it is.
    pair = (*single, TemplatePart(None, 1, 1), TemplatePart(last, 0, 1))
    return tokenizer.replace(template=Template(single, pair))


def _role(fields: Fields, role: str, vocab: Mapping[TokenId, bytes], place: str) -> str:
    """Give the token of a role; the format spells ``seperator`` so."""
    token_id = fields.get(f"{_PREFIX}ggml.{role}_token_id")
    if not isinstance(token_id, int) or token_id not in vocab:
        raise FormatError(f"{place}: {_PREFIX}ggml.{role}_token_id: not an id ({token_id!r:.40})")
    return vocab[token_id].decode()


def _template(fields: Fields, special: Mapping[str, TokenId], place: str) -> Template:
    texts = {token_id: text for text, token_id in special.items()}

    def parts(role: str) -> tuple[TemplatePart, ...]:
        if not _flag(fields, f"ggml.add_{role}_token", default=False, place=place):
            return ()
        token_id = fields.get(f"{_PREFIX}ggml.{role}_token_id")
        if not isinstance(token_id, int) or token_id not in texts:
            raise FormatError(
                f"{place}: {_PREFIX}ggml.{role}_token_id is {token_id!r:.40}; expected a special "
                "token's id, since the file says that it is added"
            )
        return (TemplatePart(texts[token_id]),)

    before, after = parts("bos"), parts("eos")
    return Template((*before, TemplatePart(), *after)) if before or after else Template()


def _tokens(fields: Fields, place: str) -> list[tuple[str, Any]]:
    """Give the spelling and the kind of each id."""
    texts = _list(fields, "ggml.tokens", place)
    kinds = fields.get(f"{_PREFIX}ggml.token_type")
    if kinds is None:
        kinds = np.ones(len(texts), np.int32)
    if not isinstance(kinds, np.ndarray) or kinds.shape != (len(texts),):
        raise FormatError(f"{place}: {_PREFIX}ggml.token_type: expected a number for each token")
    found = []
    for token_id, (text, kind) in enumerate(zip(texts, kinds.tolist(), strict=True)):
        if kind not in range(1, len(KINDS) + 1):
            raise FormatError(f"{place}: token {token_id} has type {kind}; expected 1 to 6")
        found.append((_decoded(text, f"{place}: token {token_id}"), KINDS[int(kind) - 1]))
    return found


def _list(fields: Fields, name: str, place: str) -> list[bytes]:
    value = _strings(fields, name, place)
    if not value:
        raise FormatError(f"{place}: {_PREFIX}{name}: expected a list of strings, which is missing")
    return value


def _strings(fields: Fields, name: str, place: str) -> list[bytes]:
    value = fields.get(_PREFIX + name, [])
    if not isinstance(value, list):
        raise FormatError(f"{place}: {_PREFIX}{name}: expected a list of strings")
    return value


def _text(fields: Fields, name: str, place: str) -> str:
    value = fields.get(_PREFIX + name)
    if not isinstance(value, bytes):
        raise FormatError(f"{place}: {_PREFIX}{name}: expected a string, got {value!r:.40}")
    return _decoded(value, f"{place}: {_PREFIX}{name}")


def _flag(fields: Fields, name: str, *, default: bool, place: str) -> bool:
    value = fields.get(_PREFIX + name, default)
    if not isinstance(value, bool):
        raise FormatError(f"{place}: {_PREFIX}{name}: expected true or false, got {value!r:.40}")
    return value


def _decoded(text: bytes, place: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{place}: {text!r:.60} is not UTF-8") from error
