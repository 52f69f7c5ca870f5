"""A tokenizer.json that subword writes gives the same ids in HF ``tokenizers``."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subword import _core
from subword.bpe_models import bpe_from_ranks
from subword.byte_characters import from_characters
from subword.errors import FormatError
from subword.formats import load, tokenizer_json
from subword.models import Bpe
from subword.patterns import NAMED_PATTERNS, resolve_pattern
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

tokenizers = pytest.importorskip("tokenizers", reason="the peer is not installed")
zstandard = pytest.importorskip("zstandard")

GOLDEN = Path(__file__).parents[1] / "golden"
SPECIAL = ["<|endoftext|>", "<|end|>", "<|end|><|end|>", "two words", "<中>"]
PARTS = ["<|end|>", "<|end|", ">", "<", " ", "two words", "two", "中", "<中>", "|>"]
WHITESPACE = " \t\n\r\x0b\x0c\x85\xa0\u1680\u2000\u2003\u2028\u2029\u202f\u205f\u3000"
SAMPLE = (
    "It's 1234 o'clock, they'RE here; we'll see.\n\n  def f(x):\r\n\treturn x + 1\n"
    "Größe 你好世界 привет こんにちは カタカナ ١٢٣ e\u0301 🙂 don'T I'M\u3000\u3000x \u00a0y\n"
) * 4


def through_hf(tok, path):
    tokenizer_json.write(tok, path)
    return tokenizers.Tokenizer.from_file(str(path))


def golden_texts():
    """Every text of the golden cases."""
    texts = []
    for path in sorted(GOLDEN.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            texts += [value for key, value in case.items() if key == "text" and type(value) is str]
    return texts


@pytest.fixture(scope="module", params=NAMED_PATTERNS)
def pair(request, tmp_path_factory):
    """A tokenizer of each named pattern, and the same in HF."""
    size = 300
    tok = train_bpe([SAMPLE], size, SPECIAL, pattern=request.param)
    return tok, through_hf(tok, tmp_path_factory.mktemp("hf") / "tokenizer.json")


def test_golden_texts_give_equal_ids(pair):
    tok, hf = pair
    texts = golden_texts()
    assert len(texts) > 50
    for text in [*texts, SAMPLE, "<|end|><|end|><|end|> two words<中> 中"]:
        ids = tok.encode(text)
        assert hf.encode(text, add_special_tokens=False).ids == ids, text
        assert hf.decode(ids, skip_special_tokens=False) == tok.decode(ids)


@settings(max_examples=300, deadline=None)
@given(text=st.text(alphabet=WHITESPACE + "aZ'sS1٣.你e\u0301\u017f/", max_size=12))
def test_hostile_whitespace_gives_equal_ids(pair, text):
    tok, hf = pair
    assert hf.encode(text, add_special_tokens=False).ids == tok.encode(text)


@settings(max_examples=200, deadline=None)
@given(parts=st.lists(st.sampled_from(PARTS), max_size=8))
def test_special_tokens_are_found_alike(pair, parts):
    (tok, hf), text = pair, "".join(parts)
    assert hf.encode(text, add_special_tokens=False).ids == tok.encode(text)


def test_special_tokens_as_text_are_text_in_both(pair):
    tok, hf = pair
    hf.encode_special_tokens = True
    text = "a<|endoftext|> two words<中>"
    ids = hf.encode(text, add_special_tokens=False).ids
    hf.encode_special_tokens = False
    assert tok.encode(text, special="as_text") == ids


def test_what_is_written_is_read_back_equal(pair, tmp_path):
    tok, _ = pair
    tokenizer_json.write(tok, tmp_path / "tokenizer.json")
    again = tokenizer_json.read(tmp_path / "tokenizer.json")
    assert again == tok
    assert again.model == tok.model


def test_what_hf_writes_back_is_read_equal(pair, tmp_path):
    """HF drops what it does not know; the ids stay."""
    tok, hf = pair
    hf.save(str(tmp_path / "hf.json"))
    again = tokenizer_json.read(tmp_path / "hf.json")
    assert again.special_tokens == tok.special_tokens
    assert [again.encode(text) for text in golden_texts()] == [
        tok.encode(text) for text in golden_texts()
    ]


def test_gaps_and_whole_pretokens_survive(tmp_path):
    ranks = {bytes([byte]): byte + 5 for byte in range(256)}
    ranks |= {b"he": 300, b"llo": 310, b"hello": 400}
    model = bpe_from_ranks(ranks)
    tok = Tokenizer(model, {"<|a|>": 305, "<|b|>": 1000}, resolve_pattern("gpt2"))
    hf = through_hf(tok, tmp_path / "tokenizer.json")
    text = "hello he llo<|a|>hello<|b|>"
    assert tok.encode(text)[0] == 400
    assert hf.encode(text, add_special_tokens=False).ids == tok.encode(text)
    assert tokenizer_json.read(tmp_path / "tokenizer.json") == tok


@pytest.mark.parametrize(
    "pattern",
    [
        r"\p{N}{1,3}+|\s++$|[^\s\p{N}]+",
        r"^\p{L}+|\S+?x|\S|\s",
        r"(?:ab|c)+|(?>\d+)|\D",
        r"(?<=x)a|(?<!y)b+|.",
        r"(?i:'re|'ve)|\p{Lu}\p{Ll}*|\P{L}",
        r"[a-c\-\]]+|[^\p{L}\p{N}\s]+",
    ],
)
@settings(max_examples=100, deadline=None)
@given(
    texts=st.lists(st.text(alphabet="abcxyAB1٣'rveRE \n-]", max_size=10), min_size=5, max_size=5)
)
def test_patterns_are_translated(pattern, texts, tmp_path_factory):
    tok = train_bpe([SAMPLE], 256, pattern=pattern)
    hf = through_hf(tok, tmp_path_factory.getbasetemp() / "pattern.json")
    for text in texts:
        pieces = [from_characters(piece) for piece, _ in hf.pre_tokenizer.pre_tokenize_str(text)]
        assert pieces == _core.split(text.encode(), [pattern]), text


@pytest.mark.parametrize(
    "pattern",
    [
        r"\w+",
        r"a*",
        r"(?=a)|b?",
        r"a|",
        r"(?i)ab|c",
        r"(?i:ss)|.",
        r"a\b|.",
        r"[a&&b]|.",
        r"[[:alpha:]]|.",
        r"(?P<n>a)",
        r"a{,3}|.",
        r"\p{Script=Han}|.",
    ],
)
def test_patterns_that_the_engines_may_read_otherwise_are_refused(pattern, tmp_path):
    tok = train_bpe([SAMPLE], 256, pattern=pattern)
    with pytest.raises(FormatError, match="pattern"):
        tokenizer_json.write(tok, tmp_path / "tokenizer.json")
    assert not list(tmp_path.iterdir())


def test_special_token_spelt_like_another_token_is_refused(tmp_path):
    model = Bpe({byte: bytes([byte]) for byte in range(256)}, ())
    with pytest.raises(FormatError, match="é"):
        tokenizer_json.write(Tokenizer(model, {"é": 256}), tmp_path / "tokenizer.json")


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_real_vocabularies_give_their_ids_in_hf(name, shared, tmp_path):
    with (shared / "vocab" / name / f"{name}.tiktoken.zst").open("rb") as packed:
        data = zstandard.ZstdDecompressor().stream_reader(packed).read()
    (tmp_path / "ranks.tiktoken").write_bytes(data)
    hf = through_hf(load(tmp_path / "ranks.tiktoken"), tmp_path / "tokenizer.json")
    for case in json.loads((shared / "golden" / f"{name}.json").read_text())["cases"]:
        ids = hf.encode(case["t"], add_special_tokens=False).ids
        assert ids == case.get("ids_sp", case["ids"]), case["t"]
        assert hf.decode(ids, skip_special_tokens=False) == case["t"]
