"""tokenizer.json: what is read, and what is refused by name."""

import copy
import json
from types import SimpleNamespace

import pytest

from subword.errors import FormatError, SourceIsDirectoryError, SubwordError
from subword.formats import load, tokenizer_json
from subword.formats.oniguruma import from_oniguruma, to_oniguruma
from subword.patterns import NAMED_PATTERNS
from subword.training.bpe import train_bpe

TEXT = "the cat in the hat, the  \n\n naïve 你好 hat\u00a0cat " * 5
BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
SPLIT = {
    "type": "Split",
    "pattern": {"Regex": r"\p{L}+"},
    "behavior": "Isolated",
    "invert": False,
}
SMALL = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [
        {
            "id": 3,
            "content": "<|end|>",
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
    ],
    "normalizer": None,
    "pre_tokenizer": BYTE_LEVEL,
    "post_processor": {**BYTE_LEVEL, "trim_offsets": False},
    "decoder": BYTE_LEVEL,
    "model": {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": "",
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": {"a": 0, "Ġ": 1, "Ġa": 2},
        "merges": ["Ġ a"],
    },
}


@pytest.fixture
def file(tmp_path):
    def write(root):
        path = tmp_path / "tokenizer.json"
        path.write_text(root if isinstance(root, str) else json.dumps(root), encoding="utf-8")
        return path

    return write


def changed(*keys, to):
    """SMALL with another value under the keys."""
    root = copy.deepcopy(SMALL)
    inner = root
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = to
    return root


def added(text, token_id, **flags):
    return {**SMALL["added_tokens"][0], "content": text, "id": token_id, **flags}


def test_a_small_file(file):
    tok = load(file(SMALL))
    assert tok.encode("a a<|end|>") == [0, 2, 3]
    assert tok.pattern == NAMED_PATTERNS["gpt2"]
    assert tok.model.training is None


@pytest.mark.parametrize(
    "root",
    [
        changed("model", "merges", to=[["Ġ", "a"]]),
        changed("normalizer", to={"type": "Sequence", "normalizers": []}),
        changed("post_processor", to=None),
        changed("post_processor", to={"type": "Sequence", "processors": [BYTE_LEVEL]}),
        changed("model", "dropout", to=0.0),
        {**SMALL, "model": {k: v for k, v in SMALL["model"].items() if k != "type"}},
        {k: v for k, v in SMALL.items() if k not in ("truncation", "padding", "normalizer")},
        changed("pre_tokenizer", to={"type": "Sequence", "pretokenizers": [BYTE_LEVEL]}),
    ],
)
def test_other_spellings_of_the_same(root, file):
    assert tokenizer_json.read(file(root)) == tokenizer_json.read(file(SMALL))


def test_splits_are_applied_in_turn(file):
    plain = {**BYTE_LEVEL, "use_regex": False}
    steps = {"type": "Sequence", "pretokenizers": [SPLIT, copy.deepcopy(SPLIT), plain]}
    tok = load(file(changed("pre_tokenizer", to=steps)))
    assert tok.pattern == (r"\p{L}+", r"\p{L}+")
    steps["pretokenizers"][2] = BYTE_LEVEL
    assert len(load(file(changed("pre_tokenizer", to=steps))).pattern) == 3
    assert load(file(changed("pre_tokenizer", to=plain))).pattern == ()


