"""Real model files that several tests of peers ask for."""

from pathlib import Path

import pytest
import zstandard

MODELS = [
    "albert_sp",
    "kh_deberta_v3_test_vocab",
    "kh_gemma3_test_vocab",
    "kh_gemma_test_vocab",
    "kh_phi3_test_vocab",
    "kh_t5_test_vocab",
    "kh_xlm_roberta_test_vocab",
    "mistral_v1",
    "mistral_v3",
    "mistral_v7",
    "seqio_test_sp",
    "spm_test_en",
    "spm_test_ja",
    "xlnet_sp",
]


@pytest.fixture(scope="session", params=MODELS)
def sentencepiece_model(request: pytest.FixtureRequest, shared: Path) -> tuple[str, bytes]:
    """The name of a golden file, and the content of its SentencePiece model."""
    name = request.param
    if name.startswith("kh_"):
        path = shared / "vocab" / "keras_hub_spm" / f"{name.removeprefix('kh_')}.spm.zst"
    else:
        (path,) = (shared / "vocab" / name).glob("*.model.zst")
    with path.open("rb") as packed:
        return name, zstandard.ZstdDecompressor().stream_reader(packed).read()
