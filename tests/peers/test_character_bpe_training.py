"""BPE over characters, trained beside HF tokenizers and subword-nmt."""

import io
import json
import random
import warnings

import pytest

import subword
from subword.errors import StoppedEarlyWarning

tokenizers = pytest.importorskip("tokenizers", reason="the peers group is not installed")

LETTERS = "abcdeéо你好🌍"


def random_corpus(seed, n_words=2500):
    pick = random.Random(seed)
    stems = ["".join(pick.choices(LETTERS, k=pick.randrange(1, 6))) for _ in range(150)]
    words = [pick.choice(stems) + pick.choice(["", *stems[:20]]) for _ in range(n_words)]
    return [" ".join(words[at : at + 10]) for at in range(0, n_words, 10)]


def train(documents, vocab_size, *special_tokens, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        return subword.train_bpe(
            documents, vocab_size, special_tokens, alphabet="characters", **options
        )


@pytest.mark.parametrize("min_frequency", [1, 40])
@pytest.mark.parametrize("seed", [1, 2])
def test_hf_trainer_learns_the_same_vocabulary(seed, min_frequency):
    documents = random_corpus(seed)
    peer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    peer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        min_frequency=min_frequency,
        special_tokens=["<unk>", "<s>"],
        show_progress=False,
    )
    peer.train_from_iterator(documents, trainer)
    counts = subword.count(documents, pattern="whitespace").keep(lambda p: bool(p.strip()))
    ours = train(
        counts, 400, "<unk>", "<s>", ties="hf", min_frequency=min_frequency, unk_token="<unk>"
    )
    assert {token.decode(): at for at, token in ours.vocab.items()} == peer.get_vocab()
    merges = json.loads(peer.to_str())["model"]["merges"]
    assert [[left.decode(), right.decode()] for left, right in ours.merges] == merges
    for text in ("".join(LETTERS), "abxc", documents[0]):
        words = subword.pretokens.split(text, [subword.pretokens.WhitespaceSplit()])
        ids = [i for word, _, _ in words for i in ours.encode(word)]
        assert ids == peer.encode(text).ids


def test_hf_joins_the_neighbours_of_a_character_outside_its_alphabet():
    # A known difference: in HF "axb" is learnt as if it were "ab"; here a word breaks there.
    peer = tokenizers.Tokenizer(tokenizers.models.BPE())
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=3, limit_alphabet=2, special_tokens=[], show_progress=False
    )
    peer.train_from_iterator(["axb", "ab", "ab"], trainer)
    assert json.loads(peer.to_str())["model"]["merges"] == [["a", "b"]]
    only_apart = tokenizers.Tokenizer(tokenizers.models.BPE())
    only_apart.train_from_iterator(["axb", "a", "b"], trainer)
    assert json.loads(only_apart.to_str())["model"]["merges"] == [["a", "b"]]
    with pytest.warns(StoppedEarlyWarning), pytest.warns(subword.TextLeftOutWarning):
        ours = subword.train_bpe(
            {"axb": 1, "a": 1, "b": 1}, 3, alphabet="characters", limit_alphabet=2
        )
    assert ours.merges == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_subword_nmt_learns_the_same_merges_and_encodes_alike(seed):
    learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    documents = random_corpus(seed)
    codes = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO("\n".join(documents)), codes, 200, min_frequency=2)
    expected = [tuple(line.split(" ")) for line in codes.getvalue().splitlines()[1:]]
    ours = train(documents, 10_000, end_of_word_suffix="</w>", ties="greatest", min_frequency=2)
    found = [(left.decode(), right.decode()) for left, right in ours.merges]
    assert len(expected) == 200
    assert found[:200] == expected
    n_initial = len(ours.vocab) - len(dict.fromkeys(left + right for left, right in found))
    ours = train(
        documents, n_initial + 200, end_of_word_suffix="</w>", ties="greatest", min_frequency=2
    )
    codes.seek(0)
    peer = apply_bpe.BPE(codes)
    for text in documents[:50]:
        # The peer marks all tokens but the last of a word, subword the last one.
        words = [part.removesuffix("@@") for part in peer.process_line(text).split(" ")]
        tokens = [ours.token_bytes(i).decode().removesuffix("</w>") for i in ours.encode(text)]
        assert tokens == words
        assert ours.decode(ours.encode(text)) == text
