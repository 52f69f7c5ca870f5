"""WordPiece and character merges against HF tokenizers, where the two should agree."""

import random
from collections import Counter

import pytest
import zstandard

from subword import _core

tokenizers = pytest.importorskip("tokenizers", reason="the peers group is not installed")


@pytest.fixture(scope="module")
def vocab(shared):
    packed = (shared / "vocab" / "bert_uncased" / "vocab.txt.zst").read_bytes()
    text = zstandard.ZstdDecompressor().decompress(packed, max_output_size=1 << 24).decode()
    return {token: index for index, token in enumerate(text.split("\n")[:-1])}


def random_words(vocab, n_words):
    pick = random.Random(1)
    listed = list(vocab)
    letters = "abcdefghijklmnopqrstuvwxyz#é你"
    makers = [
        lambda: "".join(pick.choices(letters, k=pick.randrange(1, 20))),
        lambda: "".join(pick.choices(listed, k=pick.randrange(1, 3))),
        lambda: "".join(t.removeprefix("##") for t in pick.choices(listed, k=4)),
        lambda: "".join(pick.choices("aeist", k=pick.randrange(95, 106))),
    ]
    return [pick.choice(makers)() for _ in range(n_words)]


def test_words_of_bert_have_the_same_ids_and_spans(vocab):
    unknown = "[UNK]"
    peer = tokenizers.models.WordPiece(vocab=vocab, unk_token=unknown, max_input_chars_per_word=100)
    ours = _core.WordPiece(
        [(token.encode(), index) for token, index in vocab.items()],
        continuing_prefix=b"##",
        unk_id=vocab["[UNK]"],
        max_input_chars_per_word=100,
    )
    for word in random_words(vocab, 20_000):
        expected = [(token.id, *token.offsets) for token in peer.tokenize(word)]
        assert ours.encode_spans(word.encode()) == expected, word


def test_character_merges_without_a_prefix_are_the_same(vocab):
    # With a prefix the peer numbers characters in hash order, and so breaks ties at random.
    words = Counter(random_words(vocab, 3000))
    words = Counter({word.replace("#", ""): count for word, count in words.items()})
    del words[""]
    peer = tokenizers.Tokenizer(tokenizers.models.BPE())
    peer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=1500, special_tokens=["[UNK]"], show_progress=False
    )
    peer.train_from_iterator([" ".join(words.elements())], trainer)
    tokens, *_ = _core.learn_wordpiece(
        [(word.encode(), count) for word, count in words.items()],
        vocab_size=1500,
        max_merges=None,
        score="frequency",
        ties="hf",
        min_frequency=0,
        continuing_prefix="",
        end_of_word_suffix="",
        special_tokens=["[UNK]"],
        limit_alphabet=None,
        character_coverage=1.0,
        extra_alphabet=[],
        all_forms=False,
    )
    assert {token.decode(): index for index, token in enumerate(tokens)} == peer.get_vocab()
