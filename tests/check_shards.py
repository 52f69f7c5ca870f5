"""Read shards with the library of each format: ``make check-shards``.

Each library is installed in an environment of its own, as they pull torch and numpy of different
versions; that takes minutes and gigabytes, so ``make test`` checks bytes instead.
``python tests/check_shards.py [NAME …]`` checks some; ``--python PATH`` uses an environment that
has the libraries already.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

import subword

ROOT = Path(__file__).parents[1]
EOT = "<|endoftext|>"
SHARD_TOKENS = 5_000


@dataclass(frozen=True)
class Reader:
    """A library and what it does with a folder of shards.

    Attributes:
        format: The format it reads.
        packages: What to install.
        code: A program: reads ``FOLDER``, the shards' stems being ``STEMS``, and binds ``documents``
            to the ids of each document, or ``stream`` to all ids.
    """

    format: str
    packages: tuple[str, ...]
    code: str


READERS = {
    "megatron-core": Reader(
        "megatron",
        ("megatron-core", "torch", "numpy"),
        """
from megatron.core.datasets.indexed_dataset import IndexedDataset
sets = [IndexedDataset(stem) for stem in STEMS]
documents = [ids.tolist() for one in sets for ids in (one[at] for at in range(len(one)))]
""",
    ),
    "datatrove": Reader(
        "datatrove",
        ("datatrove", "torch", "numpy", "fasteners"),
        """
from datatrove.utils.dataset import DatatroveFileDataset
stream, starts = [], []
for stem in STEMS:
    path = stem + ".ds"
    with open(path + ".metadata") as file:
        token_size = int(file.readline().strip().split("|")[1])
    n_tokens = os.path.getsize(path) // token_size
    one = DatatroveFileDataset(path, n_tokens - 1, token_size, return_positions=True)
    item = one[0]
    starts += [len(stream) + at for at, place in enumerate(item["positions"].tolist()) if place == 0]
    stream += item["input_ids"].tolist()
documents = [stream[a:b] for a, b in zip(starts, [*starts[1:], len(stream)])]
""",
    ),
    "mosaicml-streaming": Reader(
        "mds",
        ("mosaicml-streaming", "torch", "numpy"),
        """
from streaming import LocalDataset
one = LocalDataset(local=FOLDER)
documents = [one[at]["tokens"].tolist() for at in range(len(one))]
""",
    ),
    "pyarrow": Reader(
        "parquet",
        ("pyarrow",),
        """
import pyarrow.parquet
tables = [pyarrow.parquet.read_table(stem + ".parquet") for stem in STEMS]
documents = [ids for table in tables for ids in table.column("input_ids").to_pylist()]
""",
    ),
    "numpy": Reader(
        "npy",
        ("numpy",),
        """
import numpy
documents = []
for stem in STEMS:
    ids, ends = numpy.load(stem + ".npy", mmap_mode="r"), numpy.load(stem + ".ends.npy")
    documents += [part.tolist() for part in numpy.split(ids, ends)[:-1]]
""",
    ),
}

PROGRAM = """
import json, os, sys
FOLDER, STEMS, wanted = json.load(open(sys.argv[1]))
{code}
if documents != wanted:
    sys.exit("it reads other documents than were written")
print(len(documents), "documents,", sum(map(len, documents)), "tokens")
"""


def main() -> int:
    """Check the readers that were named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*READERS, []], metavar="NAME")
    parser.add_argument("--python", help="an interpreter that has the libraries")
    arguments = parser.parse_args()
    failed = []
    for name in arguments.names or READERS:
        if not check(name, arguments.python or environment(name)):
            failed.append(name)
    return 1 if failed else 0


def environment(name: str) -> str:
    """Give the interpreter of a library's environment, which is made the first time."""
    folder = ROOT / ".cache" / "check-shards" / name
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        venv.create(folder, clear=True, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *READERS[name].packages]
        subprocess.run(install, check=True)
        (folder / "complete").touch()
    return str(python)


def check(name: str, python: str) -> bool:
    """Write shards for a reader and have it read them."""
    reader = READERS[name]
    with tempfile.TemporaryDirectory() as place:
        stems, documents = written(Path(place), reader.format)
        task, program = Path(place) / "task.json", Path(place) / "read.py"
        task.write_text(json.dumps([str(Path(place) / "out" / "train"), stems, documents]))
        program.write_text(PROGRAM.format(code=reader.code))
        run = subprocess.run(
            [python, str(program), str(task)], capture_output=True, text=True, check=False
        )
    said = (run.stdout if run.returncode == 0 else run.stderr).strip().splitlines()[-1:]
    print(
        f"{name}: {'reads' if run.returncode == 0 else 'FAILS'} {reader.format}: {' '.join(said)}"
    )
    return run.returncode == 0


def written(place: Path, format: str) -> tuple[list[str], list[list[int]]]:
    """Give the stems of some shards and the ids of their documents."""
    rng = random.Random(3)
    texts = [" ".join(rng.choices(["the", "cat", "sat"], k=rng.randrange(400))) for _ in range(200)]
    tok = subword.train_bpe(["the cat sat " * 9], 264, [EOT])
    shards = subword.tokenize(texts, tok, place / "out", format=format, shard_tokens=SHARD_TOKENS)
    if shards is None or shards.n_shards < 3:
        sys.exit("the run made no shards")
    documents = [[*tok.encode(text), tok.special_tokens[EOT]] for text in texts]
    suffix = subword.shards.FORMATS[format].LAYOUT.suffixes[0]
    entries = shards.manifest["splits"]["train"]["shards"]
    names = [str(place / "out" / entry["files"][0]["name"]) for entry in entries]
    return [name.removesuffix(suffix) for name in names], documents


if __name__ == "__main__":
    sys.exit(main())
