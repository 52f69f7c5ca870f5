"""Seeds for every reader, made of small tokenizers, and what is tried with a mutated file."""

import base64
import contextlib
import gzip
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import subword
from subword import decoders, normalizers, pretokens
from subword.errors import SubwordError
from subword.formats import load, save
from subword.formats.sentencepiece_proto import NormalizerSpec
from subword.models import Bpe, CharacterBpe, Piece, Pieces, Unigram, Words
from subword.padding import Padding, Truncation
from subword.special_tokens import TokenFlags
from subword.templates import Template
from subword.tokenizer import Tokenizer

__all__ = ["READERS", "Reader", "run"]

TEXT = "the cat in the hat, naïve 你好 12\n it's " * 9
TEXTS = ("", "the cat<end> 12 你好\n\n", "\u0301[CLS] a\x00b ab</w> ▁a", b"\xff\xc3 \xe4\xb8")
END = "<end>"


@dataclass(frozen=True)
class Reader:
    """A reader of files.

    Attributes:
        name: The name of the mutated file.
        seeds: Contents that it reads.
        options: What ``load`` is given besides.
        beside: Files that stand beside the mutated one.
        format: The format to name; None lets it be told.
        path: What is loaded, below the folder; the file by default.
    """

    name: str
    seeds: Callable[[], Iterator[bytes]]
    options: Mapping[str, Any] = field(default_factory=dict)
    beside: Mapping[str, bytes] = field(default_factory=dict)
    format: str | None = None
    path: str | None = None


