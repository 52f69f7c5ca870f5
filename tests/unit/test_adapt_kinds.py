"""What holds of each kind of model: ids stay, texts are joined, tokens are reached, and back."""

import warnings
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import subword
from subword import errors
from subword.models import Bpe, Piece, Pieces
from subword.normalizers import SentencePieceSpaces
from subword.tokenizer import Tokenizer

from .adaptable import SPACE, extended, pieces_of, token_ends, trained

letters = st.text(alphabet="abcd", min_size=1, max_size=8)
tables = st.dictionaries(letters, st.integers(1, 1000), min_size=1, max_size=12)
new_words = st.text(alphabet="abcdé中", min_size=1, max_size=8)
new_tables = st.dictionaries(new_words, st.integers(1, 1000), min_size=1, max_size=12)


def unigram(counts: dict[str, int], *, byte_fallback: bool = True) -> Tokenizer:
    n_reserved = 257 if byte_fallback else 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.StoppedEarlyWarning)
        return subword.train_unigram(
            counts, n_reserved + 12, byte_fallback=byte_fallback, character_coverage=1.0
        )


def wordpiece(counts: dict[str, int]) -> Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.StoppedEarlyWarning)
        return subword.train_wordpiece(counts, 24)


def sentencepiece(counts: dict[str, int]) -> Tokenizer:
    table = subword.PretokenCounts.from_mapping(counts, pattern="none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.StoppedEarlyWarning)
        learnt = subword.train_bpe(table, 262, pattern="none")
    made = [left + right for left, right in learnt.merges]
    letters = dict.fromkeys("".join(counts))
    return pieces_of([*dict.fromkeys(token.decode() for token in made), SPACE, *letters])


KINDS: dict[str, Callable[[dict[str, int]], Tokenizer]] = {
    "byte-level BPE": lambda counts: trained(counts, 6),
    "SentencePiece BPE": sentencepiece,
    "Unigram": unigram,
    "Unigram without bytes": lambda counts: unigram(counts, byte_fallback=False),
    "WordPiece": wordpiece,
}
kinds = pytest.mark.parametrize("kind", KINDS)


def ends(tok: Tokenizer, text: str) -> set[int]:
    """Where tokens end; anywhere in what is unknown."""
    if isinstance(tok.model, Bpe):
        return token_ends(tok, text)
    unknown = {"[UNK]", "<unk>"}
    encoding, found = tok.encode_spans(text), set()
    for token_id, (start, end) in zip(encoding.ids, encoding.byte_spans, strict=True):
        is_unknown = tok.token_bytes(token_id).decode(errors="replace") in unknown
        found.update(range(start, end + 1) if is_unknown else [end])
    return found


@kinds
@given(old=tables, new=new_tables, n_tokens=st.integers(1, 12))
def test_ids_stay_texts_are_joined_and_tokens_are_reached(kind, old, new, n_tokens):
    tok = KINDS[kind](old)
    change = extended(tok, new, n_tokens)
    after = change.tokenizer
    assert {at: after.vocab[at] for at in tok.vocab} == tok.vocab
    assert after.special_tokens == tok.special_tokens
    assert 0 <= len(after.vocab) - len(tok.vocab) <= n_tokens
    fatal = [row for row in change.certificate.unreachable if row.is_added]
    assert all(row.reason == "inside" for row in fatal)
    for text in new:
        assert ends(after, text) <= ends(tok, text)
    alone = Tokenizer(after.model)
    for row in change.id_map.pieces:
        token = after.model.vocab[row]
        if kind != "WordPiece" or not token.startswith(b"##"):
            assert alone.encode(token) == [row]


@kinds
@given(old=tables, new=new_tables, n_tokens=st.integers(1, 12))
def test_extend_then_prune_gives_the_old_tokenizer(kind, old, new, n_tokens):
    tok = KINDS[kind](old)
    change = extended(tok, new, n_tokens)
    added = [change.tokenizer.model.vocab[at] for at in change.id_map.pieces]
    # Without bytes, the characters that are taken away again are unknown again.
    back = subword.prune(change.tokenizer, tokens=added, allow=["round_trip"])
    assert back.tokenizer == tok
    assert {old for old, new in back.id_map.old_to_new.items() if new is None} == set(
        change.id_map.pieces
    )


@kinds
@given(counts=tables, use=tables, share=st.floats(0, 1))
def test_what_is_pruned_leaves_other_texts_alone(kind, counts, use, share):
    tok = KINDS[kind](counts)
    smallest = _smallest(tok, use)
    size = smallest + int(share * (tok.vocab_size - smallest))
    change = subword.prune(tok, size, use)
    after, moved = change.tokenizer, change.id_map.old_to_new
    assert after.vocab_size == size
    for text in [*counts, *use]:
        expected = [moved[at] for at in tok.encode(text)]
        assert None in expected or after.encode(text) == expected


def _smallest(tok: Tokenizer, use: dict[str, int]) -> int:
    with pytest.raises(errors.VocabSizeError, match="so give") as raised:
        subword.prune(tok, 0, use)
    return int(str(raised.value).split("so give ")[1].split(" to ")[0])


@kinds
def test_given_tokens_are_added_with_what_they_are_made_of(kind):
    tok = KINDS[kind]({"abcd": 5, "ab": 3, "cd": 2, "d": 1})
    change = subword.extend(tok, tokens=["dcba", "é中"])
    after = change.tokenizer
    for text in ["dcba", "é中"]:
        assert Tokenizer(after.model).encode(text) == [after.token_id(text)]
    assert ends(after, "abcdabdc") <= ends(tok, "abcdabdc")


@kinds
@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["d"], "is a token already"),
        ([""], "is empty"),
        (["abdc", "abdc"], "given twice"),
    ],
)
def test_tokens_that_no_text_gives_are_refused(kind, tokens, message):
    tok = KINDS[kind]({"abcd": 5, "ab": 3, "d": 1})
    with pytest.raises(errors.VocabularyError, match=message):
        subword.extend(tok, tokens=tokens)
    special = next(iter(tok.special_tokens))
    with pytest.raises(errors.VocabularyError, match=r"spells a special token|is a token already"):
        subword.extend(tok, tokens=[special])
    with pytest.raises(errors.VocabularyError, match="spells a special token"):
        subword.extend(tok, tokens=[f"a{special}b"])


