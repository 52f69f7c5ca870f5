"""The examples by which the methods are taught, trained and run by the public functions."""

import warnings

import pytest
import zstandard

import subword

LOWS = {"low": 5, "lower": 2, "widest": 3, "newest": 6}
HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
MIXED = [
    *("我", "喜欢", "吃", "苹果", "他", "不", "喜欢", "吃", "苹果派"),
    "I like to eat apples",
    "She has a cute cat",
    "you are very cute",
    "give you a hug",
]


def test_cat_in_the_hat() -> None:
    tok = subword.train_bpe(["the cat in the hat"], 259, pattern="none", ties="first")
    assert [tok.vocab[i] for i in (256, 257, 258)] == [b"th", b"the", b"the "]
    assert tok.merge_counts == [2, 2, 2]
    ids = tok.encode("the quick brown fox")
    assert ids == [258, *b"quick brown fox"]
    assert tok.decode(ids) == "the quick brown fox"


def test_low_lower_widest_newest() -> None:
    expected = "s t, e st, o w, l ow, w est, n e, ne west, w i, wi d, wid est, low e, lowe r"
    text = " ".join(word for word, n in LOWS.items() for _ in range(n))
    for source, options in ((LOWS, {}), ([text], {"pattern": "whitespace"})):
        tok = subword.train_bpe(source, 268, ties="greatest", **options)
        merges = [f"{left.decode()} {right.decode()}" for left, right in tok.merges]
        assert ", ".join(merges) == expected


def test_hug_pug_pun_bun_hugs_by_wordpiece() -> None:
    n_initial = 5 + 3 + 4  # special tokens; b h p; ##g ##n ##s ##u
    tok = subword.train_wordpiece(HUGS, n_initial + 1)
    assert tok.vocab[n_initial] == b"##gs"
    # By frequency ##u ##g would be first: it occurs 20 times.
    by_frequency = subword.train_wordpiece(HUGS, n_initial + 1, score="frequency")
    assert by_frequency.vocab[n_initial] == b"##ug"


def test_the_cat_ate() -> None:
    vocab = [b" ", b"a", b"c", b"e", b"h", b"t", b"th", b" c", b" a", b"the", b" at"]
    merges = [(b"t", b"h"), (b" ", b"c"), (b" ", b"a"), (b"th", b"e"), (b" a", b"t")]
    tok = subword.BPETokenizer(dict(enumerate(vocab)), merges)
    assert tok.encode("the cat ate") == [9, 7, 1, 5, 10, 3]
    assert tok.decode([9, 7, 1, 5, 10, 3]) == "the cat ate"


def test_mixed_corpus_by_wordpiece_characters_and_bytes() -> None:
    counts = subword.count(MIXED, pattern="whitespace").keep(lambda word: bool(word.strip()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", subword.StoppedEarlyWarning)
        wordpiece = subword.train_wordpiece(counts, 99, ties="first")
        characters = subword.train_bpe(counts, 99, alphabet="characters", ties="first")
    forms = {("##" if at else "") + c for word in counts for at, c in enumerate(word.decode())}
    assert wordpiece.vocab[5 + len(forms)] == b"Sh"
    assert characters.merges[0] == ("喜".encode(), "欢".encode())
    assert (characters.merge_counts or [])[0] == 2
    over_bytes = subword.train_bpe(counts, 266, ties="first")
    assert over_bytes.decode(over_bytes.encode("苹果")) == "苹果"
    with pytest.raises(subword.UnencodableTextError):
        characters.encode("橙子")
    assert wordpiece.encode("橙子") == [wordpiece.special_tokens["[UNK]"]]


def test_hello_with_and_without_a_space_by_o200k(shared, tmp_path) -> None:
    packed = (shared / "vocab" / "o200k_base" / "o200k_base.tiktoken.zst").read_bytes()
    path = tmp_path / "o200k_base.tiktoken"
    path.write_bytes(zstandard.ZstdDecompressor().decompressobj().decompress(packed))
    tok = subword.load(path, pattern="o200k")
    assert (tok.encode("hello"), tok.encode(" hello")) == ([24912], [40617])
