"""SentencePiece's BPE in ``tokenizer.json``: what is held gives the same ids, all else is refused."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword import decoders
from subword.errors import FormatError
from subword.formats.hf_pieces import as_character_bpe
from subword.formats.piece_merges import merges_of_pieces
from subword.formats.sentencepiece_model import tokenizer_of
from subword.formats.sentencepiece_proto import (
    NormalizerSpec,
    Piece,
    SentencePieceModel,
    TrainerSpec,
)
from subword.formats.tokenizer_json import from_json, to_json
from subword.models import Piece as ModelPiece
from subword.models import Pieces
from subword.normalizers import Charsmap, Lowercase, SentencePieceSpaces
from subword.special_tokens import TokenFlags
from subword.tokenizer import Tokenizer

BYTES = [Piece(f"<0x{byte:02X}>", 0.0, "byte") for byte in range(256)]
LETTERS = "▁ab"
HOSTILE = [
    b"",
    b" ",
    b"   ",
    b" a",
    b"a ",
    "▁".encode(),
    "▁a ▁ b".encode(),
    b"\x00a\x00",
    b"\xff a\xe2\x96",
    "é你🙂🙂a🙂".encode(),
    b"<s>a</s> <unk><0x41>",
    b" " * 40 + b"a" + b" " * 17,
]


def made(pieces: list[Piece], *, byte_fallback: bool = False, prefix: bool = True) -> Tokenizer:
    """A tokenizer as a ``.model`` gives it, its control and unknown piece first."""
    first = [Piece("<unk>", 0.0, "unknown"), Piece("<s>", 0.0, "control")]
    model = SentencePieceModel(
        pieces=(*first, *(BYTES if byte_fallback else ()), *pieces),
        trainer=TrainerSpec(model_type="bpe", byte_fallback=byte_fallback, unk_surface="?"),
        normalizer=NormalizerSpec(
            add_dummy_prefix=prefix, remove_extra_whitespaces=False, escape_whitespaces=True
        ),
        denormalizer=None,
    )
    return tokenizer_of(model)


def scored(*texts: str) -> list[Piece]:
    """Normal pieces, the best first."""
    return [Piece(text, -float(at), "normal") for at, text in enumerate(texts)]


def tied(*texts: str) -> list[Piece]:
    """Normal pieces of one score."""
    return [Piece(text, -1e9, "normal") for text in texts]


def merges(pieces: list[Piece]) -> list[str]:
    listed = tuple(ModelPiece(piece.text.encode(), piece.score) for piece in pieces)
    pairs = merges_of_pieces(Pieces("bpe", listed))
    return ["+".join(pieces[part].text for part in pair) for pair in pairs]


SMALL = [*scored("▁a", "ab", "▁ab", "▁▁", *LETTERS), Piece("[X]", 0.0, "control")]


@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("prefix", [False, True])
def test_hostile_texts_give_the_same_ids_and_the_file_the_same_tokenizer(byte_fallback, prefix):
    tok = made(SMALL, byte_fallback=byte_fallback, prefix=prefix)
    assert from_json(to_json(tok)) == tok
    for text in HOSTILE:
        assert as_character_bpe(tok).encode(text) == tok.encode(text)


def test_the_file_has_the_parts_of_llama():
    root = json.loads(to_json(made(SMALL, byte_fallback=True)))
    replaced = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    prepended = {"type": "Prepend", "prepend": "▁"}
    assert root["normalizer"] == {"type": "Sequence", "normalizers": [prepended, replaced]}
    kinds = [step["type"] for step in root["decoder"]["decoders"]]
    assert kinds == ["Replace", "ByteFallback", "Fuse", "Strip"]
    assert (root["pre_tokenizer"], root["added_tokens"]) == (None, [])
    model = {name: root["model"][name] for name in ("type", "unk_token", "fuse_unk")}
    assert model == {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True}
    assert root["model"]["byte_fallback"]


def test_without_a_dummy_prefix_nothing_is_prepended_or_stripped():
    root = json.loads(to_json(made(SMALL, prefix=False)))
    assert root["normalizer"]["type"] == "Replace"
    assert [step["type"] for step in root["decoder"]["decoders"]] == ["Replace", "Fuse"]


def test_a_piece_has_one_merge_of_the_parts_its_own_text_comes_to():
    # bc comes before ab: abc is never made of ab and c.
    assert merges(scored("bc", "ab", "abc", "a", "b", "c")) == ["b+c", "a+b", "a+bc"]
    # Better than its parts, and made of them all the same.
    assert merges(scored("abc", "ab", "a", "b", "c")) == ["ab+c", "a+b"]
    assert merges(scored("cd", "abcd", "ab", "a", "b", "c", "d")) == ["c+d", "ab+cd", "a+b"]
    # No text gives the piece.
    assert merges(scored("abc", "a", "b", "c")) == []


def test_runs_of_one_score_are_filled_from_the_left():
    # As in Mistral's files, a length is missing: what is full takes the next two.
    runs = tied("▁", "▁▁", "▁▁▁", "▁▁▁▁▁")
    assert merges(runs) == ["▁▁▁+▁▁", "▁▁+▁", "▁+▁"]
    tok = made(runs, prefix=False)
    for n in range(40):
        text = "a" + " " * n + "b"
        assert as_character_bpe(tok).encode(text) == tok.encode(text)


def test_pieces_of_one_score_that_never_meet_are_held():
    tok = made([*tied("ab", "cd"), *scored("a", "b", "c", "d", "▁")])
    assert from_json(to_json(tok)) == tok


MERGED = scored("ab", "a", "b", "▁")
REFUSED = {
    "one score": [*tied("ab", "ba"), *scored("a", "b", "▁")],
    "a better piece is made of a tied one": [
        *tied("ab", "cd"),
        *scored("aba", "a", "b", "c", "d", "▁"),
    ],
    "which is no piece": scored("ab", "a", "▁"),
    "unused": [*MERGED, Piece("x", 0.0, "unused")],
    "is one character": [*MERGED, Piece("x", 0.0, "control")],
    "add_dummy_prefix": [*MERGED, Piece("[REF]", 0.0, "user_defined")],
    "which JSON lacks": [*MERGED, Piece("x", math.inf, "normal")],
}
SAYS = {"a better piece is made of a tied one": "has the score", "one score": "has the score"}
SAYS["unused"] = "taken apart"


@pytest.mark.parametrize("name", REFUSED)
def test_pieces_that_merges_do_not_hold_are_refused_by_name(name):
    with pytest.raises(FormatError, match=SAYS.get(name, name)):
        to_json(made(REFUSED[name]))


def test_a_user_defined_piece_with_a_space_is_refused():
    with pytest.raises(FormatError, match="has a space"):
        to_json(made([*MERGED, Piece("a b", 0.0, "user_defined")], prefix=False))


def spaces(**changes) -> tuple[SentencePieceSpaces]:
    return (replace(SentencePieceSpaces(remove_extra_whitespaces=False), **changes),)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"normalizer": spaces(remove_extra_whitespaces=True)}, "remove_extra_whitespaces"),
        ({"normalizer": spaces(treat_whitespace_as_suffix=True)}, "treat_whitespace_as_suffix"),
        ({"normalizer": spaces(escape_whitespaces=False)}, "escape_whitespaces"),
        ({"normalizer": ()}, "normalizer"),
        ({"normalizer": (Lowercase(), *spaces())}, "normalizer"),
        ({"normalizer": (Charsmap(b""), *spaces())}, "charsmap"),
        ({"pattern": "gpt2"}, "split pattern"),
        ({"decoder": ()}, "decoder"),
        ({"decoder": (decoders.SentencePiece(strip_all=True),)}, "decoder"),
    ],
)
def test_parts_that_are_not_sentencepieces_are_refused_by_name(changes, named):
    with pytest.raises(FormatError, match=named):
        to_json(made(SMALL).replace(**changes))


@pytest.mark.parametrize("kind", ["word", "char"])
def test_other_kinds_are_refused(kind):
    tok = made(SMALL)
    with pytest.raises(FormatError, match="SentencePiece"):
        to_json(tok.replace(model=replace(tok.model, kind=kind)))
    with pytest.raises(FormatError, match=f"SentencePiece's {kind} model"):
        to_json(tok.replace(model=replace(tok.model, kind=kind), normalizer=(), decoder=()))


def test_special_tokens_stand_beside_the_pieces():
    tok = made(SMALL)
    tok = tok.replace(special_tokens={**tok.special_tokens, "<|x|>": tok.vocab_size})
    assert from_json(to_json(tok)) == tok
    assert as_character_bpe(tok).encode("a<|x|> b<|x|>") == tok.encode("a<|x|> b<|x|>")


@pytest.mark.parametrize("token", ["[REF]", "<|x|>"])
def test_special_tokens_looked_for_as_user_defined_pieces_are_refused(token):
    tok = made([*MERGED, Piece("[REF]", 0.0, "user_defined")], prefix=False)
    ids = {text: at for at, text in tok.vocab.items()}
    special = {**tok.special_tokens, token: ids.get(token.encode(), tok.vocab_size)}
    flags = {**tok.token_flags, token: TokenFlags(normalized=True)}
    with pytest.raises(FormatError, match="special token"):
        to_json(tok.replace(special_tokens=special, token_flags=flags))


def damage(path: str, value: object) -> str:
    root = json.loads(to_json(made([*MERGED, Piece("[REF]", 0.0, "user_defined")], prefix=False)))
    *keys, last = path.split(".")
    inner = root
    for key in keys:
        inner = inner[key]
    inner[last] = value
    return json.dumps(root)


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("model.merges", [], "one of vocab, merges, kinds and scores is not what was"),
        ("model.subword.pieces.sha256", None, "one of vocab"),
        ("model.subword.pieces.scores", [0.0] * 7, "one of vocab"),
        ("model.subword.pieces.kinds", [[0, "unknown"]], "one of vocab"),
        ("model.fuse_unk", False, "model is not"),
        ("model.unk_token", None, "unk_token is not"),
        ("normalizer", {"type": "Lowercase"}, "normalizer is not"),
        ("decoder", {"type": "Fuse"}, "decoder is not"),
        ("pre_tokenizer", {"type": "WhitespaceSplit"}, "pretokenizer is not"),
        ("added_tokens", [], r"added token '\[REF\]' is not"),
        ("model.subword.pieces", [], "pieces"),
        ("model.subword.pieces.scores", [0.0], "one for each id"),
        ("model.subword.pieces.scores", ["a"] * 7, "one for each id"),
        ("model.subword.pieces.scores", [10**400] * 7, "one for each id"),
        ("model.subword.pieces.kinds", [[0, "odd"]], "kinds"),
        ("model.subword.pieces.kinds", [[7, "normal"]], "names piece 7 of 7"),
        ("model.subword.pieces.unknown_surface", 3, "unknown_surface"),
        ("model.subword.pieces.other", 3, "other"),
    ],
)
def test_a_file_that_no_longer_says_what_its_pieces_do_is_refused(path, value, named):
    with pytest.raises(FormatError, match=named):
        from_json(damage(path, value))


@st.composite
def models(draw):
    """Small models, scores of which may tie."""
    texts = st.text(alphabet=LETTERS, min_size=1, max_size=6)
    kinds = st.sampled_from(["normal"] * 12 + ["control", "user_defined"])
    scores = st.integers(1, draw(st.sampled_from([3, 1000]))).map(lambda at: -float(at))
    listed = draw(st.lists(st.tuples(texts, scores, kinds), max_size=14, unique_by=lambda p: p[0]))
    known = {text for text, *_ in listed}
    pieces = [Piece(*entry) for entry in listed]
    pieces += [Piece(letter, -2000.0, "normal") for letter in LETTERS if letter not in known]
    return made(pieces, byte_fallback=draw(st.booleans()), prefix=draw(st.booleans()))


@given(models(), st.lists(st.text(alphabet=" ▁abé", max_size=40), max_size=8))
def test_what_is_held_gives_the_same_ids(tok, texts):
    try:
        text = to_json(tok)
    except FormatError:
        return
    assert from_json(text) == tok
    other = as_character_bpe(tok)
    for document in [*texts, " " * 20, "ab" * 9, "a" * 20]:
        assert other.encode(document) == tok.encode(document)
