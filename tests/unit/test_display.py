"""Tokens as people see them: terminal, notebook, and plain."""

import io
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import subword
from subword.display import MAX_SHOWN, visible

TOK = subword.ByteTokenizer(["<e>"])
HOSTILE = "<script>alert(1)</script>\x00\u202e\x1b[31m\r\n&\"'e" + "\u0301" * 3


class Texts(HTMLParser):
    """The tags and the text of some HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, *_: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Texts:
    parser = Texts()
    parser.feed(html)
    return parser


def tokenizers() -> dict[str, subword.Tokenizer]:
    text = "The cat in the hat sat on the mat. 你好 naïve\n" * 3
    with pytest.warns(subword.StoppedEarlyWarning):
        bpe = subword.train_bpe([text], 900, ["<e>"])
    return {
        "bytes": TOK,
        "bpe": bpe,
        "wordpiece": subword.WordPieceTokenizer(["[UNK]", "the", "##m", "c"], normalizer="bert"),
        "unigram": subword.UnigramTokenizer([("<unk>", 0.0), ("the", -1.0), (" c", -2.0)]),
    }


TOKENIZERS = tokenizers()


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("text", ["", "them c 你", "The cat\n<e> é", HOSTILE])
def test_every_model_shows_every_token_once(name: str, text: str) -> None:
    tok = TOKENIZERS[name]
    shown = tok.show(text)
    assert str(shown).count("|") == len(tok.encode(text)) + text.count("|")
    html = read(shown._repr_html_())
    assert html.tags <= {"div", "span", "br"}
    assert shown._repr_html_().count("<span ") == len(tok.encode(text))


@given(text=st.text(max_size=40) | st.binary(max_size=40))
def test_nothing_shown_moves_the_cursor_or_runs(text: str | bytes) -> None:
    shown = TOK.show(text)
    lines = str(shown).split("\n")
    assert all(line.isprintable() for line in lines)
    html = read(shown._repr_html_())
    assert html.tags <= {"div", "span", "br"}
    data = text.encode() if isinstance(text, str) else text
    special = {data[start:end] for start, end in shown.encoding.byte_spans}
    assert all(visible(token) in html.text for token in special)


def test_bytes_of_a_character_are_shown_as_bytes() -> None:
    assert str(TOK.show("你 a")) == r"\xe4|\xbd|\xa0|·|a|"


def test_special_tokens_are_as_asked_for() -> None:
    assert str(TOK.show("a<e>")) == "a|<e>|"
    assert str(TOK.show("<e>", special="as_text")) == "<|e|>|"
    with pytest.raises(subword.SpecialTokenInTextError):
        TOK.show("<e>", special="forbid")


def test_lone_surrogates_are_refused_as_by_encode() -> None:
    with pytest.raises(subword.TextError):
        TOK.show("\ud800")


def test_a_long_text_ends_with_how_much_is_left() -> None:
    shown = TOK.show("a" * (MAX_SHOWN + 7))
    assert str(shown).endswith("… and 7 more tokens")
    assert "… and 7 more tokens" in shown._repr_html_()


def test_a_long_token_is_cut() -> None:
    word = "x" * 5_000
    tok = subword.WordPieceTokenizer(["[UNK]", word], max_input_chars_per_word=9_000)
    assert len(str(tok.show(word))) < 500
    assert "+4600 bytes" in str(tok.show(word))


def test_a_terminal_gets_colours() -> None:
    screen = io.StringIO()
    Console(file=screen, force_terminal=True, color_system="standard").print(TOK.show("ab"))
    assert "\x1b[30;106ma" in screen.getvalue()
    assert "\x1b[30;103mb" in screen.getvalue()


def test_colours_have_contrast_whatever_the_notebook() -> None:
    html = TOK.show("ab<e>")._repr_html_()
    assert html.count("background:") == html.count(";color:") == 3


def test_a_tokenizer_is_a_table_in_a_notebook() -> None:
    tok = subword.ByteTokenizer(["<script>"])
    html = read(tok._repr_html_())
    assert "script" not in html.tags
    assert "<script>" in html.text
    assert "257" in html.text
