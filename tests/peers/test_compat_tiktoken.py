"""The stand-in for tiktoken gives what tiktoken gives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.compat.tiktoken import Encoding, encoding_name_for_model, from_tiktoken
from subword.compat.tiktoken_models import _MODELS
from subword.training.bpe import train_bpe

tiktoken = pytest.importorskip("tiktoken")

TEXT = "hello hello fanta, fanatic world  \n\n it's naïve 你好 12345 \U0001f642 hell" * 4
SPECIAL = {"<|endoftext|>": 300, "<|fim|>": 301}
PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)


def both():
    vocab = train_bpe([TEXT], 296, pattern="cl100k").model.vocab
    parts = {
        "pat_str": PATTERN,
        "mergeable_ranks": {token: rank for rank, token in vocab.items()},
        "special_tokens": SPECIAL,
    }
    return Encoding("small", **parts), tiktoken.Encoding("small", **parts)


OURS, THEIRS = both()
texts = st.text(alphabet="helo fanti\n'\U0001f642你1é") | st.text()
texts |= st.lists(st.sampled_from([*SPECIAL, "hello", " ", "\n", "é"])).map("".join)


@given(texts)
def test_ids_are_tiktokens(text):
    assert OURS.encode_ordinary(text) == THEIRS.encode_ordinary(text)
    for allowed in ("all", {"<|fim|>"}):
        found = OURS.encode(text, allowed_special=allowed, disallowed_special=())
        assert found == THEIRS.encode(text, allowed_special=allowed, disallowed_special=())
    assert OURS.encode_to_numpy(text, disallowed_special=()).tolist() == found or "<|fim|>" in text
    batch = OURS.encode_batch([text, text], disallowed_special=())
    assert batch == THEIRS.encode_batch([text, text], disallowed_special=())
    assert OURS.encode_ordinary_batch([text]) == THEIRS.encode_ordinary_batch([text])


@given(texts.filter(lambda text: "<|" not in text))
def test_unstable_ids_are_tiktokens(text):
    stable, completions = OURS.encode_with_unstable(text)
    wanted, wanted_completions = THEIRS.encode_with_unstable(text)
    assert stable == wanted
    assert completions == sorted(map(list, wanted_completions))


@given(st.lists(st.sampled_from([*range(296), 300, 301]), max_size=12))
def test_decoding_is_tiktokens(ids):
    assert OURS.decode(ids) == THEIRS.decode(ids)
    assert OURS.decode_bytes(ids) == THEIRS.decode_bytes(ids)
    assert OURS.decode_tokens_bytes(ids) == THEIRS.decode_tokens_bytes(ids)
    assert OURS.decode_batch([ids, []]) == THEIRS.decode_batch([ids, []])
    assert OURS.decode_bytes_batch([ids]) == THEIRS.decode_bytes_batch([ids])
    try:
        wanted = THEIRS.decode_with_offsets(ids)
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            OURS.decode_with_offsets(ids)
    else:
        assert OURS.decode_with_offsets(ids) == wanted


@pytest.mark.parametrize("text", ["\ud800", "\ud83d\ude42", "a\udfffb", "hello\ud83d"])
def test_surrogates_are_joined_or_replaced(text):
    assert OURS.encode(text) == THEIRS.encode(text)
    assert OURS.encode_ordinary(text) == THEIRS.encode_ordinary(text)


def test_special_tokens_in_text_are_refused_alike():
    for encoding in (OURS, THEIRS):
        for call in (encoding.encode, encoding.encode_to_numpy, encoding.encode_with_unstable):
            with pytest.raises(ValueError, match=r"<\|fim\|>"):
                call("a <|fim|>")
        with pytest.raises(ValueError, match=r"<\|fim\|>"):
            encoding.encode_batch(["a", "<|fim|>"])
        with pytest.raises(ValueError, match="hell"):
            encoding.encode("hello", disallowed_special={"hell"})
        assert encoding.encode("<|fim|>", disallowed_special={"<|endoftext|>"})


def test_what_is_stored_is_alike():
    for name in ("n_vocab", "max_token_value", "eot_token", "special_tokens_set", "name"):
        assert getattr(OURS, name) == getattr(THEIRS, name)
    for name in ("_pat_str", "_mergeable_ranks", "_special_tokens"):
        assert getattr(OURS, name) == getattr(THEIRS, name)
    assert repr(OURS) == repr(THEIRS)
    assert OURS.token_byte_values() == THEIRS.token_byte_values()
    assert [OURS.is_special_token(at) for at in (0, 300)] == [False, True]
    assert OURS.encode_single_token("hello") == THEIRS.encode_single_token("hello")
    assert OURS.encode_single_token("<|fim|>") == THEIRS.encode_single_token("<|fim|>")
    assert OURS._encode_single_piece("hello") == THEIRS._encode_single_piece("hello")


@pytest.mark.parametrize("encoding", [OURS, THEIRS])
def test_unknown_tokens_are_key_errors(encoding):
    with pytest.raises(KeyError):
        encoding.encode_single_token("hello hello")
    for call in (encoding.decode_single_token_bytes, lambda at: encoding.decode_bytes([at])):
        with pytest.raises(KeyError):
            call(299)


def test_live_encodings_move_across():
    tok = from_tiktoken(THEIRS)
    assert tok.encode(TEXT) == THEIRS.encode(TEXT)
    assert tok.encode("<|fim|>") == [301]


def test_models_have_tiktokens_encodings():
    model = pytest.importorskip("tiktoken.model")
    assert _MODELS == model.MODEL_TO_ENCODING
    for name in [*model.MODEL_TO_ENCODING, *(f"{p}x" for p in model.MODEL_PREFIX_TO_ENCODING)]:
        assert encoding_name_for_model(name) == model.encoding_name_for_model(name)
    with pytest.raises(KeyError):
        encoding_name_for_model("no model")
