"""Build the benchmark corpora: the documents of the shared data, in a fixed order.

Each corpus is two files with the same documents. ``NAME.txt`` joins them with nothing between,
for encoding: no special token is spelled, so what a library makes of one cannot matter.
``NAME.docs`` joins them with ``<|endoftext|>``, for training by documents. Nothing is repeated
to reach a size, which would flatter every cache.
"""

import hashlib
import json
import os
import platform
import random
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path

from benchmarks.worst_cases import WORST_CASES, worst_case

__all__ = [
    "CACHE",
    "CORPORA",
    "PROJECT",
    "ROOT",
    "STAND_IN",
    "Corpus",
    "build_corpus",
    "held_out",
    "shared_folder",
    "single_spaced",
    "unpacked",
]

SEPARATOR = "<|endoftext|>"
MEGABYTE = 1_000_000
SHUFFLE_SEED = 20_240
HELD_OUT = 500_000  # bytes at the end of a corpus that tell how likely a model makes new text
ROOT = Path(__file__).resolve().parent
PROJECT = ROOT.parent
CACHE = ROOT / ".cache"

# Folders of the shared data that a corpus takes, and how a shortened one is named: NAME-10 is
# the first 10 MB of NAME.
FOLDERS = {
    "english": ("en_web", "en_tinystories"),
    "code": ("code",),
    "chinese": ("zh",),
    "multilingual": ("parallel", "ja", "ko", "ru"),
}
STAND_IN = "stdlib"  # what every machine has: the Python standard library's sources
CORPORA = (*FOLDERS, "mixed", STAND_IN, *WORST_CASES)


@dataclass(frozen=True, slots=True)
class Corpus:
    """One corpus on disk.

    Attributes:
        name: Such as ``english`` or ``mixed-10``.
        source: Where the documents are from.
        n_documents: Their number.
        n_bytes: Size of ``text`` in UTF-8 bytes.
        sha256: Of ``text``.
    """

    name: str
    source: str
    n_documents: int
    n_bytes: int
    sha256: str

    @property
    def text(self) -> Path:
        """The documents with nothing between them."""
        return CACHE / "corpora" / f"{self.name}.txt"

    @property
    def documents(self) -> Path:
        """The documents with a separator between them."""
        return CACHE / "corpora" / f"{self.name}.docs"


def shared_folder() -> Path | None:
    """Give the folder of the shared data, or None where there is none.

    It is what ``SUBWORD_SHARED`` names, else ``../shared`` beside the repository.
    """
    named = os.environ.get("SUBWORD_SHARED")
    folder = Path(named) if named else PROJECT.parent / "shared"
    return folder if (folder / "data" / "MANIFEST.json").is_file() else None


def build_corpus(name: str) -> Corpus:
    """Give a corpus, building its two files the first time.

    Args:
        name: One of ``CORPORA``, or ``NAME-10`` for the first 10 MB of ``NAME``; the last
            document is cut at a character so that the size is met. A worst case needs a size.

    Raises:
        ValueError: The name is not known.
        FileNotFoundError: The corpus is of the shared data, and there is none.
    """
    base, _, megabytes = name.partition("-")
    is_sized = megabytes.isdecimal() or (not megabytes and base not in WORST_CASES)
    if base not in CORPORA or not is_sized:
        raise ValueError(f"no corpus {name!r}; there are {', '.join(CORPORA)}, and NAME-MB of each")
    if (corpus := built(name)) is not None:
        return corpus
    if base in WORST_CASES:
        text = worst_case(base, int(megabytes) * MEGABYTE)
        return write_corpus(name, "made up: benchmarks/worst_cases.py", [text])
    documents = read_documents(base)
    if megabytes:
        documents = first_bytes(documents, int(megabytes) * MEGABYTE)
    library = f"Python {platform.python_version()}'s standard library"
    return write_corpus(name, library if base == STAND_IN else "the shared data", documents)


def single_spaced(corpus: Corpus) -> Corpus:
    """Give a corpus with one space before each word, no other whitespace, and a document a line.

    Trainers differ in what they make of a newline: an end of the text, a space, or a character
    to learn. Of such a corpus they all see the same words.
    """
    name = f"{corpus.name}.words"
    if (spaced := built(name)) is not None:
        return spaced
    documents = corpus.documents.read_bytes().decode().split(SEPARATOR)
    lines = [f" {' '.join(document.split())}\n" for document in documents]
    return write_corpus(name, corpus.source, lines)


