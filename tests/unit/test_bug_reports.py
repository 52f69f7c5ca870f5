"""Failures that users of other libraries reported, where no other file has them: right here."""

import pytest

from subword import normalizers
from subword.counts import count
from subword.decoders import Metaspace as MetaspaceDecoder
from subword.errors import PatternError
from subword.models import Bpe, Piece, Unigram, Words
from subword.pretokens import Metaspace
from subword.special_tokens import TokenFlags
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe
from subword.training.wordpiece import train_wordpiece

BYTES = {byte: bytes([byte]) for byte in range(256)}


def test_b02_the_same_line_gives_the_same_wordpiece_vocabulary() -> None:
    # Source: huggingface/tokenizers issue 1794.
    line = "Wel come to the 🤗 Tok en izers libr ary."
    counts = count([line], pattern=r"\w+|[^\w\s]+")
    learnt = {tuple(train_wordpiece(counts, 40).vocab.items()) for _ in range(60)}
    assert len(learnt) == 1


def test_b19_nested_repeats_end_in_bounded_time() -> None:
    # Source: huggingface/tokenizers pull request 2060.
    tok = train_bpe(["ab"], 257)
    text = "a" * 24 + "b"
    assert tok.replace(pattern=r"(a+)+$").decode(tok.encode(text)) == text
    # Look-around takes the pattern to the engine that goes back.
    with pytest.raises(PatternError, match="steps"):
        tok.replace(pattern=r"(?:a|(?=a)a)+$(?!b)").encode(text * 4)


def test_b24_spans_of_a_normalized_text_are_those_of_the_text_as_given() -> None:
    # Source: huggingface/transformers issue 9744.
    vocab = {0: b"[UNK]", 1: b"?", 2: b"......", 3: b"T", 4: b"his", 5: b"is"}
    tok = Tokenizer(Words(vocab), normalizer=(normalizers.Nfkc(),), pattern=(r"\w+|[?]|\.+|\s+|.",))
    encoding = tok.encode_spans("？……")
    assert (encoding.ids, encoding.char_spans) == ([1, 2], [(0, 1), (1, 3)])
    encoding = tok.encode_spans("T\x10his is")
    spelled = {
        "T\x10his is"[start:end]: token
        for token, (start, end) in zip(encoding.ids, encoding.char_spans, strict=True)
    }
    assert (spelled["T"], spelled["his"], spelled["is"]) == (3, 4, 5)


@pytest.mark.parametrize(
    ("flags", "texts", "loss"),
    [
        (TokenFlags(special=False, lstrip=True), ["  foo", " foo"], "afoo  bfoobar"),
        (TokenFlags(special=False, rstrip=True), ["foo  ", "foo"], "a  foob foobar"),
    ],
)
def test_b27_what_an_added_word_takes_is_in_its_span(
    flags: TokenFlags, texts: list[str], loss: str
) -> None:
    text = "a  foo  b foobar"
    tok = Tokenizer(Bpe(BYTES, ()), {"foo": 256}, token_flags={"foo": flags})
    encoding = tok.encode_spans(text)
    found = [
        text[slice(*span)]
        for token, span in zip(encoding.ids, encoding.char_spans, strict=True)
        if token == 256
    ]
    assert found == texts
    # The loss is stated: the id is decoded to the word alone, the spans keep the rest.
    assert tok.decode(encoding.ids) == loss
    assert "".join(text[slice(*span)] for span in encoding.char_spans) == text


def test_b34_the_space_between_two_added_tokens_survives() -> None:
    # Source: huggingface/tokenizers issue 826.
    pieces = tuple(Piece(text.encode(), -1.0) for text in ["<unk>", "▁", "a"])
    tok = Tokenizer(
        Unigram(pieces),
        {"new_token_1": 3, "new_token_2": 4},
        pretokenizer=(Metaspace(prepend_scheme="never"),),
        decoder=(MetaspaceDecoder(add_prefix_space=False),),
    )
    ids = tok.encode("new_token_1 new_token_2")
    assert ids == [3, 1, 4]
    assert tok.decode(ids) == "new_token_1 new_token_2"


def test_b39_tokens_that_are_no_utf8_keep_names_of_their_own() -> None:
    # Source: vllm-project/vllm pull request 9625.
    broken = [b"\xe2\x80", b"\xe2", b"\x80\x99", b"\xef\xbf", b"\xf0\x9f\x98"]
    vocab = BYTES | dict(enumerate(broken, 256))
    tok = Tokenizer(Bpe({i: t for i, t in vocab.items() if i < 256 or len(t) > 1}, ()))
    for token_id, token in tok.vocab.items():
        assert tok.token_bytes(token_id) == token
        assert tok.token_id(token) == token_id
    assert len(set(tok.vocab.values())) == len(tok.vocab)
