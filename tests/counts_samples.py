"""A small corpus of files."""

import random
from pathlib import Path

END = "<|end|>"


def corpus(folder: Path, n_files: int = 6, n_words: int = 4000) -> list[Path]:
    """Write files of words that are mostly new, short and long."""
    generator = random.Random(7)
    folder.mkdir(exist_ok=True)
    paths = []
    for number in range(n_files):
        path = folder / f"{number}.txt"
        chosen = (generator.getrandbits(generator.choice([8, 20, 60, 200])) for _ in range(n_words))
        path.write_text(" ".join(f"{word:x}" for word in chosen) + END + "last", encoding="utf-8")
        paths.append(path)
    return paths


PEAK = """
import re, sys, subword
from pathlib import Path
_, source, output, memory = sys.argv
subword.count_to_parquet(
    source, output, special_tokens=["<|endoftext|>"], max_memory=memory, n_threads=2
)
# What getrusage says would be that of the process that started this one, if that is more.
print(int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""