@pytest.mark.parametrize("kind", ["byte-level BPE", "Unigram", "WordPiece"])
def test_tokens_that_the_split_cuts_are_refused(kind):
    tok = KINDS[kind]({"abcd": 5, "ab": 3, "d": 1})
    with pytest.raises(errors.VocabularyError, match="is no pre-token: the split gives"):
        subword.extend(tok, tokens=["ab cd"])


@kinds
def test_tokens_that_the_normalizer_changes_are_refused(kind):
    tok = KINDS[kind]({"abcd": 5, "ab": 3, "d": 1})
    steps = subword.normalizers.resolve_normalizer("nfkc")
    spaces = [step for step in tok.normalizer if isinstance(step, SentencePieceSpaces)]
    with pytest.raises(errors.VocabularyError, match="changed by the normalizer"):
        subword.extend(tok.replace(normalizer=(*steps, *spaces)), tokens=["ﬁ"])


def test_half_a_character_is_no_piece():
    with pytest.raises(errors.VocabularyError, match="part of a character"):
        subword.extend(KINDS["Unigram"]({"ab": 3}), tokens=[b"\xe4\xb8"])


def test_a_longer_match_that_would_tear_a_counted_word_is_left_out():
    tok = subword.WordPieceTokenizer(["[UNK]", "un", "##able", "##ab", "##a", "##b", "##c", "##le"])
    counts = {"unabc": 9, "unable": 5}
    assert tok.encode("unabc") == [1, 3, 6] and tok.encode("unable") == [1, 2]
    change = extended(tok, counts, 1)
    assert [change.tokenizer.token_bytes(at) for at in change.id_map.pieces] == [b"unabc"]
    torn = extended(tok, {"unabc": 9}, 1, texts=["unabc"])
    assert torn.certificate.broken == ()
    with pytest.raises(errors.BrokenLawError, match="coarsening"):
        subword.extend(tok, tokens=["unab"], texts=["unable"])
    allowed = subword.extend(tok, tokens=["unab"], texts=["unable"], allow=["coarsening"])
    assert [(row.before, row.after) for row in allowed.certificate.moved] == [
        (("un", "able"), ("unab", "le"))
    ]
    assert "un|able → unab|le" in str(allowed.certificate)


