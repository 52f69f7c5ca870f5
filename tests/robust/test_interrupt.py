"""Ctrl-C in the middle of every long call comes out of it as KeyboardInterrupt."""

import signal
import subprocess
import sys
import threading

import pytest

PRELUDE = """
import warnings
import subword
from subword import _core
from subword.counts import PretokenCounts, count
from subword.errors import StoppedEarlyWarning
from subword.training.bpe import train_bpe
warnings.simplefilter('ignore', StoppedEarlyWarning)
tok = train_bpe(['the cat in the hat'] * 9, 270).replace(memo_bytes=0)
text = ''.join(f'the cat {n} in ' for n in range(300_000))
words = {f'{n * 7919}x{n}': n for n in range(1, 60_000)}
SETUP
print('ready', flush=True)
try:
    while True:
        CALL
except KeyboardInterrupt:
    print('stopped', flush=True)
# What is left works on.
assert tok.decode(tok.encode('the cat')) == 'the cat'
"""

# What is made ready, and the call.
CALLS = {
    "count": ("", "count([text] * 20, n_threads=2)"),
    "count one pre-token a document": ("", "count([text] * 200, pattern='none')"),
    "train": ("", "train_bpe(words, 30_000)"),
    "train on one huge pre-token": ("", "train_bpe({'ab' * 10_000_000: 1}, 300)"),
    "train first seen first": ("", "train_bpe(words, 30_000, ties='first')"),
    "train WordPiece": ("", "subword.train_wordpiece(words, 8_000)"),
    "train Unigram": ("", "subword.train_unigram(words, 4_000)"),
    "encode": ("", "tok.encode(text)"),
    "encode one huge pre-token": ("tok = tok.replace(pattern='none')", "tok.encode('a' * 30_000_000)"),
    "encode to one huge list": ("text = 'the cat ' * 5_000_000", "tok.encode(text)"),
    "encode by look-around": ("tok = tok.replace(pattern=r'(?<=a) |\\S')", "tok.encode(text)"),
    "encode a text that is not ASCII": ("text = text.replace('c', 'é')", "tok.encode(text)"),
    "batch": ("", "tok.encode_batch([text] * 4, n_threads=2)"),
    "batch of many": ("texts = ['the cat'] * 3_000_000", "tok.encode_batch(texts, n_threads=2)"),
    "spans": ("", "tok.encode_spans(text)"),
    "stream": ("", "sum(1 for _ in tok.encode_iterable([text]))"),
    "number of tokens": ("", "tok.count_tokens(text)"),
    "decode a huge list": ("ids = [97] * 20_000_000", "tok.decode_bytes(ids)"),
    "decode a huge array": ("ids = tok.encode_array(text * 8)", "tok.decode_bytes(ids)"),
    "split": ("raw = text.encode() * 2", "_core.split(raw, [r'\\S+'])"),
    "split by masks": ("raw = text.encode() * 4", "_core.split(raw, list(subword.train_bpe(['ab'], 256).pattern))"),
    "split in one match": ("raw = b'a' * 50_000_000", "_core.split(raw, [r'a+|b'])"),
    "split by look-around": ("raw = text.encode()", "_core.split(raw, [r'(?<=a)b|\\w+(?!x)|.'])"),
    "one huge pre-token of characters": (
        "chars = subword.Tokenizer(subword.models.Characters(subword.models.AllCharacters()))",
        "chars.encode_array('a' * 30_000_000)",
    ),
    "one huge pre-token of WordPiece": (
        "vocab = ['[UNK]', 'a', '##a', '##aa']\n"
        "pieces = subword.WordPieceTokenizer(vocab, max_input_chars_per_word=10**9)",
        "pieces.encode_array('a' * 30_000_000)",
    ),
    "one huge pre-token of Unigram": (
        "pieces = subword.UnigramTokenizer([('<unk>', 0.0), ('a', -1.0), ('aa', -1.5)])",
        "pieces.encode_array('a' * 30_000_000)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_stops_a_long_call(name: str) -> None:
    setup, call = CALLS[name]
    code = PRELUDE.replace("SETUP", setup).replace("CALL", call)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        ready = process.stdout.readline()
        if ready:
            threading.Event().wait(0.3)
            process.send_signal(signal.SIGINT)
        try:
            output, problems = process.communicate(timeout=120)
        finally:
            process.kill()
    assert (ready, output) == ("ready\n", "stopped\n"), problems
    assert process.returncode == 0, problems


def test_arrays_are_ready_once_subword_is_imported() -> None:
    # Looking up numpy's C interface runs Python, where a pending Ctrl-C would end in a panic.
    code = (
        "import subword, numpy.lib\n"
        "numpy.lib.NumpyVersion = None\n"
        "print(subword.ByteTokenizer().encode_array('a').tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "[97]\n", done.stderr
