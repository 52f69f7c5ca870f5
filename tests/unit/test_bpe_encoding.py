import json
import random
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.bpe_models import bpe_from_ranks, bpe_from_tokens
from subword.errors import TextError, UnencodableTextError, VocabularyError
from subword.models import Bpe
from subword.named import BPETokenizer
from subword.patterns import NAMED_PATTERNS, resolve_pattern
from subword.reference import bpe as twin
from subword.reference import pretokens as split_twin
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

GOLDEN = Path(__file__).parents[1] / "golden"
BYTES = {byte: bytes([byte]) for byte in range(256)}

Merges = list[tuple[bytes, bytes]]


def vocab_of(merges: Merges) -> dict[int, bytes]:
    """Bytes, then what the merges make, each once."""
    made = dict.fromkeys(left + right for left, right in merges)
    return BYTES | dict(enumerate(made, start=256))


def tokens_of(tok: Tokenizer, text: bytes) -> list[bytes]:
    return [tok.token_bytes(token_id) for token_id in tok.encode(text)]


def by_merges(merges: Merges, **options: Any) -> Tokenizer:
    return Tokenizer(bpe_from_tokens(vocab_of(merges), merges), **options)


def ranks_of(tokens: list[bytes]) -> dict[bytes, int]:
    """Ranks of single bytes first, as a ``.tiktoken`` file has them."""
    return {token: rank for rank, token in enumerate([*BYTES.values(), *tokens])}


def read_cases() -> list[Any]:
    lines = (GOLDEN / "bpe_encoding.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, lines)]


def read(case: dict[str, Any], text: str) -> bytes:
    return bytes.fromhex(text) if case.get("hex") else text.encode()


@pytest.mark.parametrize("memo_bytes", [0, 1 << 26])
@pytest.mark.parametrize("case", read_cases())
def test_golden(case: dict[str, Any], memo_bytes: int) -> None:
    pretoken = read(case, case["pretoken"])
    expected = [read(case, token) for token in case["tokens"]]
    if case["rule"] == "merges":
        merges = [(read(case, left), read(case, right)) for left, right in case["merges"]]
        tok = by_merges(merges, memo_bytes=memo_bytes)
    else:
        ranks = {read(case, token): rank for rank, token in enumerate(case["ranks"])}
        # Bytes that the case leaves out get ranks behind all others, where they change nothing.
        for byte in BYTES.values():
            ranks.setdefault(byte, len(ranks) + 1000)
        tok = Tokenizer(bpe_from_ranks(ranks), memo_bytes=memo_bytes)
    assert tokens_of(tok, pretoken) == expected
    assert tokens_of(tok, pretoken) == expected


@st.composite
def merge_lists(draw: st.DrawFn, *, proper: bool) -> Merges:
    """Merges of tokens over few letters; if not proper, in any order."""
    alphabet = [
        bytes([letter]) for letter in draw(st.sampled_from([b"ab", b"a", b"abc", b"ab\xc3\xa9"]))
    ]
    tokens = list(alphabet)
    merges: Merges = []
    for _ in range(draw(st.integers(0, 14))):
        merge = (draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens)))
        if merge in merges or len(merge[0] + merge[1]) > 40:
            continue
        merges.append(merge)
        if merge[0] + merge[1] not in tokens:
            tokens.append(merge[0] + merge[1])
    return merges if proper else draw(st.permutations(merges))


