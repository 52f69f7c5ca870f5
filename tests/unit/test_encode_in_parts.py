"""A long ``str`` is encoded part by part: the ids, and the refusals, are those of the whole."""

import random
import unicodedata

import pytest

import subword
from subword import BPETokenizer, Tokenizer
from subword.normalizers import Lowercase, Nfc, Nfd, Nfkc, Normalizer

WORDS = ["the", "cat", "é", "中文字", "🙂", "'ll", "12345", "\n\n", "  ", "!?", "<|end|>", "ǅ"]


@pytest.fixture(scope="module")
def text() -> str:
    draw = random.Random(3)
    return "".join(draw.choice(WORDS) + draw.choice(["", " ", " ", "\n"]) for _ in range(600_000))


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "none"])
def test_ids_are_those_of_the_bytes(pattern: str, text: str) -> None:
    assert len(text) > 1 << 20
    trained = subword.train_bpe([text[:20_000]], 400, ["<|end|>"], pattern="gpt2")
    tok: Tokenizer = trained.replace(pattern=pattern)
    if pattern == "none":
        text = text[: (1 << 20) + 5]
    for special in ("recognize", "as_text"):
        ids = tok.encode_array(text, special=special)
        assert (ids == tok.encode_array(text.encode(), special=special)).all()
        assert tok.decode(ids) == text


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "deepseek_v3"])
@pytest.mark.parametrize("steps", [(), (Nfc(),), (Nfkc(), Lowercase())])
def test_chinese_is_cut_at_its_stops(pattern: str, steps: Normalizer) -> None:
    draw = random.Random(4)
    words = [
        "中文",
        "字",
        "，",
        "。",
        "、",
        "e\u0301",
        "\u0301",
        "か\u3099",
        "Ⅷ",
        "A",
        "\n",
        "，。",
    ]
    text = "".join(draw.choices(words, k=700_000))
    trained = subword.train_bpe([text[:20_000]], 400, pattern="gpt2")
    tok: Tokenizer = trained.replace(pattern=pattern, normalizer=steps)
    expected = tok.encode_array(text.encode())
    assert (tok.encode_array(text) == expected).all()
    assert (tok.encode_batch([text], n_threads=2)[0] == expected).all()
    assert list(tok.encode_spans(text[:100_000]).ids) == tok.encode(text[:100_000])


LETTERS = ["слово", "й", "и\u0306", "İ", "ﬁ", "한국", "हिन्दी", "ก็", "٣", "Ⅷ", "²", "'s", "🙂", "ª"]


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k", "llama3", "deepseek_v3"])
@pytest.mark.parametrize("steps", [(), (Nfd(),), (Nfkc(), Lowercase()), (Nfd(), Lowercase())])
def test_words_of_any_script_are_cut_at_their_spaces(pattern: str, steps: Normalizer) -> None:
    draw = random.Random(5)
    ends = ["", " ", " ", "\n", "\r\n", "\t", "\u00a0", " \n ", "!\n"]
    text = "".join(draw.choice(LETTERS) + draw.choice(ends) for _ in range(400_000))
    # Merges that reach from marks into newlines tell where a cut parts them.
    sample = unicodedata.normalize("NFD", text[:50_000])
    trained = subword.train_bpe([sample], 400, pattern=pattern)
    tok: Tokenizer = trained.replace(normalizer=steps)
    expected = tok.encode_array(text.encode())
    assert (tok.encode_array(text) == expected).all()
    assert (tok.encode_batch([text], n_threads=2)[0] == expected).all()


def test_a_text_without_a_place_to_cut_is_encoded_whole() -> None:
    tok = subword.train_bpe(["中文字 abc"], 260)
    text = "中文字" * 500_000
    assert tok.decode(tok.encode_array(text)) == text


def test_refusals_name_the_place_in_the_whole(text: str) -> None:
    tok = subword.train_bpe([text[:2000]], 300, ["<|end|>"])
    with pytest.raises(subword.TextError, match=f"character {len(text)}"):
        tok.encode_array(text + "\ud800")
    with pytest.raises(
        subword.SpecialTokenInTextError, match=f"byte {len(('é ' * 2**20).encode())}"
    ):
        tok.encode_array("é " * 2**20 + "<|end|>", special="forbid")
    few = BPETokenizer({0: b"a", 1: b" ", 2: "é".encode()[:1], 3: "é".encode()[1:]}, [])
    with pytest.raises(subword.UnencodableTextError, match=str(2 + 2 * 2**20)):
        few.encode_array("é" + "a " * 2**20 + "z")