@pytest.mark.parametrize(
    ("root", "named"),
    [
        (changed("version", to="2.0"), "version"),
        (changed("surprise", to=1), "surprise"),
        (changed("truncation", to={"max_length": -8}), "truncation.max_length"),
        (changed("truncation", to={"max_length": 8, "other": 1}), "other"),
        (changed("padding", to={}), "padding"),
        (changed("normalizer", to={"type": "Surprise"}), "normalizer is 'Surprise'"),
        (changed("normalizer", to={"type": "Strip", "strip_left": 1}), "strip_left"),
        (changed("normalizer", to={"type": "Precompiled", "precompiled_charsmap": "?"}), "base64"),
        (changed("post_processor", to={"type": "TemplateProcessing"}), "special_tokens"),
        (
            changed(
                "post_processor", to={"type": "BertProcessing", "sep": ["a", 9], "cls": ["a", 0]}
            ),
            "has id 9",
        ),
        (changed("pre_tokenizer", to={"type": "Surprise"}), "'Surprise'"),
        (changed("model", "type", to="Unigram"), "dropout"),
        (changed("model", "type", to="Surprise"), "Surprise"),
        (changed("model", "vocab", to={"a": 2**32}), "4294967296"),
        (changed("added_tokens", 0, to=added("<|end|>", 3, lstrip=1)), "lstrip"),
        (changed("normalizer", to=[]), "normalizer"),
        (
            changed("post_processor", to={"type": "Sequence", "processors": [{"type": "X"}]}),
            r"processors\[0\] is 'X'",
        ),
        (changed("decoder", to=None), "decoder"),
        (changed("decoder", to={"type": "WordPiece"}), "decoder is 'WordPiece'"),
        (changed("pre_tokenizer", to={**BYTE_LEVEL, "other": 1}), "other"),
        (changed("model", "dropout", to=0.1), "dropout"),
        (changed("model", "ignore_merges", to="yes"), "ignore_merges"),
        (changed("model", "surprise", to=1), "surprise"),
        (changed("model", "vocab", "a", to=1), "one id"),
        (changed("model", "vocab", "a", to=-1), "-1"),
        (changed("model", "vocab", "a", to="0"), "'0'"),
        (changed("model", "merges", to={}), "merges"),
        (changed("model", "merges", to=["Ġ a a"]), r"merges\[0\]"),
        (changed("model", "merges", to=["Ġa"]), r"merges\[0\]"),
        (changed("model", "merges", to=[["Ġ", 1]]), r"merges\[0\]"),
        (changed("model", "merges", to=[["Ġ", "b"]]), r"merges\[0\] names 'b'"),
        (changed("added_tokens", 0, to=added("<|end|>", 4)), "numbers it 3"),
        (changed("added_tokens", 0, to=added("<|end|>", 3, other=1)), "other"),
        (changed("added_tokens", 0, to=added("<|end|>", True)), "id"),
        (changed("added_tokens", to=[added("x", 3), added("x", 3)]), "twice"),
        (changed("model", "subword", to={"version": 2}), "version"),
        (changed("model", "subword", to={"version": 1, "other": 1}), "other"),
        (changed("model", "subword", to=[]), "subword"),
        (
            changed("model", "subword", to={"version": 1, "special_in_model": [[]]}),
            "special_in_model",
        ),
    ],
)
def test_what_is_not_done_is_refused_by_name(root, named, file):
    with pytest.raises(FormatError, match=named) as caught:
        load(file(root))
    assert "tokenizer.json" in str(caught.value)


@pytest.mark.parametrize(
    "step",
    [
        {**SPLIT, "behavior": "Surprise"},
        {**SPLIT, "invert": 1},
        {**SPLIT, "pattern": {"String": ""}},
        {**SPLIT, "pattern": {"Regex": r"\w+"}},
        {**SPLIT, "pattern": {"Regex": r"\p{N}{1,3}+"}},
        {**SPLIT, "extra": 1},
    ],
)
def test_splits_that_are_not_done_are_refused(step, file):
    steps = {"type": "Sequence", "pretokenizers": [step, BYTE_LEVEL]}
    with pytest.raises(FormatError, match=r"pretokenizers\[0\]|extra"):
        load(file(changed("pre_tokenizer", to=steps)))


def test_a_token_that_is_twice_in_bytes_is_refused(file):
    vocab = {"a": 0, "Ġ": 1, "Ġa": 2, "中": 5, "ä¸Ń": 6}
    with pytest.raises(FormatError):
        load(file({**changed("model", "vocab", to=vocab), "added_tokens": []}))


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"model": ' + "[" * 100_000, "null"])
def test_damaged_json_is_a_format_error(text, file):
    with pytest.raises(FormatError, match=r"tokenizer\.json"):
        load(file(text))


def test_every_cut_of_a_file_is_refused(file):
    whole = json.dumps(SMALL)
    for end in range(len(whole)):
        with pytest.raises(FormatError):
            load(file(whole[:end]))


def test_a_directory_is_an_os_error(tmp_path):
    with pytest.raises(SourceIsDirectoryError):
        tokenizer_json.read(tmp_path)


@pytest.mark.parametrize("ties", ["greatest", "first", "hf", "smallest_id"])
def test_training_survives(ties, tmp_path):
    tok = train_bpe([TEXT], 275, ["<|end|>"], ties=ties, min_frequency=2)
    tokenizer_json.write(tok, tmp_path / "tokenizer.json")
    again = load(tmp_path)
    assert again == tok
    assert again.model == tok.model
    assert again.truncate(265) == tok.truncate(265)