def pretokens(max_size: int) -> st.SearchStrategy[bytes]:
    return st.one_of(
        st.text("ab", max_size=max_size).map(str.encode),
        st.text("aaab\xe9c", max_size=max_size // 2).map(str.encode),
        st.tuples(st.sampled_from([b"a", b"ab", b"aab", b"\xc3\xa9"]), st.integers(0, max_size // 3))
        .map(lambda run: run[0] * run[1]),
    )  # fmt: skip


@pytest.mark.parametrize("proper", [True, False])
@given(data=st.data())
def test_kernel_merges_as_the_twin(proper: bool, data: st.DataObject) -> None:
    merges = data.draw(merge_lists(proper=proper))
    tok = by_merges(merges)
    ranks = {merge: rank for rank, merge in enumerate(merges)}
    # Beyond 48 bytes another path takes over; the same pre-token twice may come from the memo.
    for pretoken in data.draw(st.lists(pretokens(120), max_size=4)):
        expected = twin.encode(pretoken, ranks)
        assert tokens_of(tok, pretoken) == expected
        assert tokens_of(tok, pretoken) == expected


@given(
    st.lists(st.text("ab", min_size=2, max_size=8).map(str.encode), max_size=14, unique=True),
    st.lists(pretokens(100), max_size=4),
)
def test_kernel_follows_ranks_as_the_twin(tokens: list[bytes], texts: list[bytes]) -> None:
    ranks = ranks_of(tokens)
    tok = Tokenizer(bpe_from_ranks(ranks))
    for text in [*texts, *tokens]:
        expected = twin.encode_by_ranks(text, ranks)
        assert tokens_of(tok, text) == expected
        assert tok.encode(text) == [ranks[token] for token in expected]


@given(
    st.lists(st.text("ab", min_size=2, max_size=6), max_size=10, unique=True),
    st.randoms(use_true_random=False),
)
def test_ranks_may_stand_in_any_order_among_the_bytes(
    words: list[str], shuffler: random.Random
) -> None:
    tokens = [*BYTES.values(), *(word.encode() for word in words)]
    shuffler.shuffle(tokens)
    ranks = {token: 3 * rank + 5 for rank, token in enumerate(tokens)}
    tok = Tokenizer(bpe_from_ranks(ranks))
    for text in (b"abababab", b"aabbaabb" * 9, b"bbbbaaaa", b"a" * 70):
        assert tokens_of(tok, text) == twin.encode_by_ranks(text, ranks)


def quick_twin(pretoken: bytes, ranks: Mapping[tuple[bytes, bytes], int]) -> list[bytes]:
    """The rule of the twin, which looks at no pair again that has not changed."""
    never = len(ranks)
    tokens = [bytes([byte]) for byte in pretoken]
    ranked = [ranks.get(pair, never) for pair in pairwise(tokens)]
    while (rank := min(ranked, default=never)) < never:
        place = ranked.index(rank)
        tokens[place : place + 2] = [tokens[place] + tokens[place + 1]]
        del ranked[place]
        for changed in (place - 1, place):
            if 0 <= changed < len(ranked):
                ranked[changed] = ranks.get((tokens[changed], tokens[changed + 1]), never)
    return tokens


@pytest.mark.parametrize("proper", [True, False])
@given(
    data=st.data(),
    length=st.sampled_from([47, 48, 49, 1023, 1024, 1025, 4000]),
    seed=st.integers(0, 99),
)
def test_long_pretokens_merge_as_the_twin(
    proper: bool, data: st.DataObject, length: int, seed: int
) -> None:
    merges = data.draw(merge_lists(proper=proper))
    tok = by_merges(merges)
    ranks = {merge: rank for rank, merge in enumerate(merges)}
    letters = b"".join({left + right: 0 for left, right in merges}) or b"ab"
    text = bytes(random.Random(seed).choices(letters + b"ab", k=length))
    assert tokens_of(tok, text) == quick_twin(text, ranks)
    # Smaller ones after it do not see what it left in the buffers.
    for part in (text[:60], text[-50:], text[:1030]):
        assert tokens_of(tok, part) == quick_twin(part, ranks)


TRAINING = [
    "the cat in the hat sat on the mat and that is that",
    "tokenization of tokens tokenizes the untokenized",
    "naïve café 中文中文分词 日本語 🙂🙂 aaaaaaaa aaaa",
]


def trained() -> Tokenizer:
    return train_bpe(TRAINING * 3, 330, ["<|end|>"])


@given(
    st.lists(
        st.sampled_from([" the", "token", "ization", "aaaa", "中文", "分", "🙂", "é", " ", "zq"])
        | st.text(max_size=4),
        max_size=20,
    ).map("".join),
    st.sampled_from(sorted(NAMED_PATTERNS)),
)
def test_a_trained_tokenizer_encodes_as_split_and_merge_of_the_twins(text: str, name: str) -> None:
    tok = trained().replace(pattern=name)
    ranks = {merge: rank for rank, merge in enumerate(tok.merges)}
    expected = [
        token
        for pretoken in split_twin.split(text, resolve_pattern(name))
        for token in twin.encode(pretoken, ranks)
    ]
    assert tokens_of(tok, text.encode()) == expected
    assert tok.decode(tok.encode(text)) == text


def test_the_memo_changes_no_ids() -> None:
    chooser = random.Random(5)
    words = [
        "".join(chooser.choices("thecatinzq ", k=chooser.randint(1, 200))) for _ in range(3000)
    ]
    text = " ".join(chooser.choice(words) for _ in range(6000))
    texts = [text, text[::-1], text]
    expected = [trained().replace(memo_bytes=0).encode(t) for t in texts]
    for memo_bytes in (1, 1 << 10, 1 << 16, 1 << 20, 1 << 26):
        tok = trained().replace(memo_bytes=memo_bytes)
        assert [tok.encode(t) for t in texts] == expected


def test_whole_first_looks_a_pretoken_up_before_it_merges() -> None:
    # "abc" cannot be made by merges: (b, c) is merged first and (a, bc) is no merge.
    vocab = BYTES | {256: b"bc", 257: b"ab", 258: b"abc"}
    merges = ((98, 99), (97, 98))
    assert Tokenizer(Bpe(vocab, merges)).encode("abc") == [97, 256]
    whole = Tokenizer(Bpe(vocab, merges, whole_first=True))
    assert whole.encode("abc") == [258]
    assert whole.encode("abcd") == [97, 256, 100]
    assert whole.replace(pattern="gpt2").encode("abc abc") == [258, 32, 97, 256]


def test_a_rank_that_no_merge_reaches_is_only_looked_up() -> None:
    ranks = ranks_of([b"bc", b"ab", b"abc", b"xyz"])
    tok = Tokenizer(bpe_from_ranks(ranks))
    assert tokens_of(tok, b"abc") == [b"abc"]
    assert tokens_of(tok, b"xabc") == [b"x", b"abc"]
    assert tokens_of(tok, b"xyz") == [b"xyz"]
    assert tokens_of(tok, b"xyzx") == [b"x", b"y", b"z", b"x"]


def test_a_text_that_needs_a_missing_byte_is_refused_by_name_and_place() -> None:
    tok = BPETokenizer({0: b"a", 1: b"b", 2: b"ab", 3: b" "}, [(b"a", b"b")], ["<s>"])
    assert tok.encode("ab ab<s>") == [2, 3, 2, 4]
    for text, byte, offset in [
        ("c", "0x63", 0),
        ("ab cab", "0x63", 3),
        ("ab<s>ab abd", "0x64", 10),
        ("ab é", "0xc3", 3),
        ("ab " * 100 + "x", "0x78", 300),
        ("a" * 60 + "\n", "0x0a", 60),
        ("ab" * 3000 + "z", "0x7a", 6000),
    ]:
        with pytest.raises(UnencodableTextError, match=rf"{byte} at byte {offset} "):
            tok.encode(text)
    with pytest.raises(TextError):
        tok.encode("c")
    # A refusal leaves nothing behind.
    assert tok.encode("ab") == [2]


def test_the_place_of_a_missing_byte_does_not_depend_on_threads_or_parts() -> None:
    tok = BPETokenizer({0: b"a", 1: b" ", 2: b"<"}, [], ["<s>"])
    for text, offset in [
        ("a " * 600_000 + "é", 1_200_000),
        ("a <s>" * 300_000 + " aé", 1_500_002),
    ]:
        for n_threads in (1, 2):
            with pytest.raises(UnencodableTextError, match=f"text 1: .*0xc3 at byte {offset} "):
                tok.encode_batch(["a", text], n_threads=n_threads)
        with pytest.raises(UnencodableTextError, match=f"0xc3 at byte {offset} "):
            tok.encode_spans(text)
        with pytest.raises(UnencodableTextError, match=f"0xc3 at byte {offset} "):
            list(tok.encode_iterable([text[:1000], text[1000:2005], text[2005:]]))


@pytest.mark.parametrize(
    ("vocab", "merges"),
    [
        ({0: b"a", 1: b"a"}, []),
        ({0: b"a", 1: b"b"}, [(b"a", b"c")]),
        ({0: b"a", 1: b"b"}, [(b"a", b"b")]),
        ({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b"), (b"a", b"b")]),
        ({0: b""}, []),
        ({0: "a"}, []),
        ({"a": b"a"}, []),
        ({-1: b"a"}, []),
        ({2**32 - 1: b"a"}, []),
        ({2**70: b"a"}, []),
        ({4_000_000_000: b"a"}, []),
        ({1.0: b"a"}, []),
        ({0: b"a"}, [(b"a",)]),
        ({0: b"a", 1: b"aa"}, [(b"a", b"a", b"a")]),
        ({0: b"a", 1: b"aa"}, ["aa"]),
    ],
)
def test_a_vocabulary_that_contradicts_itself_is_refused(vocab: Any, merges: Any) -> None:
    with pytest.raises(VocabularyError):
        BPETokenizer(vocab, merges)


def test_ranks_that_contradict_themselves_are_refused() -> None:
    for ranks in ({b"a": 0, b"b": 0}, {b"a": -1}, {b"a": 2**32}, {b"": 0}):
        with pytest.raises(VocabularyError):
            bpe_from_ranks(ranks)


def test_models_given_as_data_are_checked_too() -> None:
    for model in (
        Bpe({0: b"a"}, ((0, 7),)),
        Bpe({-1: b"a"}, ()),
        Bpe({2**40: b"a"}, ()),
        Bpe({0: b"a", 1: b"aa"}, ((0, -1),)),
        Bpe({0: b"a", 1: b"aa"}, ((0, 2**32),)),
    ):
        with pytest.raises(VocabularyError):
            Tokenizer(model)


def test_ids_may_have_gaps_and_any_order() -> None:
    tok = BPETokenizer({7: b"a", 1_000_000: b"b", 3: b"ab"}, [(b"a", b"b")], ["<s>"])
    assert tok.encode("aab<s>b") == [7, 3, 1_000_001, 1_000_000]
    assert tok.decode([1_000_001, 3]) == "<s>ab"
    assert tok.vocab_size == len(tok) == 1_000_002
    assert list(tok.vocab) == [3, 7, 1_000_000, 1_000_001]


LONG_TEXTS = {
    "b15 dashes": "Hello" + "-" * 32_768,
    "b15 x": "x" * 524_288,
    "b16 a": "a" * 1_000_000,
    "b17 spaces": " " * 1_000_000 + "x",
    "spaces in a": "a" + " " * 1_000_000 + "b",
    "cjk": "".join(chr(0x4E00 + n * n % 20_000) for n in range(333_000)),
    "one emoji": "🙂" * 250_000,
    "ab": "ab" * 500_000,
    "digits": "1234567890" * 100_000,
    "newlines": "\r\n" * 500_000,
    "no utf-8": "\xff",
}


@pytest.mark.parametrize("name", ["gpt2", "cl100k", "o200k", "none"])
@pytest.mark.parametrize("text", LONG_TEXTS.values(), ids=LONG_TEXTS)
def test_b15_b16_b17_a_megabyte_round_trips(text: str, name: str) -> None:
    runs = ["a", "x", " ", "-", "🙂", "中", "\r\n", "ab", "12"]
    tok = train_bpe({run * 64: 5 for run in runs}, 300).replace(pattern=name)
    ids = tok.encode(text)
    assert tok.decode(ids) == text
    assert tok.count_tokens(text) == len(ids)
    raw = b"\xff" * 1_000_000 if text == "\xff" else text.encode()
    assert tok.decode_bytes(tok.encode(raw)) == raw


def test_b33_a_part_of_a_character_is_bytes_or_a_replacement() -> None:
    tok = BPETokenizer(BYTES | {256: b"\xf0\x9f"}, [(b"\xf0", b"\x9f")])
    ids = tok.encode("🙂")
    assert [tok.token_bytes(token_id) for token_id in ids] == [b"\xf0\x9f", b"\x99", b"\x82"]
    assert [tok.decode([token_id]) for token_id in ids] == ["\ufffd"] * 3
    assert [tok.decode_bytes([token_id]) for token_id in ids] == [b"\xf0\x9f", b"\x99", b"\x82"]
    assert tok.decode(ids[1:]) == "\ufffd\ufffd"
    assert tok.decode(ids[:2]) == "\ufffd"
    with pytest.raises(UnicodeDecodeError):
        tok.decode(ids[:2], errors="strict")
    assert tok.decode(ids) == "🙂"
    spans = tok.encode_spans("a🙂b")
    assert spans.byte_spans == [(0, 1), (1, 3), (3, 4), (4, 5), (5, 6)]
    assert spans.char_spans == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]


def test_merges_from_ranks_are_those_a_training_made() -> None:
    tok = train_bpe(TRAINING, 320)
    ranks = {token: token_id for token_id, token in tok.vocab.items()}
    assert bpe_from_ranks(ranks).merges == tuple(tok.model.merges)
    assert bpe_from_ranks({}).merges == ()
