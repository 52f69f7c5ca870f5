"""CLIP's vocabulary."""

import gzip

import pytest

from subword.byte_characters import BYTE_CHARACTERS
from subword.errors import FormatError, SpecialTokenError
from subword.formats import clip, load, save
from subword.models import CharacterBpe
from subword.named import ByteTokenizer

HEADING = '"heading"\n'
LINES = "t h\nth e</w>\nh e\n"


@pytest.fixture
def file(tmp_path):
    def write(content, name="bpe_simple_vocab_16e6.txt.gz", pack=gzip.compress):
        path = tmp_path / name
        path.write_bytes(pack(content.encode()))
        return path

    return write


def spelled(tok, text):
    return [tok.token_bytes(token_id) for token_id in tok.encode(text)]


def test_the_vocabulary_follows_from_the_merges(file):
    tok = load(file(HEADING + LINES))
    assert spelled(tok, "The  the then THE!") == [
        *(b"the</w>", b"the</w>", b"th", b"e", b"n</w>", b"the</w>", b"!</w>")
    ]
    assert tok.vocab_size == 512 + 3 + 2
    assert [tok.token_bytes(at) for at in (0, 255, 256, 512, 513, 515)] == [
        *(b"!", b"\xad", b"!</w>", b"th", b"the</w>", b"<start_of_text>")
    ]
    assert tok.encode("the", template=True) == [515, 513, 516]
    assert tok.decode(tok.encode("the the")) == "the the "


def test_any_text_has_ids(file):
    tok = load(file(HEADING + LINES))
    text = "né 你好 🙂 12 it's"
    assert tok.decode(tok.encode(text)) == "né 你好 🙂 1 2 it 's "
    assert tok.encode("") == []
    assert tok.encode(b"\xff") == [tok.token_id(b"\xff</w>")]


def test_bytes_have_the_order_of_their_characters(file):
    tok = load(file(HEADING + LINES))
    characters = sorted(BYTE_CHARACTERS)
    found = [BYTE_CHARACTERS[tok.token_bytes(at)[0]] for at in range(256)]
    assert found == characters


def test_special_tokens_can_have_the_names_of_the_first_release(file):
    path = file(HEADING + LINES)
    tok = load(path, special_tokens=["<|startoftext|>", "<|endoftext|>"])
    assert tok.encode("a<|endoftext|>")[-1] == 516
    with pytest.raises(SpecialTokenError, match="two"):
        load(path, special_tokens=["<s>"])


def test_written_files_are_read_back(file, tmp_path):
    tok = load(file(HEADING + LINES))
    target = tmp_path / "out.txt.gz"
    save(tok, target, "clip")
    assert load(target, "clip") == tok
    assert gzip.decompress(target.read_bytes()).decode().endswith(LINES)
    plain = tmp_path / "out.txt"
    plain.write_bytes(gzip.decompress(target.read_bytes()))
    assert load(plain, "clip") == tok


def test_other_tokenizers_are_refused(file, tmp_path):
    tok = load(file(HEADING + LINES))
    with pytest.raises(FormatError, match="Bpe model"):
        save(ByteTokenizer(), tmp_path / "x", "clip")
    with pytest.raises(FormatError, match="differs"):
        save(tok.replace(normalizer=()), tmp_path / "x", "clip")
    assert isinstance(tok.model, CharacterBpe)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("", "no pair"),
        (HEADING, "no pair"),
        (HEADING + "t h e\n", ":2: expected two tokens"),
        (HEADING + "t h\n\nh e\n", ":3: expected two tokens"),
        (HEADING + "t h\nthe e\n", ":3: b'the'"),
        (HEADING + "t h\nt h\n", ":3: b'th' is a token already"),
        (HEADING + "t \N{SNOWMAN}\n", "stands for no byte"),
    ],
)
def test_damage_is_named(file, content, match):
    with pytest.raises(FormatError, match=match):
        load(file(content))


def test_damaged_gzip_is_refused(file):
    whole = gzip.compress((HEADING + LINES).encode())
    for damaged in (whole[:-6], whole[:20], whole[:15] + b"\xff\xff" + whole[17:]):
        with pytest.raises(FormatError, match=r"gzip"):
            load(file("", pack=lambda _, damaged=damaged: damaged))
    bomb = gzip.compress(bytes(1 << 27))
    with pytest.raises(FormatError, match="67108864"):
        load(file("", pack=lambda _: bomb))


def test_texts_are_cleaned_as_clip_does():
    pytest.importorskip("ftfy")
    assert clip.clean(" &amp;lt;b&amp;gt; schÃ¶n ") == "<b> schön"
