"""Every vocabulary to every format that can hold it and back: the same ids, or a reason."""

import importlib.util
from pathlib import Path

import pytest

from subword.formats import FORMATS

_path = Path(__file__).parents[1] / "check_formats.py"
_spec = importlib.util.spec_from_file_location("check_formats", _path)
check_formats = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_formats)

# The formats that hold each vocabulary; GGUF's own library takes long to read it.
HOLD = {
    "bert_cased": {"tokenizer_json", "bert_vocab", "yaml"},
    "bert_chinese": {"tokenizer_json", "bert_vocab", "yaml"},
    "clip": {"clip", "yaml"},
    "kh_t5_test_vocab": {"sentencepiece", "sentencepiece_vocab", "yaml"},
    "kh_deberta_v3_test_vocab": {"sentencepiece", "yaml"},
    "kh_gemma_test_vocab": {"sentencepiece", "yaml"},
    "kh_phi3_test_vocab": {"sentencepiece", "sentencepiece_vocab", "yaml"},
    "r50k_base": {"tokenizer_json", "vocab_merges", "yaml", "tiktoken"},
    "tekken_240911": {"tokenizer_json", "tekken", "yaml"},
}


@pytest.fixture(scope="module", params=HOLD)
def vocabulary(request, shared, tmp_path_factory):
    check_formats.SHARED = shared
    name = request.param
    source = check_formats.unpacked(name, tmp_path_factory.mktemp(name))
    return name, source, check_formats.golden_texts(name, 60)


@pytest.mark.parametrize("format_", [name for name in FORMATS if name != "gguf"])
def test_ids_stay_the_same_or_the_refusal_has_a_reason(format_, vocabulary, tmp_path):
    name, source, texts = vocabulary
    assert len(texts) == 60
    options = check_formats.SOURCES[name][1]
    result, said = check_formats.converted(source, options, format_, texts, tmp_path)
    assert result == ("equal" if format_ in HOLD[name] else "refused"), said
    assert len(said) > 20
