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
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.encoders import Encoder
from benchmarks.peers import PEERS, Peer
from benchmarks.trainers import Merges, TrainingJob
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
    return peer.load[task.options.get("file", peer.encode_from)](task.files)


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
    Path(files.ranks).read_bytes(), Path(files.tokenizer_json).read_bytes()
    encoder, cold = measured(lambda: load_encoder(peer, task))
    n_ids, digest = ids_digest(encoder.to_list(LOADED_TEXT))
    return {"cold": cold, "n_ids": n_ids, "sha256": digest}


LOADED_TEXT = "A tokenizer that loads must also encode: 2,718 naïve words, 東京, and 🙂."
MODULES = {"splintr-rs": "splintr", "quicktok-v1": "quicktok"}


def measure_train(peer: Peer, task: Task) -> Result:
    """Train once; merges are hashed in the order of their ranks."""
    if peer.train is None:
        raise ValueError(f"{task.peer} has no training")
    job = TrainingJob(
        task.documents, task.text, task.options["vocab_size"], task.options["n_threads"]
    )
    for path in {job.documents, job.text}:  # every trainer finds its input in the page cache
        with Path(path).open("rb") as file:
            while file.read(1 << 20):
                pass
    training = peer.train(job)
    result, cold = measured(training.call)
    merges = training.merges(result)
    if merges is None:
        return {"cold": cold}
    n_compared = job.vocab_size - 257  # what 256 bytes and one special token leave
    digest = merges_digest(merges[:n_compared])
    return {"cold": cold, "n_merges": len(merges), "sha256": digest}


def merges_digest(merges: Merges) -> str:
    """Give the SHA-256 of merges, each side with its length before it."""
    digest = hashlib.sha256()
    for pair in merges:
        for side in pair:
            digest.update(len(side).to_bytes(4, "little"))
            digest.update(side)
    return digest.hexdigest()


MEASUREMENTS: dict[str, Callable[[Peer, Task], Result]] = {
    "encode": measure_encode,
    "latency": measure_latency,
    "load": measure_load,
    "train-bpe": measure_train,
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
