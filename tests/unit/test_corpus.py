"""Sources, cuts and files: held to the twin for every block size."""

import contextlib
import errno
import gzip
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from subword import _core
from subword.corpus import (
    STDIN,
    Documents,
    Files,
    document_cut,
    read_documents,
    resolve_sources,
)
from subword.errors import (
    ArgumentError,
    CorpusError,
    SourceError,
    SourceIsDirectoryError,
    SourceNotFoundError,
    SpecialTokenError,
    SubwordError,
    TextError,
)
from subword.reference import corpus as twin

BLOCK_SIZES = (1, 4, 7, 64, 1 << 20)
END = b"<|end|>"


def zstd(text: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(text)


SKIPPABLE = (0x184D2A53).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"aside"
STORED = {
    "plain": bytes,
    "gzip": gzip.compress,
    "gzip in two members": lambda text: gzip.compress(text[:9]) + gzip.compress(text[9:]),
    "gzip with an empty member": lambda text: gzip.compress(b"") + gzip.compress(text),
    "zstd": zstd,
    "zstd in two frames": lambda text: zstd(text[:9]) + zstd(text[9:]),
    "zstd after a skippable frame": lambda text: SKIPPABLE + zstd(text),
}


def read(paths, cut, block_bytes=1 << 20):
    return list(_core.DocumentReader(paths, cut, block_bytes=block_bytes))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("corpus")


fragments = st.sampled_from(
    [b"a", b"<", b"<|", b"<|end", b"|>", END, END, b"\n", b"\n", b"\r", b"\r\n", b"\xff", b"  text"]
)
contents = st.lists(fragments, max_size=25).map(b"".join)
cuts = st.sampled_from(["file", "line", END, b"<", b"\r\n", b"aa", b"\n\r\n"])


@settings(deadline=None)  # files: a busy machine is not a failure
@given(
    files=st.lists(st.tuples(contents, st.sampled_from(sorted(STORED))), max_size=4),
    cut=cuts,
    block_bytes=st.sampled_from(BLOCK_SIZES),
)
def test_reader_gives_the_documents_of_the_twin(folder, files, cut, block_bytes):
    paths = [folder / str(number) for number in range(len(files))]
    for path, (text, how) in zip(paths, files, strict=True):
        path.write_bytes(STORED[how](text))
    expected = [d for text, _ in files for d in twin.cut_documents(text, cut)]
    assert read(paths, cut, block_bytes) == expected


@settings(deadline=None)  # files: a busy machine is not a failure
@given(
    separator=st.text(alphabet="ab", min_size=1, max_size=5).map(str.encode),
    text=st.text(alphabet="ab", max_size=60).map(str.encode),
    block_bytes=st.sampled_from(BLOCK_SIZES),
)
def test_separators_that_overlap_themselves(folder, separator, text, block_bytes):
    path = folder / "overlap"
    path.write_bytes(text)
    assert read([path], separator, block_bytes) == twin.cut_documents(text, separator)


CASES = [
    ("separator across blocks", b"one<|end|>two", END, [b"one", b"two"]),
    ("prefix of the separator before it", b"x<|<|end|>y", END, [b"x<|", b"y"]),
    ("prefix of the separator at the end", b"x<|end|", END, [b"x<|end|"]),
    ("only separators", END * 3, END, [b"", b"", b""]),
    ("separator last", b"x<|end|>", END, [b"x"]),
    ("line end after the last separator", b"x<|end|>\n", END, [b"x", b"\n"]),
    ("empty, by separator", b"", END, []),
    ("empty, by line", b"", "line", []),
    ("empty, by file", b"", "file", [b""]),
    ("final newline", b"a\nb\n", "line", [b"a", b"b"]),
    ("no final newline", b"a\nb", "line", [b"a", b"b"]),
    ("CRLF", b"a\r\nb\r\n", "line", [b"a", b"b"]),
    ("one return belongs to the line end", b"a\r\r\nb\r", "line", [b"a\r", b"b\r"]),
    ("empty lines", b"\n\r\n\n", "line", [b"", b"", b""]),
    ("not UTF-8", b"\xff\xfe\x00<|end|>\x80", END, [b"\xff\xfe\x00", b"\x80"]),
    ("no separator there", b"all", END, [b"all"]),
]


@pytest.mark.parametrize("block_bytes", BLOCK_SIZES)
@pytest.mark.parametrize("how", STORED)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_cuts_are_the_recorded_ones(tmp_path, case, how, block_bytes):
    _, text, cut, expected = case
    (tmp_path / "f").write_bytes(STORED[how](text))
    assert twin.cut_documents(text, cut) == expected
    assert read([tmp_path / "f"], cut, block_bytes) == expected


def test_no_document_reaches_over_the_end_of_its_file(tmp_path):
    for name, text in [("a", b"one<|en"), ("b", b"d|>two"), ("c", b""), ("d", b"last")]:
        (tmp_path / name).write_bytes(text)
    expected = [b"one<|en", b"d|>two", b"last"]
    assert list(read_documents(f"{tmp_path}/*", documents="<|end|>")) == expected
    assert list(twin.read_documents(sorted(tmp_path.iterdir()), END)) == expected


def test_a_large_file_comes_whole(tmp_path):
    text = b"".join(b"line %d of many\n" % number for number in range(200_000))
    (tmp_path / "f").write_bytes(text)
    (tmp_path / "f.gz").write_bytes(gzip.compress(text, 1))
    (tmp_path / "f.zst").write_bytes(zstd(text))
    assert list(read_documents(tmp_path / "*")) == [text] * 3
    assert list(read_documents(tmp_path / "f.zst", documents="line")) == text.splitlines()


# Damage


@pytest.mark.parametrize("how", ["gzip", "gzip in two members", "zstd", "zstd in two frames"])
def test_a_stream_cut_anywhere_is_refused_with_path_and_offset(tmp_path, how):
    text = b"twenty different bytes, and then the same again: twenty different bytes"
    stored = STORED[how](text)
    whole = [len(STORED[how.split()[0]](text[:9]))] if "two" in how else []
    path = tmp_path / "f"
    for n_kept in range(4, len(stored)):
        path.write_bytes(stored[:n_kept])
        if n_kept in whole:  # a stream that ends after a member is whole
            assert read([path], "file") == [text[:9]]
            continue
        for block_bytes in (1, 1 << 20):
            with pytest.raises(CorpusError, match=r"f: the .* ends early, at byte \d+ of"):
                read([path], "file", block_bytes)


def test_the_offset_counts_decompressed_bytes(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(gzip.compress(b"x" * 5000) + gzip.compress(b"y" * 50)[:5])
    with pytest.raises(CorpusError, match="at byte 5000 of the decompressed"):
        read([path], "file")
    path.write_bytes(zstd(b"x" * 5000) + zstd(b"y" * 50)[:7])
    with pytest.raises(CorpusError, match="at byte 5000 of the decompressed"):
        read([path], "line")


@pytest.mark.parametrize("how", ["gzip", "zstd"])
def test_a_damaged_stream_is_refused(tmp_path, how):
    path = tmp_path / "f"
    stored = bytearray(STORED[how](bytes(range(256)) * 40))
    stored[-2] ^= 0xFF
    path.write_bytes(stored)
    with pytest.raises(CorpusError, match=f"{how} stream is damaged at byte"):
        read([path], "file")
    path.write_bytes(STORED[how](b"text") + b"something else")
    with pytest.raises(CorpusError, match=f"{how} stream is damaged at byte 4"):
        read([path], "file")


@settings(deadline=None)  # files: a busy machine is not a failure
@given(noise=st.binary(max_size=40), magic=st.sampled_from([b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"]))
def test_noise_after_a_magic_never_crashes(folder, noise, magic):
    path = folder / "noise"
    path.write_bytes(magic + noise)
    with contextlib.suppress(CorpusError):
        read([path], "line", 7)


def test_documents_before_the_damage_come_first_and_the_error_stays(tmp_path):
    (tmp_path / "f").write_bytes(gzip.compress(b"one\ntwo\n" * 4000)[:-3])
    reader = _core.DocumentReader([tmp_path / "f"], "line", block_bytes=64)
    assert next(reader) == b"one"
    for _ in range(2):
        with pytest.raises(CorpusError):
            list(reader)


def test_compression_is_told_by_the_first_bytes(tmp_path):
    (tmp_path / "plain.gz").write_bytes(b"plain text")
    (tmp_path / "zstd.gz").write_bytes(zstd(b"zstd text"))
    (tmp_path / "gzip.txt").write_bytes(gzip.compress(b"gzip text"))
    expected = [b"gzip text", b"plain text", b"zstd text"]
    assert list(read_documents(tmp_path / "*")) == expected


# Sources


def test_kinds_of_sources(tmp_path):
    path = tmp_path / "a"
    path.touch()
    assert resolve_sources(str(path)) == resolve_sources(path) == Files((path,))
    assert resolve_sources([path, path]) == resolve_sources(p for p in [path] * 2)
    assert resolve_sources(["a", b"b"]) == Documents(["a", b"b"])
    assert resolve_sources([str(path)]) == Documents([str(path)])
    assert resolve_sources([]) == Documents(())
    assert list(resolve_sources(iter(["a", b"b"])).items) == ["a", b"b"]


def test_globs_are_sorted_and_hold_files_alone(tmp_path):
    for name in ["b.txt", "a.txt", "a-b.txt", "c.md", "sub/d.txt", "sub/deep/a.txt"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)

    def names(pattern):
        return [str(p.relative_to(tmp_path)) for p in resolve_sources(tmp_path / pattern).paths]

    assert names("*.txt") == ["a-b.txt", "a.txt", "b.txt"]
    assert names("*") == ["a-b.txt", "a.txt", "b.txt", "c.md"]
    assert names("**/a*.txt") == ["a-b.txt", "a.txt", "sub/deep/a.txt"]
    assert names("**") == ["a-b.txt", "a.txt", "b.txt", "c.md", "sub/d.txt", "sub/deep/a.txt"]
    assert names("[bc].*") == ["b.txt", "c.md"]


def test_an_existing_path_wins_over_its_meaning_as_a_glob(tmp_path):
    for name in ["x[1].txt", "x1.txt", "*"]:
        (tmp_path / name).write_text(name)
    assert list(read_documents(tmp_path / "x[1].txt")) == [b"x[1].txt"]
    assert list(read_documents(str(tmp_path / "*"))) == [b"*"]
    assert list(read_documents(tmp_path / "x[0-9].txt")) == [b"x1.txt"]


def test_missing_files_and_globs_without_a_match(tmp_path):
    (tmp_path / "folder").mkdir()
    present = tmp_path / "present"
    present.touch()
    for source in [
        tmp_path / "no",
        str(tmp_path / "no*"),
        tmp_path / "fold*",
        present / "below",
        [present, tmp_path / "no"],
        [present, tmp_path / "*"],
        "",
        "a\0b",
        "lone \udfff\ud800",
    ]:
        with pytest.raises(SourceNotFoundError) as caught:
            read_documents(source)
        assert isinstance(caught.value, FileNotFoundError)
        assert caught.value.errno in (errno.ENOENT, errno.ENOTDIR)
        assert isinstance(caught.value.filename, str)
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301


def test_a_directory_is_refused_with_the_way_on(tmp_path):
    for source in [tmp_path, [tmp_path], "."]:
        with pytest.raises(SourceIsDirectoryError, match=r"/\*\*") as caught:
            read_documents(source)
        assert isinstance(caught.value, IsADirectoryError)
        assert caught.value.errno == errno.EISDIR
    with pytest.raises(SourceIsDirectoryError) as caught:
        read([tmp_path], "file")
    assert (caught.value.errno, caught.value.filename) == (errno.EISDIR, str(tmp_path))


def test_a_text_given_as_a_path_is_told_so():
    with pytest.raises(SourceError, match=r"for a document pass \[text\]"):
        resolve_sources("some text that is not a path " * 200)


def test_a_file_that_goes_away_is_named_by_the_reader(tmp_path):
    path = tmp_path / "f"
    path.touch()
    documents = read_documents(path)
    path.unlink()
    with pytest.raises(SourceNotFoundError, match="no such file") as caught:
        next(documents)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(path))


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of POSIX")
def test_an_unreadable_file_is_refused_before_work_starts(tmp_path):
    path = tmp_path / "f"
    path.touch(mode=0o000)
    is_root = os.geteuid() == 0  # who reads every file
    if is_root:
        os.seteuid(65534)
    try:
        with pytest.raises(SourceError) as before:
            read_documents(path)
        with pytest.raises(SourceError) as later:
            read([path], "file")
    finally:
        if is_root:
            os.seteuid(0)
    for error in (before.value, later.value):
        assert (error.errno, error.filename) == (errno.EACCES, str(path))
        assert not isinstance(error, FileNotFoundError)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that opens but fails")
def test_a_read_error_of_the_system_is_a_source_error():
    with pytest.raises(SourceError) as caught:
        read([Path("/proc/self/mem")], "file")
    assert (caught.value.errno, caught.value.filename) == (errno.EIO, "/proc/self/mem")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="a file of unknown length")
def test_a_file_whose_length_is_not_known_is_read_to_its_end():
    (text,) = read([Path("/proc/self/status")], "file")
    assert text.endswith(b"\n")


@pytest.mark.skipif(sys.platform != "linux", reason="non-UTF-8 names")
def test_a_name_that_is_not_utf8(tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt")
    Path(name).write_bytes(b"text")
    assert list(read_documents(name)) == [b"text"]
    Path(name).write_bytes(b"\x1f\x8b")
    with pytest.raises(CorpusError):
        list(read_documents(name))


def test_mixed_and_foreign_items_are_refused_with_their_index(tmp_path):
    path = tmp_path / "f"
    path.touch()
    for sources, index in [
        ([path, "text"], 1),
        (["text", b"x", path], 2),
        (["text", 3], 1),
        ([None], 0),
        ([bytearray(b"x")], 0),
    ]:
        with pytest.raises(ArgumentError, match=rf"sources\[{index}\] is "):
            resolve_sources(sources)
        with pytest.raises(ArgumentError, match=rf"sources\[{index}\] is "):
            list(read_documents(iter(sources)))


@pytest.mark.parametrize("bare", [b"text", bytearray(b"text"), memoryview(b"text")])
def test_bare_bytes_are_refused_with_the_way_on(bare):
    with pytest.raises(ArgumentError, match=r"pass \[bytes\(text\)\]"):
        resolve_sources(bare)


@pytest.mark.parametrize("foreign", [None, 3, object()])
def test_what_is_no_source_is_refused(foreign):
    with pytest.raises(ArgumentError, match="expected a path or glob"):
        resolve_sources(foreign)


def test_an_iterators_own_exception_passes_through():
    class OwnError(Exception):
        pass

    def failing(n_good):
        yield from ["text"] * n_good
        raise OwnError

    with pytest.raises(OwnError):
        resolve_sources(failing(0))
    documents = read_documents(failing(2))
    assert [next(documents), next(documents)] == ["text", "text"]
    with pytest.raises(OwnError):
        next(documents)


def test_an_iterator_is_taken_one_by_one():
    taken = []
    documents = read_documents(taken.append(n) or str(n) for n in range(10))
    assert next(documents) == "0"
    assert taken == [0]


# documents=


def test_the_first_special_token_is_the_default_cut(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"a<s>b<t>c")
    tokens = ["<s>", "<t>"]
    assert list(read_documents(path)) == [b"a<s>b<t>c"]
    assert list(read_documents(path, special_tokens=tokens)) == [b"a", b"b<t>c"]
    assert list(read_documents(path, special_tokens={"<t>": 5})) == [b"a<s>b", b"c"]
    assert list(read_documents(path, documents="file", special_tokens=tokens)) == [b"a<s>b<t>c"]
    assert list(read_documents(["a<s>b"], special_tokens=tokens)) == ["a<s>b"]
    assert document_cut("é") == "é".encode()
    assert document_cut(b"line") == b"line"


@pytest.mark.parametrize(
    ("documents", "special_tokens", "error"),
    [
        ("", (), ArgumentError),
        (b"", (), ArgumentError),
        (3, (), ArgumentError),
        ("\ud800", (), TextError),
        (None, [""], SpecialTokenError),
        (None, ["\ud800"], TextError),
        (None, "<s>", SpecialTokenError),
        ("line", (), ArgumentError),
    ],
)
def test_cuts_that_are_refused(documents, special_tokens, error):
    with pytest.raises(error) as caught:
        read_documents(["text"], documents=documents, special_tokens=special_tokens)
    assert isinstance(caught.value, SubwordError)


def test_arguments_of_the_compiled_reader():
    with pytest.raises(ArgumentError, match="separator is empty"):
        _core.DocumentReader([], b"")
    with pytest.raises(ArgumentError, match="block_bytes is 0"):
        _core.DocumentReader([], "file", block_bytes=0)
    with pytest.raises(TypeError, match="the separator as bytes"):
        _core.DocumentReader([], "word")


# Pipes

posix = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
READ = "import sys; from subword.corpus import *; print(list(read_documents(sys.argv[1])))"


@posix
@pytest.mark.parametrize("text", [b"", b"x", b"words " * 50_000], ids=["nothing", "byte", "much"])
def test_a_named_pipe_is_a_source(tmp_path, text):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        time.sleep(0.1)  # the reader is there first
        pipe.write_bytes(STORED["gzip"](text))

    writer = threading.Thread(target=write)
    writer.start()
    assert list(read_documents(pipe)) == [text]
    writer.join()


@posix
def test_the_standard_input_is_a_source(tmp_path):
    command = [sys.executable, "-c", READ, str(STDIN)]
    done = subprocess.run(command, input=b"piped", capture_output=True, check=True)
    assert done.stdout.strip() == b"[b'piped']"
    (tmp_path / "f").write_bytes(b"from a file")
    with (tmp_path / "f").open() as file:
        done = subprocess.run(command, stdin=file, capture_output=True, check=True)
    assert done.stdout.strip() == b"[b'from a file']"


def test_a_dash_is_the_standard_input_on_the_command_line_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve_sources("-", stdin=True) == Files((STDIN,))
    with pytest.raises(SourceNotFoundError):
        resolve_sources("-")
    Path("-").touch()
    assert resolve_sources("-") == Files((Path("-"),))


@posix
def test_an_interrupt_ends_the_wait_for_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    script = f"""
import signal, sys
from subword.corpus import read_documents
signal.signal(signal.SIGINT, signal.default_int_handler)
reader = read_documents({str(tmp_path / "pipe")!r})
print("waiting", flush=True)
try:
    next(reader)
except KeyboardInterrupt:
    sys.exit(7)
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"waiting\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 7
