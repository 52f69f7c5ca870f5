"""New tokens: old ids and merges stay, encodings only get coarser, each new token is reached."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import subword
from subword import errors
from subword.bpe_models import bpe_from_tokens
from subword.models import Bpe
from subword.normalizers import Nfc
from subword.pretokens import WhitespaceSplit
from subword.tokenizer import Tokenizer
from subword.vocabulary.certificate import LAWS, Law
from subword.vocabulary.checks import compare

from .adaptable import extended, token_ends, trained

pretokens = st.text(alphabet="abcé中", min_size=1, max_size=8)
tables = st.dictionaries(pretokens, st.integers(1, 2**40), min_size=1, max_size=12)
texts = st.lists(st.text(alphabet="abc é中!", max_size=30), max_size=8)
OLD = {"low": 5, "lower": 2, "widest": 3, "newest": 6}
NEW = {"slow": 3, "slower": 2, "slowest": 4, "west": 1}


@given(
    old=tables, new=tables, n_merges=st.integers(0, 12), n_tokens=st.integers(1, 12), texts=texts
)
def test_old_tokens_stay_and_texts_are_only_joined(old, new, n_merges, n_tokens, texts):
    tok = trained(old, n_merges)
    change = extended(tok, new, n_tokens)
    after = change.tokenizer
    assert after.special_tokens == tok.special_tokens
    assert after.merges[: len(tok.merges)] == tok.merges
    assert all(after.token_bytes(at) == token for at, token in tok.vocab.items())
    for text in [*texts, *new, *old]:
        assert token_ends(after, text) <= token_ends(tok, text)
        assert after.decode(after.encode(text)) == text


@given(old=tables, new=tables, n_merges=st.integers(0, 12), n_tokens=st.integers(1, 12))
def test_every_new_token_is_what_its_bytes_become(old, new, n_merges, n_tokens):
    tok = trained(old, n_merges)
    change = extended(tok, new, n_tokens)
    alone = Tokenizer(change.tokenizer.model)
    for new_id, pieces in change.id_map.pieces.items():
        assert alone.encode(change.tokenizer.token_bytes(new_id)) == [new_id]
        assert Tokenizer(tok.model).encode(change.tokenizer.token_bytes(new_id)) == list(pieces)


@given(old=tables, new=tables, n_merges=st.integers(0, 12), n_tokens=st.integers(1, 12))
def test_extend_then_prune_gives_the_old_tokenizer(old, new, n_merges, n_tokens):
    tok = trained(old, n_merges)
    change = extended(tok, new, n_tokens)
    added = [change.tokenizer.token_bytes(at) for at in change.id_map.pieces]
    assert subword.prune(change.tokenizer, tokens=added).tokenizer == tok


@given(counts=tables, n_merges=st.integers(1, 20))
def test_from_bytes_it_learns_what_training_learns(counts, n_merges):
    expected = trained(counts, n_merges)
    made = extended(trained(counts, 0), counts, n_merges).tokenizer
    # Training may make one token in two ways; going on never does.
    if len(set(expected.vocab.values())) == len(expected.vocab):
        assert made.merges == expected.merges


def test_weights_decide():
    tok = trained(OLD, 0)
    counts = subword.PretokenCounts.from_mapping({"xy": 10, "zw": 9}, pattern="gpt2")
    other = subword.PretokenCounts.from_mapping({"zw": 2}, pattern="gpt2")
    assert subword.extend(tok, counts, 1).tokenizer.merges == [(b"x", b"y")]
    assert subword.extend(tok, counts + other, 1).tokenizer.merges == [(b"z", b"w")]


def test_text_that_shall_not_change_does_not():
    tok = trained(OLD, 3)
    kept = subword.PretokenCounts.from_mapping({"slow": 1}, pattern="gpt2")
    change = extended(tok, NEW, 5, unchanged_on=kept)
    assert change.tokenizer.encode("slow") == tok.encode("slow")
    assert change.tokenizer.encode("slowest") != tok.encode("slowest")


def test_given_tokens_come_with_what_they_are_made_of():
    tok = trained(OLD, 3)
    change = subword.extend(tok, tokens=["Brille", "Brillen", b"\xe4\xb8\xad\xe6\x96\x87"])
    for token in ["Brille", "Brillen", "中文"]:
        assert change.tokenizer.encode(token) == [change.tokenizer.token_id(token)]
    assert not any(
        row.is_added and row.reason != "inside" for row in change.certificate.unreachable
    )


def test_new_ids_may_start_behind_padding_rows():
    change = subword.extend(trained(OLD, 3), NEW, 2, first_id=512)
    assert sorted(change.id_map.pieces) == [512, 513]
    with pytest.raises(errors.VocabSizeError, match="up to 259 are old ones"):
        subword.extend(trained(OLD, 3), NEW, 2, first_id=259)


def test_a_normalizer_keeps_what_it_changes_out():
    tok = trained(OLD, 3).replace(normalizer=(Nfc(),))
    change = extended(tok, {"e\u0301x": 9, "yz": 2}, 1)
    assert change.tokenizer.merges[3:] == [(b"y", b"z")]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["low"], "is a token already"),
        ([""], "is empty"),
        (["abc", "abc"], "given twice"),
        (["x<|end|>"], "spells a special token"),
        (["two words"], "is no pre-token"),
    ],
)
def test_tokens_that_no_text_gives_are_refused(tokens, message):
    with pytest.raises(errors.VocabularyError, match=message):
        subword.extend(trained(OLD, 8), tokens=tokens)


def test_a_token_that_only_old_ones_lead_to_is_refused():
    model = Bpe({0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc"}, ((0, 1),))
    tok = Tokenizer(model)
    # "bc" is there, but no merge makes it; what is left of "bcb" are "b", "c" and "b".
    assert subword.extend(tok, tokens=["bcb"]).tokenizer.encode("bcb") == [6]
    blocked = Tokenizer(Bpe({0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc"}, ()))
    with pytest.raises(errors.VocabularyError, match="cannot be made"):
        subword.extend(blocked, tokens=["abc"])


def test_tokens_that_the_normalizer_changes_are_refused():
    tok = trained(OLD, 3).replace(normalizer=(Nfc(),), pattern="none")
    with pytest.raises(errors.VocabularyError, match="normalizer"):
        subword.extend(tok, tokens=["e\u0301"])


def test_counts_of_another_pattern_are_refused():
    counts = subword.PretokenCounts.from_mapping(NEW, pattern="cl100k")
    with pytest.raises(errors.CountsError, match="count again with"):
        subword.extend(trained(OLD, 3), counts, 2)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_tokens": 3},
        {"counts": NEW, "n_tokens": 0},
        {"counts": NEW, "n_tokens": 3, "tokens": ["x"]},
        {"tokens": "single"},
        {"counts": NEW, "n_tokens": 3, "texts": "single"},
        {"counts": NEW, "n_tokens": 3, "allow": ["gravity"]},
        {"counts": NEW, "n_tokens": 3, "allow": "ids"},
    ],
)
def test_arguments_that_say_nothing_are_refused(options):
    with pytest.raises(errors.ArgumentError):
        subword.extend(trained(OLD, 3), **options)


def test_running_out_of_pairs_is_said():
    with pytest.warns(errors.StoppedEarlyWarning, match="added 1 tokens of 9"):
        subword.extend(trained(OLD, 0), {"xy": 2}, 9)


def test_counts_without_a_usable_pretoken_are_refused():
    with pytest.raises(errors.EmptyCorpusError):
        subword.extend(trained(OLD, 3), {"<|end|>": 2}, 1)


def test_the_certificate_names_laws_and_sizes():
    tok = trained(OLD, 3)
    change = subword.extend(tok, NEW, 2, texts={"new": list(NEW), "old": list(OLD)})
    certificate = change.certificate
    assert [law.name for law in certificate.laws] == [n for n in LAWS if n != "untouched"]
    assert certificate.broken == ()
    assert [source.name for source in certificate.sources] == ["counts", "new", "old"]
    new = certificate.sources[1]
    assert new.n_tokens_before == sum(len(tok.encode(text)) for text in NEW)
    assert new.n_tokens_after == sum(len(change.tokenizer.encode(text)) for text in NEW)
    assert new.bytes_per_token_after > new.bytes_per_token_before
    report = json.loads(certificate.to_json())
    assert report["n_added"] == 2 and report["sources"][1]["n_bytes"] == new.n_bytes
    assert "coarsening" in str(certificate) and "new" in str(certificate)


def test_what_is_saved_is_read_again(tmp_path: Path):
    change = subword.extend(trained(OLD, 3), NEW, 2)
    change.save(tmp_path / "adapted")
    assert subword.load(tmp_path / "adapted" / "tokenizer.json") == change.tokenizer
    assert subword.IdMap.load(tmp_path / "adapted" / "id_map.json") == change.id_map
    report = json.loads((tmp_path / "adapted" / "report.json").read_text())
    assert report["change"] == "extend"


def test_a_format_that_cannot_hold_it_leaves_nothing(tmp_path: Path):
    change = subword.extend(trained(OLD, 3), NEW, 2)
    with pytest.raises(errors.FormatError):
        change.save(tmp_path / "adapted", "vocab.txt")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(errors.ArgumentError, match="file name alone"):
        change.save(tmp_path, "../tokenizer.json")


@pytest.mark.parametrize(
    "content",
    [
        "no JSON",
        "[]",
        '{"format": "subword id map", "version": 9}',
        '{"format":"subword id map","version":1,"old_size":1,"new_size":1,"old":[[0,5,"kept"]],"added":[]}',
        '{"format":"subword id map","version":1,"old_size":2,"new_size":2,"old":[[0,0,""],[1,0,""]],"added":[]}',
        '{"format":"subword id map","version":1,"old_size":1,"new_size":2,"old":[],"added":[{"id":1,"pieces":[0],"n_bytes":[]}]}',
    ],
)
def test_damaged_id_maps_are_refused(content: str, tmp_path: Path):
    path = tmp_path / "id_map.json"
    path.write_text(content)
    with pytest.raises(errors.FormatError, match=r"id_map\.json"):
        subword.IdMap.load(path)


def test_special_tokens_behind_the_vocabulary_keep_their_ids():
    tok = trained(OLD, 3).with_special_tokens(["<x>"])
    change = extended(tok, NEW, 2)
    assert change.tokenizer.special_tokens == {"<|end|>": 256, "<x>": 260}
    assert sorted(change.id_map.pieces) == [261, 262]


def test_counts_for_a_tokenizer_that_cuts_in_steps_are_a_mapping():
    tok = trained(OLD, 3).replace(pretokenizer=(WhitespaceSplit(),), pattern="none")
    counts = subword.PretokenCounts.from_mapping({"slow": 3}, pattern="none")
    with pytest.raises(errors.CountsError, match="in steps"):
        subword.extend(tok, counts, 1)
    assert extended(tok, {"slow": 3}, 1).tokenizer.vocab_size == 261


def test_a_broken_law_is_an_error_unless_it_is_allowed():
    tok = trained(OLD, 3)
    change = subword.extend(tok, NEW, 2)
    wrong = Law("coarsening", "broken", "1 text is cut anew")
    certificate = replace(change.certificate, laws=(wrong,))
    with pytest.raises(errors.BrokenLawError, match=r"allow=\['coarsening'\]"):
        certificate.require()
    with pytest.raises(errors.BrokenLawError):
        certificate.require(["ids"])
    certificate.require(["coarsening"])


def test_merges_put_first_tear_old_text_and_are_told():
    old = Tokenizer(bpe_from_tokens({0: b"a", 1: b"b", 2: b"c", 3: b"ab"}, [(b"a", b"b")]))
    vocab = {0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc"}
    new = Tokenizer(bpe_from_tokens(vocab, [(b"b", b"c"), (b"a", b"b")]))
    found = compare("x", ["abc", "ab", "c"], old, new, {at: at for at in range(4)})
    assert (found.n_torn, found.change.n_changed, found.n_touched) == (1, 1, 1)
