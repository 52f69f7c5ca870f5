r"""Make the vocabulary files the peers load: ``NAME.tiktoken`` and a ``tokenizer.json`` from it.

A rank file has no merges, a ``tokenizer.json`` needs them. The merge that makes a token is
found by running BPE on the token's bytes with the lower ranks alone: two parts are left.

Source: openai/tiktoken 0.14.0, ``tiktoken_ext/openai_public.py`` (patterns, special tokens);
huggingface/tokenizers 0.23.3, ``pre_tokenizers/byte_level.rs`` (bytes as characters).
"""

import base64
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora import CACHE, PROJECT, STAND_IN, build_corpus, shared_folder, unpacked

__all__ = ["VOCABULARIES", "VocabularyFiles", "build_vocabulary", "write_json"]

# As tiktoken writes them (possessive quantifiers, fast in its engine), and as the
# tokenizer.json files of the same models do; both describe the same language.
CL100K_RANK_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
CL100K_JSON_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
O200K_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
GPT2_PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"


STAND_IN_SIZE = 32_000


@dataclass(frozen=True, slots=True)
class Recipe:
    """Where a vocabulary is from and what its rank file does not say.

    Attributes:
        shared: Path of the rank file under the shared data; empty for the stand-in.
        pattern_name: What libraries that name patterns call this one.
        rank_pattern: Split pattern for libraries that take one beside the ranks.
        json_pattern: Split pattern for ``tokenizer.json``; None for ByteLevel's own.
        end_of_text: Id of ``<|endoftext|>``.
    """

    shared: str
    pattern_name: str
    rank_pattern: str
    json_pattern: str | None
    end_of_text: int


VOCABULARIES = {
    "gpt2": Recipe("vocab/r50k_base/r50k_base.tiktoken.zst", "gpt2", GPT2_PATTERN, None, 50_256),
    "cl100k": Recipe(
        "vocab/cl100k_base/cl100k_base.tiktoken.zst",
        "cl100k",
        CL100K_RANK_PATTERN,
        CL100K_JSON_PATTERN,
        100_257,
    ),
    "o200k": Recipe(
        "vocab/o200k_base/o200k_base.tiktoken.zst", "o200k", O200K_PATTERN, O200K_PATTERN, 199_999
    ),
    # Llama 3's pattern with cl100k's tokens, the greater part of its vocabulary.
    "llama3": Recipe(
        "vocab/cl100k_base/cl100k_base.tiktoken.zst",
        "llama3",
        LLAMA3_PATTERN,
        LLAMA3_PATTERN,
        100_257,
    ),
    STAND_IN: Recipe("", "gpt2", GPT2_PATTERN, None, STAND_IN_SIZE - 1),
}


@dataclass(frozen=True, slots=True)
class VocabularyFiles:
    """A vocabulary as the adapters get it.

    Attributes:
        name: Of the vocabulary.
        pattern_name: Of its pattern, in libraries that name patterns.
        ranks: Path of the ``.tiktoken`` file.
        tokenizer_json: Path of the ``tokenizer.json``.
        pattern: The regular expression to give beside the rank file.
        special_tokens: Their ids by spelling.
        model: Path of the sentencepiece ``.model``. A file that there is not is an empty path.
    """

    name: str
    pattern_name: str
    ranks: str
    tokenizer_json: str
    pattern: str
    special_tokens: dict[str, int]
    model: str = ""


def build_vocabulary(name: str, python: Path) -> VocabularyFiles:
    """Give the files of a vocabulary, made the first time.

    Args:
        name: One of ``VOCABULARIES``.
        python: The peers' interpreter, which trains the stand-in.

    Raises:
        KeyError: The name is not in ``VOCABULARIES``.
        FileNotFoundError: It is of the shared data, and there is none.
    """
    recipe = VOCABULARIES[name]
    folder = CACHE / "vocabularies"
    rank_file, json_file = folder / f"{name}.tiktoken", folder / f"{name}.json"
    special_tokens = {"<|endoftext|>": recipe.end_of_text}
    if not json_file.is_file():
        print(f"building vocabulary {name}", file=sys.stderr)
        folder.mkdir(parents=True, exist_ok=True)
        if recipe.shared:
            copy_shared(recipe.shared, rank_file)
        else:
            train_stand_in(rank_file, python)
        ranks = read_ranks(rank_file)
        write_json(json_file, tokenizer_json(ranks, recipe.json_pattern, special_tokens))
    return VocabularyFiles(
        name,
        recipe.pattern_name,
        str(rank_file),
        str(json_file),
        recipe.rank_pattern,
        special_tokens,
    )


