"""Files that are small and ask for much: refused, or read within bounds of memory and time.

Each runs in a process whose address space is bounded; what it may take is what the interpreter,
NumPy and the threads' stacks reserve, and not much more.
"""

import gzip
import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import subword
from subword.errors import FormatError

TOP = 2**32 - 2
ROOM = 3 << 30
LOAD = """
import contextlib, json, resource, sys
import subword
room = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (room, room))
for path, options in json.load(sys.stdin):
    try:
        tok = subword.load(path, **options)
        with contextlib.suppress(subword.SubwordError):
            tok.encode("a b [UNK] aaaaaaaaaaaaaaaaaaaaaaaaaaaa!")
        said = ["read", ""]
    except BaseException as error:
        said = [type(error).__name__, str(error)]
    print(json.dumps(said), flush=True)
"""


def tokenizer_json(**changes):
    root = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"},
    }
    return json.dumps({**root, **changes}).encode()


def split(pattern):
    step = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return tokenizer_json(pre_tokenizer=step)


def gguf(n_fields, field=b""):
    return b"GGUF" + struct.pack("<IQQ", 3, 0, n_fields) + field + bytes(900)


def name(text):
    return struct.pack("<Q", len(text)) + text


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value % 128 | 128)
        value //= 128
    return bytes([*out, value])


def model(*fields):
    return b"\x0a\x05\x0a\x01a\x18\x02" + b"".join(fields)


