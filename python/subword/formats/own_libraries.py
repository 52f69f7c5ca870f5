"""The library of each format: what it makes of a file, where it is installed.

Source: huggingface/tokenizers 0.23.3, openai/tiktoken 0.14.0, google/sentencepiece 0.2.3,
mistral-common 1.13.1 and gguf 0.19, for how each is called.
"""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from subword.formats.gguf_fields import read_fields
from subword.normalizers import Bert
from subword.tokenizer import Special, Tokenizer

__all__ = ["OwnLibrary", "own_library"]

LIBRARIES: Final = {
    "tokenizer_json": ("tokenizers", "tokenizers"),
    "vocab_merges": ("tokenizers", "tokenizers"),
    "bert_vocab": ("tokenizers", "tokenizers"),
    "tiktoken": ("tiktoken", "tiktoken"),
    "sentencepiece": ("sentencepiece", "sentencepiece"),
    "tekken": ("mistral_common.tokens.tokenizers.tekken", "mistral-common"),
    "gguf": ("gguf", "gguf"),
}
"""Module and package of the library that reads each format; the others have none that gives ids."""


@dataclass(frozen=True, slots=True)
class OwnLibrary:
    """What a library makes of a file.

    Attributes:
        name: The package and its version.
        encode: Text to ids; None for a library that reads vocabularies and encodes nothing.
        special: How ``Tokenizer.encode`` takes special tokens where it gives the same.
        n_entries: Entries of the vocabulary that were compared in place of ids.
        fault: What differs in them; empty for nothing.
    """

    name: str
    encode: Callable[[str], Sequence[int]] | None = None
    special: Special = "recognize"
    n_entries: int = 0
    fault: str = ""


def own_library(format: str, path: Path, tokenizer: Tokenizer) -> OwnLibrary | str:  # noqa: A002
    """Load a file with the library it is for.

    Args:
        format: A name of ``FORMATS``.
        path: What was written.
        tokenizer: What was written from; what the file does not hold is taken from it.

    Returns:
        The library; or the reason why the file is not read by one.

    Raises:
        Exception: Whatever the library raises: it refuses the file.
    """
    if format not in LIBRARIES:
        return f"no library besides subword gives ids for {format}"
    module_name, package = LIBRARIES[format]
    try:
        module = import_module(module_name)
    except ImportError:
        return f"{package} is not installed"
    name = f"{package} {version(package)}"
    match format:
        case "tiktoken":
            return _tiktoken(module, name, path, tokenizer)
        case "sentencepiece":
            processor = module.SentencePieceProcessor(model_file=str(path))
            return OwnLibrary(name, processor.encode)
        case "tekken":
            tekkenizer = module.Tekkenizer.from_file(path)
            return OwnLibrary(
                name, lambda text: tekkenizer.encode(text, bos=False, eos=False), "as_text"
            )
        case "gguf":
            return _gguf(module, name, path)
        case "vocab_merges":
            return _hugging_face(name, _vocab_merges(module, path, tokenizer))
        case "bert_vocab":
            return _hugging_face(name, _bert(path, tokenizer))
    return _hugging_face(name, module.Tokenizer.from_file(str(path)))


def _hugging_face(name: str, peer: Any) -> OwnLibrary:
    peer.no_truncation()
    peer.no_padding()
    return OwnLibrary(name, lambda text: peer.encode(text, add_special_tokens=False).ids)


def _vocab_merges(module: Any, path: Path, tokenizer: Tokenizer) -> Any:
    model = module.models.BPE.from_file(str(path / "vocab.json"), str(path / "merges.txt"))
    peer = module.Tokenizer(model)
    peer.pre_tokenizer = module.pre_tokenizers.ByteLevel(add_prefix_space=False)
    peer.add_special_tokens(
        [module.AddedToken(token, normalized=False) for token in tokenizer.special_tokens]
    )
    return peer


def _bert(path: Path, tokenizer: Tokenizer) -> Any:
    module = import_module("tokenizers.implementations")
    step = next((step for step in tokenizer.normalizer if isinstance(step, Bert)), None)
    step = step or Bert(False, False, False, False)
    return module.BertWordPieceTokenizer(
        str(path),
        clean_text=step.clean_text,
        handle_chinese_chars=step.handle_chinese_chars,
        strip_accents=step.strip_accents,
        lowercase=step.lowercase,
    )


def _tiktoken(module: Any, name: str, path: Path, tokenizer: Tokenizer) -> OwnLibrary | str:
    if len(tokenizer.pattern) != 1:
        return f"tiktoken takes one split pattern, and there are {len(tokenizer.pattern)}"
    # tiktoken's own reader keeps files in a cache by their path, and would give an older one.
    lines = (line.split() for line in path.read_bytes().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    encoding = module.Encoding(
        path.stem,
        pat_str=tokenizer.pattern[0],
        mergeable_ranks=ranks,
        special_tokens=dict(tokenizer.special_tokens),
    )
    return OwnLibrary(name, lambda text: encoding.encode(text, allowed_special="all"))


def _gguf(module: Any, name: str, path: Path) -> OwnLibrary:
    """Compare what the file holds as both read it: the package encodes nothing."""
    ours, theirs = read_fields(path, "tokenizer."), module.GGUFReader(path).fields
    n_entries = 0
    for key, value in ours.items():
        if key not in theirs:
            return OwnLibrary(name, fault=f"gguf does not find {key}")
        known = theirs[key].contents()
        n_entries += len(value) if isinstance(value, list | np.ndarray) else 0
        if _plain(value) != known:
            return OwnLibrary(name, fault=f"gguf reads {key} otherwise")
    return OwnLibrary(name, n_entries=n_entries)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list):
        return [item.decode() for item in value]
    return value.decode() if isinstance(value, bytes) else value
