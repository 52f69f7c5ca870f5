"""Measure one cell: run by the peers' Python in a fresh process, one JSON line on stdout.

The clock covers the call alone: text in memory before it, result compared after it. CPU is
user and system time of the whole process, its threads included. Memory is how far the peak of
resident memory during the call rises above what was resident before it.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpora import CACHE
from benchmarks.encoders import Encoder
from benchmarks.file_encoders import FilesJob
from benchmarks.peers import PEERS, Peer
from benchmarks.piece_trainers import log_likelihood
from benchmarks.trainers import SEPARATOR, Merges, TrainingJob
from benchmarks.vocabularies import VocabularyFiles

__all__ = ["MEASUREMENTS", "main"]

Result = dict[str, Any]
PEAK_RESET = "5"  # to /proc/self/clear_refs: forget the peak (man 5 proc)


@dataclass(frozen=True, slots=True)
class Task:
    """A cell as the runner sends it."""

    suite: str
    peer: str
    options: dict[str, Any]
    text: str = ""
    documents: str = ""
    held_out: str = ""
    vocabulary: dict[str, Any] | None = None

    @property
    def files(self) -> VocabularyFiles:
        """The vocabulary's files."""
        return VocabularyFiles(**(self.vocabulary or {}))


def resident_bytes(field: str) -> int | None:
    """Read ``VmRSS`` or ``VmHWM``; None where the system has no ``/proc``."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return None


def forget_peak() -> bool:
    """Start a new peak of resident memory, with what is free given back first."""
    with contextlib.suppress(AttributeError, OSError):  # another libc: free pages stay
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text(PEAK_RESET, encoding="ascii")
    except OSError:
        return False
    return True


def measured(call: Callable[[], Any]) -> tuple[Any, Result]:
    """Run a call and give its result with wall seconds, CPU seconds and growth in bytes."""
    fresh = forget_peak()
    before = resident_bytes("VmRSS" if fresh else "VmHWM")
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    after = resident_bytes("VmHWM")
    growth = None if before is None or after is None else max(0, after - before)
    if growth is None:  # no /proc: the peak of the process so far
        growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return result, {"wall_s": wall, "cpu_s": cpu, "rss_growth": growth}


def load_encoder(peer: Peer, task: Task) -> Encoder:
    """Load the vocabulary from the file the suite names, or the one the peer is best at."""
    file = peer.file_for(task.files.name, task.options.get("file", ""))
    return peer.load[file](task.files)


def measure_encode(peer: Peer, task: Task) -> Result:
    """Encode a whole corpus in one call, then once more."""
    encoder = load_encoder(peer, task)
    text = Path(task.text).read_bytes().decode()
    cold_ids, cold = measured(lambda: encoder.to_array(text))
    n_ids, digest = ids_digest(encoder.to_ids(cold_ids))
    del cold_ids
    warm_ids, warm = measured(lambda: encoder.to_array(text))
    again = ids_digest(encoder.to_ids(warm_ids))
    return {
        "cold": cold,
        "warm": warm,
        "n_ids": n_ids,
        "sha256": digest,
        "warm_equal": again == (n_ids, digest),
    }


def measure_documents(peer: Peer, task: Task) -> Result:
    """Encode the documents of a corpus one by one, then once more."""
    return documents_encoded(load_encoder(peer, task), task)


def measure_drop_in(peer: Peer, task: Task) -> Result:
    """Encode the documents of a corpus one by one to lists, as code for tiktoken does."""
    if peer.drop_in is None:
        raise ValueError(f"{task.peer} is called in no other library's way")
    return documents_encoded(peer.drop_in(task.files), task)


def documents_encoded(encoder: Encoder, task: Task) -> Result:
    """Measure ``to_array`` over the documents."""
    texts = Path(task.documents).read_bytes().decode().split(SEPARATOR)

    def digest(rows: list[Any]) -> tuple[int, str]:
        import numpy

        return ids_digest(
            numpy.concatenate([numpy.asarray(encoder.to_ids(r), "<u4") for r in rows])
        )

    cold_ids, cold = measured(lambda: [encoder.to_array(text) for text in texts])
    n_ids, sha256 = digest(cold_ids)
    del cold_ids
    warm_ids, warm = measured(lambda: [encoder.to_array(text) for text in texts])
    return {
        "cold": cold,
        "warm": warm,
        "n_ids": n_ids,
        "sha256": sha256,
        "warm_equal": digest(warm_ids) == (n_ids, sha256),
    }


def measure_files(peer: Peer, task: Task) -> Result:
    """Encode a file of documents, the vocabulary loaded before."""
    if peer.encode_files is None:
        raise ValueError(f"{task.peer} encodes no files")
    read_through(task.documents)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        job = FilesJob(task.documents, folder, task.options["n_threads"])
        encoding = peer.encode_files(task.files, job)
        result, cold = measured(encoding.call)
        n_ids, digest = ids_digest(encoding.to_ids(result))
    return {"cold": cold, "n_ids": n_ids, "sha256": digest}


def read_through(path: str) -> None:
    """Read a file, so that the page cache has it."""
    with Path(path).open("rb") as file:
        while file.read(1 << 20):
            pass


def ids_digest(ids: Any) -> tuple[int, str]:
    """Give the number of ids and the SHA-256 of them as little-endian uint32."""
    import numpy

    array = numpy.asarray(ids, dtype="<u4")
    return len(array), hashlib.sha256(array.tobytes()).hexdigest()


def measure_latency(peer: Peer, task: Task) -> Result:
    """Encode short texts one by one to lists: the first ever, all new, all known."""
    encoder = load_encoder(peer, task)
    texts = short_texts(Path(task.text), task.options["n_bytes"], task.options["n_texts"])
    first_ids, first_call = measured(lambda: encoder.to_list(texts[0]))
    _, new = measured(lambda: [encoder.to_list(text) for text in texts])
    ids, known = measured(lambda: [encoder.to_list(text) for text in texts])
    n_ids, digest = ids_digest([token_id for row in ids for token_id in row])
    return {
        "first_call": first_call,
        "cold": new,
        "warm": known,
        "n_calls": len(texts),
        "n_ids": n_ids,
        "sha256": digest,
        "warm_equal": list(first_ids) == list(ids[0]),
    }


def short_texts(path: Path, n_bytes: int, n_texts: int) -> list[str]:
    """Cut texts of a size at even distances out of a corpus; a cut character is dropped."""
    content = path.read_bytes()
    step = max(1, (len(content) - n_bytes) // n_texts)
    starts = range(0, max(1, len(content) - n_bytes), step)
    return [content[i : i + n_bytes].decode(errors="ignore") for i in starts][:n_texts]


def measure_load(peer: Peer, task: Task) -> Result:
    """Load a vocabulary, the library's import done before."""
    __import__(MODULES.get(peer.distribution, peer.distribution))
    files = task.files
    for path in filter(None, (files.ranks, files.tokenizer_json, files.model)):
        read_through(path)
    encoder, cold = measured(lambda: load_encoder(peer, task))
    n_ids, digest = ids_digest(encoder.to_list(LOADED_TEXT))
    return {"cold": cold, "n_ids": n_ids, "sha256": digest}


