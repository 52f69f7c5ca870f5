"""Convert real vocabularies to every format, and compare ids on corpora: ``make check-formats``.

Each vocabulary of the shared folder goes through ``subword.convert`` to each format: what is
written is read back by subword and by the format's own library, and has to give the same ids on
ten megabytes of mixed text. A format that cannot hold a vocabulary has to say why.
``python tests/check_formats.py [NAME …] [--megabytes N] [--format F …]`` checks some.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard

import subword
from subword.formats import FORMATS

SHARED = Path(os.environ.get("SUBWORD_SHARED", Path(__file__).parents[2] / "shared"))
# A golden file's name, what it was made from in the folder of vocabularies, and options of load.
SOURCES: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2_hf": ("gpt2_hf", {}),
    "gptoss_hf": ("gptoss_hf", {}),
    "qwen3_hf": ("qwen3_hf", {}),
    "deepseek_v3": ("deepseek_v3", {}),
    "xlnet_hf": ("xlnet_hf", {}),
    "xlm_roberta": ("xlm_roberta", {}),
    "bert_uncased": ("bert_uncased/vocab.txt", {"lowercase": True}),
    "bert_cased": ("bert_cased/vocab.txt", {"lowercase": False}),
    "bert_chinese": ("bert_chinese/vocab.txt", {"lowercase": False}),
    "r50k_base": ("r50k_base/r50k_base.tiktoken", {}),
    "p50k_base": ("p50k_base/p50k_base.tiktoken", {}),
    "cl100k_base": ("cl100k_base/cl100k_base.tiktoken", {}),
    "o200k_base": ("o200k_base/o200k_base.tiktoken", {}),
    "tekken_240911": ("tekken_240911/tekken.json", {}),
    "clip": ("clip/bpe_simple_vocab_16e6.txt.gz", {}),
    "albert_sp": ("albert_sp/spiece.model", {}),
    "xlnet_sp": ("xlnet_sp/spiece.model", {}),
    "seqio_test_sp": ("seqio_test_sp/sentencepiece.model", {}),
    "spm_test_en": ("spm_test_en/test_model.model", {}),
    "spm_test_ja": ("spm_test_ja/test_ja_model.model", {}),
    "mistral_v1": ("mistral_v1/tokenizer.model", {}),
    "mistral_v3": ("mistral_v3/tokenizer.model", {}),
    "mistral_v7": ("mistral_v7/tokenizer.model", {}),
    **{
        f"kh_{name}_test_vocab": (f"keras_hub_spm/{name}_test_vocab.spm", {})
        for name in ("deberta_v3", "gemma", "gemma3", "phi3", "t5", "xlm_roberta")
    },
}
DIFFERENT = "would not be the same"
"""What a refusal says that a comparison found, not a writer."""


def unpacked(name: str, folder: Path) -> Path:
    """Write a vocabulary's files into a folder, and give the path to load."""
    packed, target = SHARED / "vocab" / SOURCES[name][0], folder / SOURCES[name][0]
    files = sorted(packed.glob("*.zst")) if packed.is_dir() else [Path(f"{packed}.zst")]
    for file in files:
        path = target / file.stem if packed.is_dir() else target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zstandard.ZstdDecompressor().stream_reader(file.read_bytes()).read())
    return target


def golden_texts(name: str, n_texts: int) -> list[str]:
    """Give texts of a vocabulary's golden file, taken evenly from all of it."""
    cases = json.loads((SHARED / "golden" / f"{name}.json").read_bytes())["cases"]
    return [case["t"] for case in cases[:: max(1, len(cases) // n_texts)]][:n_texts]


def corpora(n_bytes: int) -> list[str]:
    """Give equal shares of every text corpus, cut into documents."""
    files = sorted((SHARED / "data").rglob("*.txt.zst"))
    documents = []
    for file in files:
        with file.open("rb") as packed, zstandard.ZstdDecompressor().stream_reader(packed) as text:
            part = text.read(n_bytes // len(files)).decode("utf-8", "ignore")
        documents += [part[at : at + 20_000] for at in range(0, len(part), 20_000)]
    return documents


def converted(
    source: Path, options: dict[str, Any], format_: str, texts: list[str], folder: Path
) -> tuple[str, str]:
    """Convert a vocabulary; give ``equal``, ``refused`` or ``different``, and what was said."""
    target = folder / f"made.{format_}"
    try:
        report = subword.convert(source, target, to_format=format_, check=texts, **options)
    except subword.FormatError as error:
        assert not target.exists()
        return "different" if DIFFERENT in str(error) else "refused", str(error)
    readers = ", ".join(report.readers)
    return "equal", f"{report.n_tokens:,} tokens, read back by {readers}"


def _results(arguments: argparse.Namespace, folder: Path) -> Iterator[tuple[str, str, str, str]]:
    texts = corpora(int(arguments.megabytes * 1e6))
    for name in arguments.names or SOURCES:
        source = unpacked(name, folder)
        for format_ in arguments.format or FORMATS:
            started = time.process_time()
            with tempfile.TemporaryDirectory(dir=folder) as target:
                result = converted(source, SOURCES[name][1], format_, texts, Path(target))
            seconds = f" ({time.process_time() - started:.0f} s of CPU)"
            yield name, format_, result[0], result[1][:200] + seconds


def main() -> int:
    """Print a line for each vocabulary and format; 1 where a comparison found a difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SOURCES))
    parser.add_argument("--megabytes", type=float, default=10.0)
    parser.add_argument("--format", action="append", choices=list(FORMATS))
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, format_, result, said in _results(parser.parse_args(), Path(folder)):
            print(f"{name:24} {format_:20} {result:10} {said}", flush=True)
            different += result == "different"
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