TEKKEN = {"pattern": "a", "num_vocab_tokens": 2**31 - 1, "default_vocab_size": 2**31 - 1}
# What a file is called, what is in it, and what ``load`` is told besides.
CASES = {
    "json nested lists": ("tokenizer.json", b"[" * 2_000_000, {}),
    "json nested objects": ("tokenizer.json", b'{"a":' * 1_000_000, {}),
    "json number of a million digits": (
        "tokenizer.json",
        b'{"version": ' + b"9" * 10**6 + b"}",
        {},
    ),
    "json exponent": ("tokenizer.json", tokenizer_json(version=1).replace(b"1,", b"1e999999,"), {}),
    "json of one long string": ("vocab.json", b'{"' + b"\\u0041" * 3_000_000 + b'": 0}', {}),
    "json padding to 4 GB": (
        "tokenizer.json",
        tokenizer_json(
            padding={
                "strategy": {"Fixed": 2**32 - 1},
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "a",
            }
        ),
        {},
    ),
    "json greatest id": (
        "tokenizer.json",
        tokenizer_json(
            model={"type": "WordLevel", "vocab": {"[UNK]": 0, "a": TOP}, "unk_token": "[UNK]"}
        ),
        {},
    ),
    "json fixed length of 10^18": (
        "tokenizer.json",
        tokenizer_json(pre_tokenizer={"type": "FixedLength", "length": 10**18}),
        {},
    ),
    "regex that backtracks": ("tokenizer.json", split("(?=(a+)+$)(a+)+$"), {}),
    "regex of repeated repeats": ("tokenizer.json", split("((a{1000}){1000}){1000}"), {}),
    "regex of a million groups": ("tokenizer.json", split("(" * 10**6 + ")" * 10**6), {}),
    "vocab.json greatest id": ("vocab.json", b'{"a": %d, "b": 0}' % TOP, {}),
    "yaml of aliases": (
        "t.yaml",
        b"a: &a [x, x]\n" + b"".join(b"b%d: &b [*a, *a]\n" % at for at in range(99)),
        {},
    ),
    "yaml nested": ("t.yaml", b"[" * 500_000, {}),
    "yaml block nested": ("t.yaml", b"- " * 500_000, {}),
    "yaml greatest id": (
        "t.yaml",
        b"format: subword\nversion: 2\nmodel: Bpe\npattern: none\nspecial_tokens: []\n"
        b"sizes: {vocab: 1, special_tokens: 0, merges: 0}\nvocab:\n  %d: 'a'\nmerges: []\n" % TOP,
        {},
    ),
    "yaml sizes of 4 GB": (
        "t.yaml",
        b"format: subword\nversion: 2\nmodel: Bpe\npattern: none\nspecial_tokens: []\n"
        b"sizes: {vocab: 4294967295, special_tokens: 0, merges: 4294967295}\nvocab: {}\nmerges: []\n",
        {},
    ),
    "ranks of many digits": ("t.tiktoken", b"YQ== " + b"9" * 10**6 + b"\n", {"pattern": "gpt2"}),
    "greatest rank": ("t.tiktoken", b"YQ== %d\n" % TOP, {"pattern": "gpt2"}),
    "one line of 20 MB": ("t.tiktoken", b"Y" * 20_000_000, {"pattern": "gpt2"}),
    "tekken of 2^31 tokens": (
        "tekken.json",
        json.dumps(
            {
                "config": {**TEKKEN, "default_num_special_tokens": 2**31 - 1, "version": "v3"},
                "vocab": [],
                "special_tokens": None,
            }
        ).encode(),
        {},
    ),
    "tekken of 2^31 special tokens": (
        "tekken.json",
        json.dumps(
            {
                "config": {**TEKKEN, "default_num_special_tokens": 2**31 - 300, "version": "v3"},
                "vocab": [{"rank": 0, "token_bytes": "AA==", "token_str": None}] * 256,
            }
        ).encode(),
        {},
    ),
    "protobuf of 10^9 bytes": ("t.model", model(b"\x12" + varint(10**9)), {}),
    "protobuf of 2^63 bytes": ("t.model", model(b"\x12" + varint(2**63)), {}),
    "protobuf piece of 10^9 bytes": ("t.model", b"\x0a" + varint(10**9) + b"\x0a\x01a", {}),
    "protobuf of groups": ("t.model", model(b"\x0b" * 100_000), {}),
    "gguf of 10^9 fields": ("t.gguf", gguf(10**9), {}),
    "gguf of 2^64-1 fields": ("t.gguf", gguf(2**64 - 1), {}),
    "gguf name of 4 GB": ("t.gguf", gguf(1, struct.pack("<Q", 2**32)), {}),
    "gguf 4 GB of strings": (
        "t.gguf",
        gguf(1, name(b"tokenizer.x") + struct.pack("<IIQ", 9, 8, 2**32)),
        {},
    ),
    "gguf 4 GB of bytes": (
        "t.gguf",
        gguf(1, name(b"tokenizer.x") + struct.pack("<IIQ", 9, 0, 2**32)),
        {},
    ),
    "gguf lists of lists": (
        "t.gguf",
        gguf(1, name(b"tokenizer.x") + struct.pack("<IIQ", 9, 9, 1) * 60),
        {},
    ),
    "gzip bomb": (
        "bpe_simple_vocab_16e6.txt.gz",
        gzip.compress(bytes(1 << 28)),
        {},
    ),
    "vocab.txt of empty lines": ("vocab.txt", b"\n" * 1_000_000, {"lowercase": True}),
    "scores of nothing": ("t.vocab", b"\t" * 1_000_000, {}),
}
READ = {
    "regex that backtracks",
    *("json of one long string", "json padding to 4 GB", "json greatest id", "yaml greatest id"),
    *("json fixed length of 10^18", "vocab.json greatest id", "greatest rank"),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What loading each file gave, all in one process."""
    if sys.platform != "linux":
        pytest.skip("only Linux bounds the address space")
    folder, inputs = tmp_path_factory.mktemp("hostile"), []
    for case, (file, content, options) in CASES.items():
        path = folder / case.replace("^", "").replace(" ", "_") / file
        path.parent.mkdir()
        path.write_bytes(content)
        path.with_name("merges.txt").write_bytes(b"#version: 0.2\n")
        inputs.append((str(path), options))
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(ROOM)],
        input=json.dumps(inputs),
        capture_output=True,
        text=True,
        timeout=500,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (list(CASES)[len(found)], done.stderr[-2000:])
    return dict(zip(CASES, found, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_a_small_file_that_asks_for_much(case, said):
    kind, message = said[case]
    if kind == "read":
        assert case in READ
        return
    assert (kind, CASES[case][0] in message) == ("FormatError", True), message[:300]
    assert 30 < len(message) < 600


def archives():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../outside", b"x")
        archive.writestr("tokenizer.json", tokenizer_json())
    yield "zip", packed.getvalue()
    for mode in ("w", "w:gz"):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode=mode) as archive:
            member = tarfile.TarInfo("../../outside")
            member.size = 1
            archive.addfile(member, io.BytesIO(b"x"))
        yield f"tar {mode}", packed.getvalue()


@pytest.mark.parametrize(("kind", "content"), list(archives()))
@pytest.mark.parametrize(
    ("file", "options"),
    [
        *(("file", {}), ("tokenizer.json", {}), ("t.model", {}), ("t.yaml", {}), ("t.gguf", {})),
        *(("vocab.txt", {"lowercase": True}), ("t.tiktoken", {"pattern": "gpt2"})),
        *(("tekken.json", {}), ("bpe_simple_vocab_16e6.txt.gz", {}), ("t.pkl", {})),
    ],
)
def test_nothing_is_unpacked(kind, content, file, options, tmp_path):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / file).write_bytes(content)
    with pytest.raises(FormatError, match=file):
        subword.load(folder / file, **options)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [file]


def test_a_name_of_a_role_leads_to_no_other_file(tmp_path):
    (tmp_path / "outside.jinja").write_text("outside", encoding="utf-8")
    folder = tmp_path / "folder"
    (folder / "additional_chat_templates").mkdir(parents=True)
    (folder / "tokenizer.json").write_bytes(tokenizer_json())
    config = {"chat_template": [{"name": "../../outside", "template": "inside"}]}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    assert subword.load(folder).chat_template == {"../../outside": "inside"}
    assert not Path(tmp_path / "outside").exists()
