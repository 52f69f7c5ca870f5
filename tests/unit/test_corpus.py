"""Files to documents: cuts, compression, damage."""

import contextlib
import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_samples import STORED, read, zstd
from subword import _core
from subword.corpus import (
    read_documents,
)
from subword.errors import (
    CorpusError,
)
from subword.reference import corpus as twin

BLOCK_SIZES = (1, 4, 7, 64, 1 << 20)


END = b"<|end|>"


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
