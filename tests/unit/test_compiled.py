"""Models that are views of what is compiled: they are like the data that they stand for."""

import base64
import pickle
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subword import _core
from subword.bpe_models import bpe_from_ranks
from subword.compiled import CompiledMerges, CompiledVocabulary
from subword.formats import load, tiktoken
from subword.models import Bpe, as_model, compile_model
from subword.reference.bpe import encode_by_ranks
from subword.tokenizer import Tokenizer

VOCAB = {0: b"a", 1: b"b", 5: b"ab", 3: b"aba"}
MERGES = ((0, 1), (5, 0))
PLAIN = Bpe(VOCAB, MERGES)


@pytest.fixture
def view():
    return as_model(_core.Bpe(list(VOCAB), list(VOCAB.values()), list(MERGES)))


def test_a_view_equals_the_data(view):
    assert view == PLAIN
    assert view == PLAIN
    assert view != Bpe({**VOCAB, 9: b"c"}, MERGES)
    assert view != Bpe(VOCAB, MERGES[:1])
    assert repr(view.vocab) == repr(dict(sorted(VOCAB.items())))
    assert repr(view.merges) == repr(MERGES)
    assert hash(view.merges) == hash(MERGES)


def test_a_vocabulary_is_a_mapping_in_the_order_of_the_ids(view):
    vocab = view.vocab
    assert list(vocab) == list(vocab.keys()) == [0, 1, 3, 5]
    assert list(vocab.values()) == [b"a", b"b", b"aba", b"ab"]
    assert dict(vocab) == dict(vocab.items()) == VOCAB
    assert len(vocab) == 4
    assert vocab[5] == b"ab"
    assert [vocab.get(token_id) for token_id in (5, 2, 6, -1, 2**32, 2**70)] == [b"ab", *[None] * 5]
    assert ("a" in vocab, 5 in vocab, 4 in vocab) == (False, True, False)
    with pytest.raises(KeyError):
        vocab[2]


def test_merges_are_a_sequence_in_the_order_of_the_ranks(view):
    merges = view.merges
    assert (merges[0], merges[-1], merges[1:]) == ((0, 1), (5, 0), ((5, 0),))
    assert (list(merges), len(merges), (5, 0) in merges) == (list(MERGES), 2, True)
    with pytest.raises(IndexError):
        merges[2]


def test_a_view_is_not_compiled_again_unless_something_changed(view):
    compiled = view.vocab.compiled
    assert compile_model(view) is compiled
    assert compile_model(Bpe(view.vocab, view.merges, whole_first=True)) is not compiled
    assert compile_model(Bpe(view.vocab, view.merges[:1])) is not compiled
    assert compile_model(Bpe(dict(view.vocab), view.merges)) is not compiled
    other = as_model(_core.Bpe(list(VOCAB), list(VOCAB.values()), []))
    assert Tokenizer(Bpe(view.vocab, other.merges)).encode("ab") == [0, 1]
    assert Tokenizer(Bpe(other.vocab, view.merges)).encode("ab") == [5]


def test_a_pickled_view_is_the_data(view):
    copy = pickle.loads(pickle.dumps(view))  # noqa: S301
    assert copy == view
    assert (type(copy.vocab), type(copy.merges)) == (dict, tuple)
    tok = pickle.loads(pickle.dumps(Tokenizer(view)))  # noqa: S301
    assert tok.encode("abab") == Tokenizer(PLAIN).encode("abab")


RANKED = st.lists(
    st.lists(st.sampled_from([b"a", b"b", b"c", b"\xe4\xbd", b"\xa0", b"\xe5\xa5"]), min_size=1)
    .map(b"".join)
    .filter(lambda token: len(token) < 12),
    unique=True,
    min_size=1,
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(RANKED, st.randoms(use_true_random=False))
def test_a_rank_file_gives_what_its_ranks_give(tokens, random):
    singles = {bytes([byte]) for token in tokens for byte in token}.difference(tokens)
    ranks = {token: rank for rank, token in enumerate([*tokens, *sorted(singles)])}
    lines = [base64.b64encode(token) + b" %d" % rank for token, rank in ranks.items()]
    random.shuffle(lines)
    compiled = _core.Bpe.from_rank_lines(b"\n".join(lines))
    assert compiled is not None
    model = as_model(compiled)
    assert model.whole_first
    assert dict(model.vocab) == {rank: token for token, rank in ranks.items()}
    assert model == bpe_from_ranks(ranks)
    texts = [*ranks, b"".join(tokens), *(token + other for token in tokens for other in tokens)]
    plain = Tokenizer(Bpe(dict(model.vocab), tuple(model.merges), whole_first=True))
    tok = Tokenizer(model)
    for text in texts:
        assert tok.encode(text) == plain.encode(text)
        assert tok.encode(text) == [ranks[token] for token in encode_by_ranks(text, ranks)]


@pytest.mark.parametrize(
    "content",
    [b"YQ== 0\nYQ== 1", b"YQ== 0\nYg== 0", b"YQ== 4294967295", b"YQ== 0\n= 1", b"YQ== x", b""],
)
def test_what_is_out_of_the_ordinary_is_left_to_the_reader_of_lines(content):
    assert _core.Bpe.from_rank_lines(content) is None


def test_lines_are_read_alike_one_by_one(tmp_path, monkeypatch):
    path = tmp_path / "ranks.tiktoken"
    path.write_bytes(b"YQ== 0\nYg== 1\nYWI= 5\nYWJh 3\n")
    at_once = load(path, pattern="none")
    without = SimpleNamespace(Bpe=SimpleNamespace(from_rank_lines=lambda _data: None))
    monkeypatch.setattr(tiktoken, "_core", without)
    assert load(path, pattern="none") == at_once
    assert isinstance(at_once.model.vocab, CompiledVocabulary)
    assert isinstance(at_once.model.merges, CompiledMerges)
