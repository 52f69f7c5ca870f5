"""New pieces for SentencePiece BPE: scores below the old ones, texts only get coarser."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import subword
from subword import errors
from subword.models import Piece, Pieces

from .adaptable import SPACE, extended, pieces_of

LETTERS = [SPACE, "a", "b", "c", "d"]
OLD = ["ab", f"{SPACE}a", "cd", f"{SPACE}ab", *LETTERS]
words = st.text(alphabet=" abcd中é", min_size=1, max_size=8)
tables = st.dictionaries(words, st.integers(1, 1000), min_size=1, max_size=10)


def borders(tok: subword.Tokenizer, text: str) -> set[int]:
    return {end for _, end in tok.encode_spans(text).byte_spans}


@given(
    old=st.lists(st.text(alphabet=f"{SPACE}abcd", min_size=2, max_size=4), unique=True, max_size=8),
    new=tables,
    n_tokens=st.integers(1, 12),
    texts=st.lists(st.text(alphabet=" abcd中é!", max_size=30), max_size=6),
)
def test_texts_are_only_joined_and_new_pieces_are_reached(old, new, n_tokens, texts):
    tok = pieces_of([*old, *LETTERS])
    try:
        change = extended(tok, new, n_tokens)
    except errors.EmptyCorpusError:
        return
    after = change.tokenizer
    assert after.model.pieces[: len(tok.model.pieces)] == tok.model.pieces
    alone = subword.Tokenizer(after.model)
    for new_id in change.id_map.pieces:
        assert alone.encode(after.model.pieces[new_id].text) == [new_id]
    scores = [piece.score for piece in after.model.pieces if piece.kind == "normal"]
    n_added = len(change.id_map.pieces)
    added = scores[len(scores) - n_added :]
    assert added == sorted(set(added), reverse=True)
    assert max(added, default=-1e9) < min(scores[: len(scores) - n_added])
    for text in [*texts, *new]:
        assert borders(after, text) <= borders(tok, text)
        assert after.decode(after.encode(text)) == tok.decode(tok.encode(text))


def test_characters_come_first_then_merges():
    change = extended(pieces_of(OLD), {" 中文": 5, "中": 2, " abcd": 9}, 4)
    added = [change.tokenizer.model.pieces[at].text.decode() for at in sorted(change.id_map.pieces)]
    assert added == ["中", "文", f"{SPACE}abcd", "中文"]
    # Bytes stand for what the vocabulary lacked.
    assert change.id_map.n_bytes[len(pieces_of(OLD).model.pieces)] == (1, 1, 1)


def test_scores_fall_where_a_step_of_one_is_none_in_32_bits():
    tok = pieces_of(OLD)
    far = Piece(f"{SPACE}{SPACE}".encode(), -1e9)
    tok = tok.replace(model=Pieces("bpe", (*tok.model.pieces, far), byte_fallback=True))
    change = extended(tok, {" abcd": 9, "cdcd": 5}, 2)
    scores = [piece.score for piece in change.tokenizer.model.pieces[-2:]]
    assert -1e9 > scores[0] > scores[1]


def test_the_file_that_is_written_does_the_same_in_sentencepiece(tmp_path: Path):
    sentencepiece = pytest.importorskip("sentencepiece")
    change = extended(pieces_of(OLD), {" 中文": 5, " abcd": 9, "dcba": 3}, 8)
    change.save(tmp_path, "tokenizer.model")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "tokenizer.model"))
    for text in ["中文 abcd", "dcba dcb", "ab cd 文", "é"]:
        assert theirs.encode(text) == change.tokenizer.encode(text)
    assert json.loads((tmp_path / "report.json").read_text())["n_added"] == 8


def test_merge_takes_the_pieces_of_another_model():
    other = pieces_of(["abc", "bc", f"{SPACE}dab", f"{SPACE}d", *LETTERS, "中"])
    change = subword.merge(pieces_of(OLD), other)
    added = [change.tokenizer.model.pieces[at].text.decode() for at in sorted(change.id_map.pieces)]
    assert added == ["abc", "bc", f"{SPACE}dab", f"{SPACE}d", "中"]
    assert change.left_out == ()


def test_byte_level_merge_leaves_out_what_the_pattern_cuts():
    english = subword.train_bpe({"low": 5, "lower": 2}, 258)
    other = subword.train_bpe({"a b": 9, "los": 5}, 260, pattern="none")
    change = subword.merge(english, other)
    assert change.left_out == (b"a ", b"a b")
    assert change.tokenizer.encode("los") == [change.tokenizer.token_id("los")]


def test_words_end_where_spaces_are_whatever_the_counts_were_cut_with():
    tok = pieces_of(OLD)
    counts = subword.PretokenCounts.from_mapping({"abc dd,ab": 3, " dd": 1}, pattern="none")
    words = {"abc": 3, " dd,ab": 3, " dd": 1}
    assert extended(tok, counts, 4).tokenizer == extended(tok, words, 4).tokenizer
    # Pieces reach over anything but a space.
    assert extended(tok, counts, 9).tokenizer.find_id(f"{SPACE}dd,ab") is not None


def test_what_pieces_cannot_do_is_refused():
    tok = pieces_of(OLD)
    kept = subword.PretokenCounts.from_mapping({"ab": 1}, pattern="none")
    with pytest.raises(errors.ArgumentError, match="needs byte-level BPE"):
        subword.extend(tok, tokens=["abcd"], unchanged_on=kept)
    with pytest.raises(errors.ArgumentError, match="first_id"):
        subword.extend(tok, {"abcd": 3}, 1, first_id=500)
    with pytest.raises(errors.ArgumentError, match="extend first"):
        subword.extend(tok.with_special_tokens(["<x>"]), {"abcd": 3}, 1)
    with pytest.raises(errors.EmptyCorpusError):
        subword.extend(tok, {"  ": 3}, 1)
    with pytest.raises(errors.ArgumentError, match="two of"):
        subword.merge(tok, subword.train_bpe({"low": 5}, 257))
