"""What is written as a model file does in sentencepiece what it does here."""

import pytest

import subword
from subword import FormatError, load, save
from subword.formats.sentencepiece_model import to_sentencepiece
from subword.formats.sentencepiece_proto import parse_proto

sentencepiece = pytest.importorskip("sentencepiece", reason="the peers group is not installed")

TEXTS = ["the cat in the hat", " a  the\tcat\n", "", "  ", "zebra é 你 <s> the </s>", "▁the cat"]


def test_a_model_that_was_read_is_written_as_it_was(sentencepiece_model, tmp_path):
    _, data = sentencepiece_model
    (tmp_path / "given.model").write_bytes(data)
    tok = load(tmp_path / "given.model")
    save(tok, tmp_path / "saved.model")
    assert load(tmp_path / "saved.model") == tok
    given, saved = parse_proto(data), parse_proto((tmp_path / "saved.model").read_bytes())
    assert saved.pieces == given.pieces
    assert saved.denormalizer == given.denormalizer
    for field in ("add_dummy_prefix", "escape_whitespaces", "precompiled_charsmap"):
        assert getattr(saved.normalizer, field) == getattr(given.normalizer, field)
    theirs, again = [
        sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / f"{file}.model"))
        for file in ("given", "saved")
    ]
    for role in ("unk_id", "bos_id", "eos_id", "pad_id"):
        assert getattr(again, role)() == getattr(theirs, role)(), role
    for text in TEXTS:
        assert again.encode(text) == theirs.encode(text) == tok.encode(text)
        assert again.decode(again.encode(text)) == theirs.decode(theirs.encode(text))


@pytest.mark.filterwarnings("ignore::subword.errors.StoppedEarlyWarning")
@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("pattern", ["gpt2", "none", "whitespace"])
def test_a_trained_unigram_loads_in_sentencepiece(byte_fallback, pattern, tmp_path):
    corpus = ["the cat in the hat sat on the mat", "a cat ate the rat; that hat is flat"] * 3
    trained = subword.train_unigram(
        corpus, 320, ["<s>", "</s>"], pattern=pattern, byte_fallback=byte_fallback
    )
    tok = to_sentencepiece(trained)
    save(tok, tmp_path / "trained.model")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "trained.model"))
    assert (theirs.bos_id(), theirs.eos_id()) == (1, 2)
    again = load(tmp_path / "trained.model")
    for text in [*corpus, *TEXTS]:
        ids = theirs.encode(text)
        assert tok.encode(text) == again.encode(text) == ids
        assert tok.decode(ids) == again.decode(ids) == theirs.decode(ids)
        if pattern == "none":
            assert trained.encode(text, special="as_text") == ids or "▁" in text
    assert again.replace(template=tok.template).model.vocab == tok.model.vocab


def test_a_template_gives_the_roles(tmp_path):
    made = subword.UnigramTokenizer(
        [("<unk>", 0.0), ("[CLS]", 0.0), ("[SEP]", 0.0), ("[PAD]", 0.0), ("▁a", -1.0), ("b", -2.0)],
        special_tokens=["<unk>", "[CLS]", "[SEP]", "[PAD]"],
    )
    tok = to_sentencepiece(made)
    for template, bos, eos in [("[CLS] A [SEP]", 1, 2), ("[CLS] A", 1, -1), ("A [SEP]", -1, 2)]:
        tok = tok.replace(template=subword.Template.parse(template))
        save(tok, tmp_path / "roles.model")
        theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "roles.model"))
        assert (theirs.bos_id(), theirs.eos_id(), theirs.pad_id()) == (bos, eos, 3)
        assert load(tmp_path / "roles.model") == tok
        expected = theirs.encode(" ab", add_bos=bos >= 0, add_eos=eos >= 0)
        assert tok.encode(" ab", template=True) == expected


def test_a_denormalizer_is_read_and_written(tmp_path):
    (tmp_path / "normalize.tsv").write_text("61\t62\n")
    (tmp_path / "denormalize.tsv").write_text("62\t63 64\n20\t2D\n")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["hello bob abc", "the cab is here"] * 20),
        model_prefix=str(tmp_path / "given"),
        vocab_size=30,
        normalization_rule_tsv=str(tmp_path / "normalize.tsv"),
        denormalization_rule_tsv=str(tmp_path / "denormalize.tsv"),
        minloglevel=2,
        hard_vocab_limit=False,
    )
    tok = load(tmp_path / "given.model")
    save(tok, tmp_path / "saved.model")
    assert load(tmp_path / "saved.model") == tok
    for file in ("given", "saved"):
        theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / f"{file}.model"))
        for text in ("hello bob abc", " the  cab", "bab"):
            ids = tok.encode(text)
            assert ids == theirs.encode(text)
            assert tok.decode(ids) == theirs.decode(ids)
            stream = tok.stream_decoder()
            assert "".join(map(stream.push, ids)) + stream.finish() == theirs.decode(ids)


@pytest.mark.filterwarnings("ignore::subword.errors.StoppedEarlyWarning")
def test_what_a_model_cannot_hold_is_refused_by_name(tmp_path):
    def refusal(tok):
        with pytest.raises(FormatError) as caught:
            save(tok, tmp_path / "x.model")
        assert not (tmp_path / "x.model").exists()
        return str(caught.value)

    trained = subword.train_unigram(["the cat in the hat"] * 3, 300, ["<s>"])
    tok = to_sentencepiece(trained)
    assert "split pattern" in refusal(trained)
    assert "BPE" in refusal(subword.ByteTokenizer()).upper()
    assert "'<new>'" in refusal(tok.with_special_tokens(["<new>"]))
    assert "'<s>' is found in text" in refusal(tok.replace(token_flags={"<unk>": CONTROL}))
    assert "normalizer has the step Nfkc" in refusal(tok.replace(normalizer=(NFKC,)))
    assert "the decoder is ()" in refusal(tok.replace(decoder=()))
    template = subword.Template.parse("<s> A <s> <s>")
    assert "the template is" in refusal(tok.replace(template=template))
    hf = subword.models.Unigram(tok.model.pieces, byte_fallback=True, single_precision=False)
    assert "single_precision is False" in refusal(tok.replace(model=hf))


CONTROL = subword.TokenFlags(control=True)
NFKC = subword.normalizers.Nfkc()
