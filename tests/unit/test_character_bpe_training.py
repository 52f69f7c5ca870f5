"""BPE over characters, trained: the worked example, the twin, and what becomes of the rest."""

import warnings
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import subword
from subword.errors import (
    ArgumentError,
    CountsError,
    EmptyCorpusError,
    SpecialTokenError,
    StoppedEarlyWarning,
    TextLeftOutWarning,
    UnencodableTextError,
    VocabSizeError,
)
from subword.reference import wordpiece as twin

TIES = ["greatest", "first", "hf", "smallest_id"]
MIXED = [
    *("我", "喜欢", "吃", "苹果", "他", "不", "喜欢", "吃", "苹果派"),
    "I like to eat apples",
    "She has a cute cat",
    "you are very cute",
    "give you a hug",
]
LOWS = {"low": 5, "lower": 2, "widest": 3, "newest": 6}


def train(source, vocab_size, *arguments, **options):
    """Train over characters; a small source may run out of pairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        return subword.train_bpe(source, vocab_size, *arguments, alphabet="characters", **options)


def test_mixed_corpus_merges_two_chinese_characters_first() -> None:
    tok = train(MIXED, 40, pattern="whitespace", ties="first")
    assert tok.merges[0] == ("喜".encode(), "欢".encode())
    assert tok.merge_counts is not None
    assert tok.merge_counts[0] == 2
    assert [tok.token_bytes(i).decode() for i in tok.encode("喜欢 苹果")] == [
        "喜欢",
        " ",
        "苹果",
    ]
    with pytest.raises(UnencodableTextError, match="橙"):
        tok.encode("橙子")


def test_mixed_corpus_by_bytes_has_no_unknown() -> None:
    tok = subword.train_bpe(MIXED, 276, pattern="whitespace", ties="first")
    assert tok.decode(tok.encode("苹果")) == "苹果"
    assert b"".join(map(tok.token_bytes, tok.encode("苹果"))) == "苹果".encode()
    assert tok.decode(tok.encode("橙子")) == "橙子"


def test_mixed_corpus_by_wordpiece() -> None:
    source = subword.count(MIXED, pattern="whitespace")
    with pytest.warns(StoppedEarlyWarning):
        tok = subword.train_wordpiece(source, 200, score="likelihood", ties="first")
    # The gaps of this pattern are pre-tokens too, so a space begins one; it merges with nothing.
    n_initial = min(
        i for i, token in tok.vocab.items() if len(token.decode().removeprefix("##")) == 2
    )
    assert tok.vocab[n_initial] == b"Sh"


def test_low_lower_with_word_ends() -> None:
    tok = train(LOWS, 20, end_of_word_suffix="</w>")
    assert [" ".join(part.decode() for part in merge) for merge in tok.merges[:3]] == [
        "s t</w>",
        "e st</w>",
        "l o",
    ]
    assert tok.decode(tok.encode("  lowest\nlow ")) == "lowest low"


words_st = st.dictionaries(
    st.text("abcd é", min_size=1, max_size=7), st.integers(1, 4), min_size=1, max_size=6
)
affixes = st.sampled_from([("", ""), ("", "</w>"), ("##", ""), ("##", "</w>"), ("a", "")])


@given(words_st, st.sampled_from(TIES), affixes, st.sampled_from([None, 2, 3]), st.integers(1, 3))
def test_vocabulary_and_merges_are_those_of_the_twin(
    words, ties, marks, limit, min_frequency
) -> None:
    prefix, suffix = marks
    counts = subword.PretokenCounts.from_mapping(words, pattern="gpt2")
    learnt = twin.learn_wordpiece(
        list(counts.items()),
        vocab_size=40,
        score="frequency",
        ties=ties,
        min_frequency=min_frequency,
        continuing_prefix=prefix,
        end_of_word_suffix=suffix,
        special_tokens=["<unk>", "<s>"],
        limit_alphabet=limit,
        first_seen=counts.table.first_seen().tolist(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextLeftOutWarning)
        tok = train(
            counts,
            40,
            ["<s>"],
            ties=ties,
            min_frequency=min_frequency,
            unk_token="<unk>",
            limit_alphabet=limit,
            end_of_word_suffix=suffix,
            continuing_subword_prefix=prefix,
        )
    assert list(tok.vocab.values()) == learnt.tokens
    assert list(tok.model.merges) == [(m.left, m.right) for m in learnt.merges]
    assert tok.merge_counts == [m.pair_count for m in learnt.merges]


@given(
    st.lists(st.text("abc é", max_size=9), min_size=1, max_size=5).filter(
        lambda t: any(map(str.strip, t))
    ),
    affixes,
)
def test_words_decode_with_one_space_between_them(documents, marks) -> None:
    prefix, suffix = marks
    if not (prefix or suffix) or prefix == "a":
        return
    tok = train(documents, 60, end_of_word_suffix=suffix, continuing_subword_prefix=prefix)
    for text in documents:
        assert tok.decode(tok.encode(text)) == " ".join(text.split(" ")).strip() or "  " in text
        assert tok.decode(tok.encode(text)).split() == text.split()


def test_marks_are_dropped_where_the_split_keeps_spaces() -> None:
    for marks in (
        {"end_of_word_suffix": "</w>"},
        {"continuing_subword_prefix": "##"},
        {"end_of_word_suffix": "</w>", "continuing_subword_prefix": "##"},
    ):
        tok = train(["low lower  lowest"], 40, pattern="gpt2", **marks)
        assert tok.decode(tok.encode("lower  low")) == "lower  low"


def test_byte_fallback_has_a_token_for_every_byte() -> None:
    tok = train(["aab你"], 264, ["<s>"], byte_fallback=True)
    assert list(tok.vocab.values())[:2] == [b"<s>", b"<0x00>"]
    assert tok.vocab[257] == b"a"
    assert tok.decode(tok.encode("ab橙<s>")) == "ab橙<s>"
    assert [tok.token_bytes(i) for i in tok.encode("é")] == [b"<0xC3>", b"<0xA9>"]
    assert tok.decode_bytes(tok.encode(b"a\xffb")) == b"a\xef\xbf\xbdb"


def test_characters_left_out_are_reported_and_never_dropped() -> None:
    source = {"ab": 9, "cb": 2}
    with pytest.warns(
        TextLeftOutWarning, match=r"1 characters .* 2 occurrences \('c'\); they become <unk>"
    ):
        tok = train(source, 10, limit_alphabet=2, unk_token="<unk>")
    assert tok.encode("cab") == [0, 3]
    with pytest.warns(TextLeftOutWarning, match="they become their bytes"):
        tok = train(source, 300, limit_alphabet=2, byte_fallback=True)
    assert tok.decode(tok.encode("cab")) == "cab"
    with pytest.warns(TextLeftOutWarning, match="refused: give unk_token"):
        tok = train(source, 10, character_coverage=0.8)
    with pytest.raises(UnencodableTextError, match="'c'"):
        tok.encode("cab")
    with pytest.warns(TextLeftOutWarning, match="3 bytes that are no UTF-8"):
        train([b"a\xff\xfe\xff"], 10)


def test_a_left_out_character_parts_its_neighbours() -> None:
    with pytest.warns(TextLeftOutWarning):
        tok = train({"axb": 5, "ab": 1}, 5, limit_alphabet=2)
    assert tok.merges == [(b"a", b"b")]
    assert tok.merge_counts == [1]


def test_the_unknown_token_may_be_one_of_the_special_tokens() -> None:
    tok = train(["ab"], 9, ["<s>", "<unk>"], unk_token="<unk>")
    assert tok.special_tokens == {"<s>": 0, "<unk>": 1}
    assert tok.encode("z<s>") == [1, 0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"alphabet": "words"}, ArgumentError, "alphabet is 'words'"),
        ({"alphabet": "bytes", "unk_token": "?"}, ArgumentError, "unk_token needs"),
        ({"alphabet": "bytes", "limit_alphabet": 9}, ArgumentError, "limit_alphabet needs"),
        (
            {"alphabet": "bytes", "end_of_word_suffix": "x"},
            ArgumentError,
            "end_of_word_suffix needs",
        ),
        ({"limit_alphabet": 0}, ArgumentError, "limit_alphabet is 0"),
        ({"character_coverage": 1.5}, ArgumentError, "character_coverage is 1.5"),
        ({"max_token_length": 5}, ArgumentError, "counts bytes"),
        ({"byte_fallback": True, "end_of_word_suffix": "x"}, ArgumentError, "byte_fallback is on"),
        ({"ties": "odd"}, ArgumentError, "ties is 'odd'"),
        ({"vocab_size": 2}, VocabSizeError, "2 special tokens and 2 characters"),
        ({"vocab_size": 200, "byte_fallback": True}, VocabSizeError, "vocab_size is 200"),
        ({"special_tokens": ["a"]}, SpecialTokenError, "character of the alphabet"),
        ({"special_tokens": [""]}, SpecialTokenError, "empty"),
        ({"unk_token": ""}, SpecialTokenError, "empty"),
        ({"pattern": "gpt2"}, CountsError, "leave pattern out"),
        ({"n_threads": 0}, ArgumentError, "n_threads"),
    ],
)
def test_refused(options, error, message) -> None:
    source = subword.PretokenCounts.from_mapping({"ab": 2}, pattern="whitespace")
    arguments = {
        "vocab_size": 9,
        "alphabet": "characters",
        "special_tokens": ["<s>"],
        "unk_token": "<unk>",
    }
    if options.get("alphabet") == "bytes":
        arguments = {"vocab_size": 300}
    with pytest.raises(error, match=message):
        subword.train_bpe(source, **(arguments | options))


def test_nothing_but_whitespace_is_refused_where_words_are_marked() -> None:
    with pytest.raises(EmptyCorpusError, match="no word"):
        train([" \n "], 30, end_of_word_suffix="</w>")


def test_counts_past_32_bits() -> None:
    tok = train({"ab": 3_000_000_000, "bc": 2_999_999_999}, 4)
    assert tok.merges == [(b"a", b"b")]
    assert tok.merge_counts == [3_000_000_000]


def test_a_merge_that_spells_an_older_token() -> None:
    # "ab" + "" and "a" + "b": with the prefix "a", the character inside a word is "ab" itself.
    tok = train({"ab": 5, "bb": 3}, 30, continuing_subword_prefix="a", unk_token="?")
    assert len(set(tok.vocab.values())) == len(tok.vocab)
    for left, right in pairwise([b"ab", b"bb"]):
        assert tok.encode(left), tok.encode(right)