def copy_shared(path: str, rank_file: Path) -> None:
    """Unpack a rank file of the shared data."""
    shared = shared_folder()
    if shared is None:
        raise FileNotFoundError(f"{path} is of the shared data, and there is none")
    rank_file.write_bytes(unpacked(shared / path))


def train_stand_in(rank_file: Path, python: Path) -> None:
    """Train the vocabulary that needs no shared data."""
    documents = str(build_corpus(STAND_IN).documents)
    command = [str(python), "-m", "benchmarks.stand_in", documents, str(STAND_IN_SIZE)]
    subprocess.run([*command, str(rank_file)], cwd=PROJECT, check=True)


def read_ranks(path: Path) -> dict[bytes, int]:
    """Read a rank file: one ``base64(token) rank`` a line."""
    ranks: dict[bytes, int] = {}
    for line in path.read_bytes().splitlines():
        if line:
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    return ranks


def merges_of(ranks: dict[bytes, int]) -> list[tuple[bytes, bytes]]:
    """Give the merge that makes each token of two or more bytes, in the order of the ranks.

    Raises:
        ValueError: A token that the lower ranks do not bring down to two parts.

    Examples:
        >>> merges_of({b"a": 0, b"b": 1, b"ab": 2, b"aab": 3})
        [(b'a', b'b'), (b'a', b'ab')]
    """
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(token) < 2:
            continue
        parts = split_below(token, ranks, rank)
        if len(parts) != 2:
            raise ValueError(f"token {token!r} of rank {rank} is no merge of two lower tokens")
        merges.append((parts[0], parts[1]))
    return merges


def split_below(token: bytes, ranks: dict[bytes, int], limit: int) -> list[bytes]:
    """Run BPE on a token with the ranks below a limit alone."""
    parts = [token[i : i + 1] for i in range(len(token))]
    while len(parts) > 2:
        best, place = limit, -1
        for i in range(len(parts) - 1):
            rank = ranks.get(parts[i] + parts[i + 1], limit)
            if rank < best:
                best, place = rank, i
        if place < 0:
            break
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return parts


def byte_characters() -> list[str]:
    """Give the printable character that stands for each byte in ``tokenizer.json`` files."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


def tokenizer_json(
    ranks: dict[bytes, int], pattern: str | None, special_tokens: dict[str, int]
) -> dict[str, object]:
    """Give the content of a ``tokenizer.json`` with the tokens and merges of a rank file."""
    characters = byte_characters()

    def spelled(token: bytes) -> str:
        return "".join(characters[byte] for byte in token)

    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    split: dict[str, object] = {**byte_level, "use_regex": True}
    if pattern is not None:
        split = {
            "type": "Sequence",
            "pretokenizers": [
                {
                    "type": "Split",
                    "pattern": {"Regex": pattern},
                    "behavior": "Isolated",
                    "invert": False,
                },
                {**byte_level, "use_regex": False},
            ],
        }
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    added = [
        {"id": token_id, "content": token, **flags, "special": True}
        for token, token_id in special_tokens.items()
    ]
    vocab = {spelled(token): rank for token, rank in ranks.items()} | special_tokens
    used = set(vocab.values())
    for token_id in range(max(used)):  # some readers refuse a vocabulary with gaps
        if token_id not in used:
            vocab[f"<|unused_{token_id}|>"] = token_id
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": split,
        "post_processor": None,
        "decoder": {**byte_level, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": pattern is not None,
            "vocab": vocab,
            "merges": [f"{spelled(left)} {spelled(right)}" for left, right in merges_of(ranks)],
        },
    }


def write_json(path: Path, content: dict[str, object]) -> None:
    """Write a JSON file whole or not at all."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    partial.replace(path)