LOADED_TEXT = "A tokenizer that loads must also encode: 2,718 naïve words, 東京, and 🙂."
MODULES = {"splintr-rs": "splintr", "quicktok-v1": "quicktok"}


def measure_train(peer: Peer, task: Task) -> Result:
    """Train once; merges are hashed in the order of their ranks."""
    if peer.train is None:
        raise ValueError(f"{task.peer} has no training")
    job = training_job(task)
    training = peer.train(job)
    result, cold = measured(training.call)
    merges = training.merges(result)
    if merges is None:
        return {"cold": cold}
    n_compared = job.vocab_size - 257  # what 256 bytes and one special token leave
    digest = merges_digest(merges[:n_compared])
    return {"cold": cold, "n_merges": len(merges), "sha256": digest}


def training_job(task: Task) -> TrainingJob:
    """Give what a trainer is asked for, its input in the page cache."""
    for path in {task.documents, task.text}:
        read_through(path)
    options = task.options
    return TrainingJob(task.documents, task.text, options["vocab_size"], options["n_threads"])


def measure_train_pieces(peer: Peer, task: Task) -> Result:
    """Train once; the tokens go to the runner, which compares them."""
    training = peer.train_pieces[task.suite](training_job(task))
    result, cold = measured(training.call)
    scores = training.tokens(result)
    tokens = sorted(scores)
    digest = hashlib.sha256("\n".join(tokens).encode()).hexdigest()
    made: Result = {"cold": cold, "n_tokens": len(tokens), "tokens": tokens, "sha256": digest}
    if task.held_out:
        text = Path(task.held_out).read_bytes().decode()
        made["log_likelihood"] = log_likelihood(scores, text)
    return made


def merges_digest(merges: Merges) -> str:
    """Give the SHA-256 of merges, each side with its length before it."""
    digest = hashlib.sha256()
    for pair in merges:
        for side in pair:
            digest.update(len(side).to_bytes(4, "little"))
            digest.update(side)
    return digest.hexdigest()


MEASUREMENTS: dict[str, Callable[[Peer, Task], Result]] = {
    "drop-in": measure_drop_in,
    "encode": measure_encode,
    "encode-sentencepiece-bpe": measure_documents,
    "encode-unigram": measure_documents,
    "encode-wordpiece": measure_documents,
    "encode-worst-case": measure_encode,
    "files": measure_files,
    "latency": measure_latency,
    "load": measure_load,
    "train-bpe": measure_train,
    "train-unigram": measure_train_pieces,
    "train-wordpiece": measure_train_pieces,
}


def keep_to_cpus(n_cpus: int) -> None:
    """Stay on as many CPUs as threads were asked for: some libraries start more regardless."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-n_cpus:])


def main() -> None:
    """Measure the cell that the first argument describes and print one JSON line."""
    task = Task(**json.loads(sys.argv[1]))
    keep_to_cpus(int(task.options.get("n_threads", 1)))
    peer = PEERS[task.peer]
    result = MEASUREMENTS[task.suite](peer, task)
    print("\n" + json.dumps({"version": peer.version, **result}), flush=True)


if __name__ == "__main__":
    main()
