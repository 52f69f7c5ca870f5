"""What may be a source, what documents= may be, and pipes."""

import errno
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from corpus_samples import STORED, read
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
import sys
from subword.corpus import read_documents
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