def test_a_pattern_changed_by_hand_is_noticed(tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer_json.write(train_bpe([TEXT], 260, pattern=r"\p{L}+"), path)
    path.write_text(path.read_text().replace(r'"Regex": "\\p{L}+"', r'"Regex": "\\p{N}+"'))
    with pytest.raises(FormatError, match=r"subword\.pattern"):
        load(path)


@pytest.mark.parametrize("name", NAMED_PATTERNS)
def test_named_patterns_come_back(name):
    for part in NAMED_PATTERNS[name]:
        assert from_oniguruma(to_oniguruma(part)) == part


@pytest.mark.parametrize("pattern", ["(", ")", "(a", "[", "[^]", "*a", "a**", "a{2}?", "", "\\"])
def test_patterns_that_are_none_are_refused(pattern):
    for translate in (to_oniguruma, from_oniguruma):
        with pytest.raises(FormatError):
            translate(pattern)


def model(**fields):
    """SMALL with another model, and what belongs to one that is not of bytes."""
    root = {**SMALL, "pre_tokenizer": None, "decoder": None, "added_tokens": []}
    return {**root, "model": fields}


UNIGRAM = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}


@pytest.mark.parametrize(
    ("root", "named"),
    [
        (model(**{**UNIGRAM, "unk_id": None}), "unk_id is null"),
        (model(**{**UNIGRAM, "unk_id": 2}), "unk_id is 2"),
        (model(**{**UNIGRAM, "vocab": [["a"]]}), r"vocab\[0\]"),
        (model(**{**UNIGRAM, "vocab": [["a", "b"]]}), "finite"),
        (model(**{**UNIGRAM, "vocab": [["a", True]]}), "finite"),
        (model(**{**UNIGRAM, "vocab": [["a", -1], ["a", -2]]}), "a"),
        (model(**{**UNIGRAM, "byte_fallback": True}), "byte"),
        (model(type="WordLevel", vocab={"a": 0}, unk_token="[UNK]"), "UNK"),
        (model(type="WordPiece", vocab={"a": 0}, unk_token="[UNK]"), "UNK"),
        (model(type="BPE", vocab={"a": 0}, merges=[], unk_token="u"), "'u'"),
        (model(type="BPE", vocab={"a": 0}, merges=[], dropout=0.5), "dropout"),
        (model(type="BPE", vocab={"a": 0, "b": 1}, merges=["a b"]), "ab"),
        (model(vocab={"a": 0}), "type"),
    ],
)
def test_damaged_models_are_refused(root, named, file):
    with pytest.raises(SubwordError, match=named):
        load(file(root))


@pytest.mark.parametrize("score", ["NaN", "Infinity", "-Infinity", "1e999", "-" + "9" * 5000])
def test_scores_that_are_no_numbers_are_refused(score, file):
    text = json.dumps(model(**{**UNIGRAM, "vocab": [["<unk>", 12345]]}))
    with pytest.raises(FormatError):
        load(file(text.replace("12345", score)))


def test_ids_may_have_gaps(file):
    tok = load(file(model(type="WordLevel", vocab={"a": 7, "[UNK]": 90}, unk_token="[UNK]")))
    assert (tok.encode("a"), tok.encode("b"), tok.vocab_size) == ([7], [90], 91)


@pytest.mark.parametrize("spelling", ["a", "\\u0061"])
def test_tables_are_read_alike_with_and_without_a_parser(spelling, file, monkeypatch):
    """The kernel reads the tables of plain files; a JSON parser reads whatever else."""
    text = json.dumps(SMALL).replace('"a"', f'"{spelling}"')
    by_kernel = load(file(text))
    without = SimpleNamespace(JsonTables=SimpleNamespace(read=lambda _data: None))
    monkeypatch.setattr(tokenizer_json, "_core", without)
    assert load(file(text)) == by_kernel
    assert by_kernel.encode("a a<|end|>") == [0, 2, 3]


def test_many_added_tokens_are_found(file):
    entries = [added(f"<|reserved_{at}|>", 3 + at) for at in range(3000)]
    tok = load(file(changed("added_tokens", to=entries)))
    text = "a<|reserved_2999|> a<|reserved_29|><|reserved_|"[: -len("<|reserved_|")]
    assert tok.encode(text) == [0, 3002, 2, 32]