def held_out(name: str) -> Path | None:
    """Give the end of the whole corpus that a slice is of, or None where there is no more of it.

    Raises:
        ValueError: The name is not known.
        FileNotFoundError: The corpus is of the shared data, and there is none.
    """
    base, _, megabytes = name.partition("-")
    if not megabytes:
        return None
    whole = build_corpus(base)
    path = CACHE / "corpora" / f"{base}.held_out.txt"
    if int(megabytes) * MEGABYTE + HELD_OUT > whole.n_bytes:
        return None
    if not path.is_file():
        with whole.text.open("rb") as file:
            file.seek(-HELD_OUT, os.SEEK_END)
            text = file.read().decode(errors="ignore")  # the first character may be cut
        partial = path.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8", newline="")
        partial.replace(path)
    return path


def built(name: str) -> Corpus | None:
    """Give a corpus that is whole on disk, or None."""
    stamp = CACHE / "corpora" / f"{name}.json"
    if not stamp.is_file():
        return None
    corpus = Corpus(**json.loads(stamp.read_text(encoding="utf-8")))
    return corpus if corpus.text.is_file() and corpus.documents.is_file() else None


def read_documents(base: str) -> list[str]:
    """Read the documents of a whole corpus, separators removed, in a fixed order."""
    if base == STAND_IN:
        return list(standard_library())
    shared = shared_folder()
    if shared is None:
        raise FileNotFoundError(
            f"the corpus {base} is of the shared data, which neither SUBWORD_SHARED nor "
            f"{PROJECT.parent / 'shared'} gives; {STAND_IN} needs none"
        )
    if base == "mixed":
        documents = [
            document for name in FOLDERS for document in manifest_documents(shared, FOLDERS[name])
        ]
    else:
        documents = list(manifest_documents(shared, FOLDERS[base]))
    if base == "mixed":
        random.Random(SHUFFLE_SEED).shuffle(documents)
    return documents


def manifest_documents(shared: Path, folders: tuple[str, ...]) -> Iterator[str]:
    """Give the documents of some folders in the order of the manifest."""
    data = shared / "data"
    manifest = json.loads((data / "MANIFEST.json").read_text(encoding="utf-8"))
    for entry in manifest:
        if entry["path"].split("/")[0] not in folders:
            continue
        raw = unpacked(data / entry["path"])
        texts = tar_members(raw) if ".tar." in entry["path"] else split_documents(raw)
        yield from (text.replace(SEPARATOR, "") for text in texts if text)


def unpacked(path: Path) -> bytes:
    """Read a ``.zst`` file whole."""
    import zstandard  # here, since the peers' environment has no need of it

    with path.open("rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read()


def split_documents(raw: bytes) -> list[str]:
    """Cut a file of many documents at its separators."""
    return raw.decode().split(f"{SEPARATOR}\n")


def tar_members(raw: bytes) -> Iterator[str]:
    """Give each text file of an archive as one document, by name; notes in JSON are left out."""
    with tarfile.open(fileobj=BytesIO(raw)) as archive:
        members = sorted((m for m in archive if m.isfile()), key=lambda member: member.name)
        for member in members:
            content = archive.extractfile(member)
            if content is not None and not member.name.endswith(".json"):
                yield content.read().decode()


def standard_library() -> Iterator[str]:
    """Give each source file of the running Python's library as one document, by path."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" in path.parts:
            continue
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:  # a few test files are in other encodings by intention
            continue
        yield text.replace(SEPARATOR, "")


def first_bytes(documents: list[str], n_bytes: int) -> list[str]:
    """Give the first documents up to a size, the last one cut at a character."""
    kept: list[str] = []
    left = n_bytes
    for document in documents:
        encoded = document.encode()
        if len(encoded) >= left:
            kept.append(encoded[:left].decode(errors="ignore"))
            break
        kept.append(document)
        left -= len(encoded)
    return kept


def write_corpus(name: str, source: str, documents: list[str]) -> Corpus:
    """Write the two files of a corpus, then the stamp that says they are whole."""
    print(f"building corpus {name} from {source}", file=sys.stderr)
    text = "".join(documents).encode()
    digest = hashlib.sha256(text).hexdigest()
    corpus = Corpus(name, source, len(documents), len(text), digest)
    corpus.text.parent.mkdir(parents=True, exist_ok=True)
    corpus.text.write_bytes(text)
    corpus.documents.write_text(SEPARATOR.join(documents), encoding="utf-8", newline="")
    stamp = corpus.text.with_suffix(".json")
    stamp.write_text(json.dumps(asdict(corpus), indent=1), encoding="utf-8")
    return corpus