def test_unigram_pieces_beat_the_best_path_and_no_more():
    pieces = [("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("c", -1.5), ("bc", -2.5)]
    tok = subword.UnigramTokenizer(pieces)
    change = subword.extend(tok, {"ab": 7}, 1, texts=["ab", "abc"])
    added = change.tokenizer.model.pieces[-1]
    assert added.text == b"ab" and 0 < added.score - (-1.0 - 2.0) < 0.1
    # "abc" was "a" and "bc": another path would have been worse, and still is.
    assert change.tokenizer.encode("abc") == tok.encode("abc")
    assert change.certificate.broken == ()


def test_no_unigram_piece_tears_a_counted_word_by_rounding():
    """Two paths of the same pieces are equal: the piece before them decided which one it was."""
    tok = KINDS["Unigram"]({"aaac": 355, "bcbddd": 69})
    for n_tokens in (1, 2, 3):
        change = extended(tok, {"aabbaaa": 1}, n_tokens)
        assert ends(change.tokenizer, "aabbaaa") <= ends(tok, "aabbaaa")


def test_what_a_unigram_piece_moves_is_told():
    # "a" and "bc" are as good as "ab" and "c" to 1 in 1,000.
    pieces = [("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("c", -1.5), ("bc", -3.499)]
    tok = subword.UnigramTokenizer(pieces)
    with pytest.raises(errors.BrokenLawError, match="coarsening"):
        subword.extend(tok, tokens=["ab"], texts=["abc"])
    change = subword.extend(tok, tokens=["ab"], texts=["abc"], allow=["coarsening"])
    assert [(row.before, row.after) for row in change.certificate.moved] == [
        (("a", "bc"), ("ab", "c"))
    ]


def test_two_of_a_kind_are_merged():
    for kind in ("Unigram", "WordPiece", "SentencePiece BPE"):
        tok, other = KINDS[kind]({"abcd": 5, "ab": 3}), KINDS[kind]({"abdd": 9, "dd": 4, "cab": 3})
        change = subword.merge(tok, other)
        assert {at: change.tokenizer.vocab[at] for at in tok.vocab} == tok.vocab
        mine = set(change.tokenizer.vocab.values())
        assert set(other.vocab.values()) - mine <= set(change.left_out)


REFUSED = {
    "words": lambda: subword.train_words({"ab": 3}, 8),
    "characters": lambda: subword.train_characters({"ab": 3}, 8),
    "BPE of characters": lambda: subword.train_bpe({"ab": 3}, 4, alphabet="characters"),
    "SentencePiece words": lambda: Tokenizer(
        Pieces("word", (Piece(b"<unk>", 0.0, "unknown"), Piece(b"ab", 0.0)))
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_kinds_that_cannot_keep_the_promise_are_refused(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = REFUSED[kind]()
    with pytest.raises(errors.ArgumentError, match="cannot keep its old tokens apart"):
        subword.extend(tok, {"abc": 2}, 1)
    with pytest.raises(errors.ArgumentError, match="prune takes"):
        subword.prune(tok, 1, {"abc": 2})
    with pytest.raises(errors.ArgumentError, match="merge takes"):
        subword.merge(tok, tok)


def test_options_of_other_kinds_are_refused():
    tok = KINDS["WordPiece"]({"ab": 3})
    kept = subword.PretokenCounts.from_mapping({"ab": 1}, pattern=tok.pattern)
    with pytest.raises(errors.ArgumentError, match="unchanged_on needs byte-level BPE"):
        subword.extend(tok, {"abc": 2}, 1, unchanged_on=kept)
    with pytest.raises(errors.ArgumentError, match="first_id needs"):
        subword.extend(KINDS["Unigram"]({"ab": 3}), {"abc": 2}, 1, first_id=999)
    change = extended(tok, {"abcc": 2}, 2, first_id=100)
    assert sorted(change.id_map.pieces) == [100, 101]