def run(reader: Reader, data: bytes, folder: Path) -> str:
    """Read a file, and use what it holds; give what was refused, or nothing.

    Raises:
        Exception: Anything but an error of subword, which is a fault.
    """
    for name, content in {**reader.beside, reader.name: data}.items():
        (folder / name).write_bytes(content)
    path = folder / (reader.name if reader.path is None else reader.path)
    options = {
        name: folder / value if isinstance(value, Path) else value
        for name, value in reader.options.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tokenizer = load(path, reader.format, **options)
        except SubwordError as error:
            return _said(error)
        try:
            _used(tokenizer, folder)
        except SubwordError as error:
            return f"used: {_said(error)}"
    return ""


def _used(tokenizer: Tokenizer, folder: Path) -> None:
    for text in TEXTS:
        try:
            ids = tokenizer.encode(text)
        except SubwordError:
            continue
        assert list(tokenizer.encode_iterable([text[:3], text[3:]])) == ids or _cut_character(text)
        tokenizer.decode_bytes(ids)
        tokenizer.encode_spans(text)
    if tokenizer.chat_template is not None:
        with contextlib.suppress(SubwordError):
            tokenizer.apply_chat_template([{"role": "user", "content": "a"}], tokenize=False)
    save(tokenizer, folder / "again.yaml")
    again = load(folder / "again.yaml")
    assert again == tokenizer
    assert again.roles == tokenizer.roles
    assert again.chat_template == tokenizer.chat_template


def _cut_character(text: str | bytes) -> bool:
    # Parts of bytes are cut anywhere; parts of a ``str`` are whole characters.
    return isinstance(text, bytes)


def _said(error: SubwordError) -> str:
    """Give what an error says, without what differs from file to file."""
    letters = [c if c.isalpha() else " " for c in str(error).split(": ", 1)[-1]]
    return f"{type(error).__name__}: {''.join(letters)[:40]}"


def _file(tokenizer: Tokenizer, format_: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        save(tokenizer, Path(folder) / "made", format_)
        return (Path(folder) / "made").read_bytes()


def _bpe() -> Tokenizer:
    vocab = [bytes([byte]) for byte in b"abcdehit \n\xe4\xbd\xa0"] + [b"th", b"the", b" the", b"at"]
    merges = [(b"t", b"h"), (b"th", b"e"), (b" ", b"the"), (b"a", b"t")]
    made = subword.BPETokenizer(dict(enumerate(vocab)), merges, [END])
    return made.replace(
        template=Template.parse(f"{END} A", f"{END} A {END}:1 B:1"),
        truncation=Truncation(9),
        padding=Padding(END, 17, length=4),
        roles={"eos": END},
        chat_template="{% for m in messages %}{{ m.role }}: {{ m.content | trim }}\n{% endfor %}",
    )


def _plain() -> Tokenizer:
    return subword.train_bpe([TEXT], 262, [END])


def _words() -> Tokenizer:
    return Tokenizer(
        Words({0: b"[UNK]", 1: b"cat", 2: b"the"}),
        {"[UNK]": 0},
        normalizer=(
            *(normalizers.Nfd(), normalizers.StripAccents(), normalizers.Lowercase()),
            normalizers.Replace("a+", "a", regex=True),
        ),
        pretokenizer=(
            pretokens.Punctuation("removed"),
            pretokens.Split("t|c", behavior="contiguous"),
        ),
        decoder=(decoders.Replace("a", "b"), decoders.Strip(" ", 1, 1)),
    )


def _character_bpe() -> Tokenizer:
    tokens = ["<unk>", "a", "b", "▁", *(f"<0x{byte:02X}>" for byte in range(256)), "ab", "▁ab"]
    model = CharacterBpe(
        {at: token.encode() for at, token in enumerate(tokens)},
        ((1, 2), (3, 260)),
        "<unk>",
        byte_fallback=True,
    )
    return Tokenizer(
        model,
        {"<unk>": 0},
        normalizer=(normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")),
        decoder=(decoders.ByteFallback(), decoders.Fuse(), decoders.Replace("▁", " ")),
    )


def _wordpiece() -> Tokenizer:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "##s", "cat", "##at", "a"]
    made = subword.WordPieceTokenizer(tokens, normalizer="bert")
    return made.replace(decoder=(decoders.WordPiece("##", True),))


def _pieces(kind: str) -> Tokenizer:
    listed = [
        *(("<unk>", 0.0, "unknown"), ("<s>", 0.0, "control"), ("▁", -1.0, "normal")),
        *(("a", -2.0, "normal"), ("b", -3.0, "normal"), ("▁a", -1.5, "normal")),
        *(("ab", -1.2, "user_defined"), ("t", -4.0, "unused")),
    ]
    pieces = tuple(Piece(text.encode(), score, of) for text, score, of in listed)
    model = Unigram(pieces) if kind == "unigram" else Pieces("bpe", pieces)
    flags = TokenFlags(control=True)
    return Tokenizer(
        model,
        {"<unk>": 0, "<s>": 1},
        normalizer=(normalizers.SentencePieceSpaces(),),
        token_flags={"<unk>": flags, "<s>": flags},
        template=Template.parse("<s> A"),
        decoder=(decoders.SentencePiece(frozenset(["<s>"]), strip_all=True),),
    )


def _hf_unigram() -> Tokenizer:
    made = _pieces("unigram")
    return made.replace(
        special_tokens={"<s>": 1},
        token_flags={},
        normalizer=(normalizers.Nfkc(),),
        pretokenizer=(pretokens.Metaspace(),),
        decoder=(decoders.Metaspace(),),
    )


def _tekken() -> Tokenizer:
    model = Bpe({at + 2: bytes([at]) for at in range(256)}, (), whole_first=True)
    flags = {"<s>": TokenFlags(control=True)}
    return Tokenizer(model, {"<s>": 0, "[X]": 1}, token_flags=flags).replace(pattern="gpt2")


def _tokenizer_jsons() -> Iterator[bytes]:
    for made in (_bpe, _words, _character_bpe, _hf_unigram):
        yield _file(made(), "tokenizer_json")
    yield _file(_wordpiece(), "tokenizer_json")


def _yamls() -> Iterator[bytes]:
    for made in (_bpe, _words, _hf_unigram, _wordpiece):
        yield _file(made(), "yaml")
    yield _file(_pieces("bpe"), "yaml")


def _ggufs() -> Iterator[bytes]:
    cased = _wordpiece().replace(decoder=(decoders.WordPiece("##", cleanup=False),))
    for made in (cased, _pieces("bpe"), _pieces("unigram"), _plain()):
        yield _file(made, "gguf")


_VOCAB = json.dumps({token: at for at, token in enumerate(["a", "b", "ab", "Ġ", "Ġab"])}).encode()
_MERGES = "#version: 0.2\na b\nĠ ab\n".encode()
_CODES = "#version: 0.2\na b\nab c</w>\né t</w>\n".encode()
_FAST = b"a b 9\nab c</w> 4\n"
_LISTED = b"a@@ 9\nb 7\nabc 3\n"
_RANKS = (
    b"".join(base64.b64encode(bytes([at])) + b" %d\n" % at for at in range(256)) + b"YWI= 256\n"
)
_CONFIG = json.dumps(
    {
        "bos_token": {"content": END, "lstrip": False},
        "eos_token": END,
        "chat_template": [{"name": "default", "template": "{{ messages }}"}],
    }
).encode()
_TEMPLATES = (
    "{% for m in messages %}{{ m.role }}: {{ m.content | trim }}\n{% endfor %}",
    "{% macro a(n) %}{{ n }}{% if n %}{{ a(n - 1) }}{% endif %}{% endmacro %}{{ a(3) }}",
    "{% set ns = namespace(x='ab') %}{% for i in range(9) %}{% set ns.x = ns.x * 2 %}{% endfor %}"
    "{{ ns.x | length }}{{ messages | tojson(indent=2) }}{{ raise_exception('no') }}",
    "{%- if messages[0]['role'] == 'user' -%}{{ '%s' % messages[0].content }}{%- endif -%}"
    "{{ messages | map(attribute='role') | join(', ') }}{{ strftime_now('%Y') }}",
)


def _once(*contents: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: iter(contents)


def _saved(format_: str, *made: Callable[[], Tokenizer]) -> Callable[[], Iterator[bytes]]:
    return lambda: (_file(make(), format_) for make in made)


_HAT = _file(_bpe(), "tokenizer_json")
READERS: Mapping[str, Reader] = {
    "tokenizer_json": Reader("tokenizer.json", _tokenizer_jsons),
    "tokenizer_config": Reader(
        "tokenizer_config.json", _once(_CONFIG), beside={"tokenizer.json": _HAT}, path="."
    ),
    "chat_template": Reader(
        "chat_template.jinja",
        _once(*(text.encode() for text in _TEMPLATES)),
        beside={"tokenizer.json": _HAT},
        path=".",
    ),
    "vocab_json": Reader("vocab.json", _once(_VOCAB), beside={"merges.txt": _MERGES}),
    "merges_txt": Reader(
        "merges.txt", _once(_MERGES), beside={"vocab.json": _VOCAB}, path="vocab.json"
    ),
    "yaml": Reader("t.yaml", _yamls),
    "tiktoken": Reader("t.tiktoken", _once(_RANKS), {"pattern": "gpt2", "special_tokens": [END]}),
    "bert_vocab": Reader("vocab.txt", _saved("bert_vocab", _wordpiece), {"lowercase": True}),
    "sentencepiece": Reader(
        "t.model",
        _saved("sentencepiece", lambda: _pieces("unigram"), lambda: _pieces("bpe")),
        format="sentencepiece",
    ),
    "sentencepiece_vocab": Reader(
        "t.vocab",
        _once("<unk>\t0\n▁\t-1\n▁a\t-2.5\nb\t-3e-2\n".encode()),
        {"model_type": "unigram", "normalizer": NormalizerSpec()},
    ),
    "tekken": Reader("tekken.json", _saved("tekken", _tekken)),
    "clip": Reader(
        "clip.txt.gz",
        _once(b"heading\na b\nab c</w>\n", gzip.compress(b"heading\na b\n")),
        format="clip",
    ),
    "subword_nmt": Reader("codes", _once(_CODES, _FAST), format="subword_nmt"),
    "subword_nmt_vocabulary": Reader(
        "listed",
        _once(_LISTED),
        {"vocabulary": Path("listed")},
        beside={"codes": _CODES},
        format="subword_nmt",
        path="codes",
    ),
    "gguf": Reader("t.gguf", _ggufs),
    "told": Reader("file", lambda: (seed for reader in _told() for seed in reader.seeds())),
}
"""Every reader of files; ``told`` leaves the format to be told by the content."""


def _told() -> list[Reader]:
    return [reader for name, reader in READERS.items() if name not in ("told", "gguf")]
