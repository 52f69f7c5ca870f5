"""Where memory is short a call ends in MemoryError or in the right ids, and the process lives."""

import subprocess
import sys

import pytest

pytest.importorskip("resource")

PRELUDE = """
import resource, sys
from subword.counts import PretokenCounts, count
from subword.training.bpe import train_bpe
tok = train_bpe(['the cat in the hat sat'] * 9, 270, ['<s>'])
text = ''.join(f'the cat {n} in ' for n in range(400_000))
spaceless = '中文分词' * 500_000
def used():
    with open('/proc/self/statm') as file:
        return int(file.read().split()[0]) * resource.getpagesize()
room = int(sys.argv[1]) << 20
soft, hard = resource.getrlimit(resource.RLIMIT_AS)
limit = used() + room
resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
try:
    result = WORK
except MemoryError:
    print('no memory')
else:
    # The call is what has to do with the room, not the look at what it gave.
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    print('right' if CHECK else 'wrong')
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
# What is left works on.
assert tok.decode(tok.encode('the cat<s>')) == 'the cat<s>'
print('alive')
"""

WORK = {
    "encode": ("tok.encode_array(text)", "tok.decode_bytes(result) == text.encode()"),
    "encode one pre-token": (
        "tok.replace(pattern='none').encode_array(spaceless)",
        "len(result) > 0",
    ),
    "batch": ("tok.encode_batch([text] * 3, n_threads=2)", "len(result) == 3"),
    "batch of many threads": ("tok.encode_batch(['the cat'] * 9999, n_threads=64)", "len(result) == 9999"),
    "spans": ("tok.encode_spans(text)", "len(result) > 0"),
    "decode": ("tok.decode_bytes([97] * 9_000_000)", "result == b'a' * 9_000_000"),
    "stream": ("sum(1 for _ in tok.encode_iterable([text, text]))", "result > 0"),
    "count": ("count([text], n_threads=2)", "result[' cat'] == 400_000"),
    "train": (
        "train_bpe({str(n * 7919): 1 for n in range(100_000)}, 2_000, max_token_length=12)",
        "result.vocab_size == 2_000",
    ),
    "count one pre-token": ("count([text], pattern='none')", "len(result) == 1"),
    "count by an engine": (
        "count([text.encode() + b'\\xff'], pattern=r' ?\\w+|.')",
        "result[' cat'] == 400_000",
    ),
    "count by masks beyond ASCII": (
        "count([text.encode() + b'\\xff'], pattern='o200k')",
        "result[' cat'] == 400_000",
    ),
}  # fmt: skip


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="address space limits of Linux")
@pytest.mark.parametrize("room", [1, 4, 12, 32, 64, 128, 400])
@pytest.mark.parametrize("name", WORK)
def test_a_limit_on_the_address_space_is_a_memory_error_or_no_matter(name: str, room: int) -> None:
    work, check = WORK[name]
    code = PRELUDE.replace("WORK", work).replace("CHECK", check)
    run = subprocess.run(
        [sys.executable, "-c", code, str(room)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, (run.returncode, run.stdout, run.stderr[-2000:])
    assert run.stdout in ("no memory\nalive\n", "right\nalive\n")
