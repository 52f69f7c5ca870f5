"""Vocabularies that were published as files: BPE of all kinds, WordPiece and Unigram.

A ``tokenizer.json`` is taken without its truncation, padding and template, which some libraries
always apply. A SentencePiece BPE ``.model`` also becomes a ``tokenizer.json``: see
``llama_json``.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpora import CACHE, PROJECT, shared_folder, unpacked
from benchmarks.vocabularies import VOCABULARIES, VocabularyFiles, build_vocabulary, write_json

__all__ = ["PUBLISHED", "VOCABULARY_NAMES", "Published", "files_of", "vocabulary_files"]

LEFT_OUT = ("truncation", "padding", "post_processor")


@dataclass(frozen=True, slots=True)
class Published:
    """A vocabulary of the shared data.

    Attributes:
        shared: Path of its file under the shared data.
        files: What libraries can load it from; the first is the published one.
    """

    shared: str
    files: tuple[str, ...]


PUBLISHED = {
    "bert_uncased": Published("vocab/bert_uncased/tokenizer.json.zst", ("tokenizer.json",)),
    "qwen3": Published("vocab/qwen3_hf/tokenizer.json.zst", ("tokenizer.json",)),
    "deepseek_v3": Published("vocab/deepseek_v3/tokenizer.json.zst", ("tokenizer.json",)),
    "xlm_roberta": Published("vocab/xlm_roberta/tokenizer.json.zst", ("tokenizer.json",)),
    "albert_sp": Published("vocab/albert_sp/spiece.model.zst", ("model",)),
    "mistral_v3": Published("vocab/mistral_v3/tokenizer.model.zst", ("model", "tokenizer.json")),
}
VOCABULARY_NAMES = (*VOCABULARIES, *PUBLISHED)


def files_of(name: str) -> tuple[str, ...]:
    """Name the kinds of files a vocabulary is there as.

    Raises:
        KeyError: No such vocabulary.

    Examples:
        >>> files_of("gpt2"), files_of("albert_sp")
        (('tiktoken', 'tokenizer.json'), ('model',))
    """
    if name in VOCABULARIES:
        return ("tiktoken", "tokenizer.json")
    return PUBLISHED[name].files


def vocabulary_files(name: str, python: Path) -> VocabularyFiles:
    """Give the files of any vocabulary, made the first time.

    Args:
        name: One of ``VOCABULARY_NAMES``.
        python: The peers' interpreter, which converts and trains.

    Raises:
        KeyError: The name is not known.
        FileNotFoundError: It is of the shared data, and there is none.
    """
    if name in VOCABULARIES:
        return build_vocabulary(name, python)
    published, folder, shared = PUBLISHED[name], CACHE / "vocabularies", shared_folder()
    json_file, model = folder / f"{name}.json", folder / f"{name}.model"
    has_model, has_json = ("model" in published.files, "tokenizer.json" in published.files)
    if not all(file.is_file() for file in (model,) * has_model + (json_file,) * has_json):
        if shared is None:
            raise FileNotFoundError(f"{published.shared} is of the shared data; there is none")
        print(f"unpacking vocabulary {name}", file=sys.stderr)
        folder.mkdir(parents=True, exist_ok=True)
        raw = unpacked(shared / published.shared)
        if has_model:
            model.write_bytes(raw)
        if has_model and has_json:
            partial = json_file.with_suffix(".partial")
            command = [str(python), "-m", "benchmarks.llama_json", str(model), str(partial)]
            subprocess.run(command, cwd=PROJECT, check=True)
            partial.replace(json_file)
        elif has_json:
            write_json(json_file, json.loads(raw) | dict.fromkeys(LEFT_OUT))
    paths = [
        str(path) if there else "" for path, there in ((json_file, has_json), (model, has_model))
    ]
    return VocabularyFiles(name, "", "", paths[0], "", {}, paths[1])
