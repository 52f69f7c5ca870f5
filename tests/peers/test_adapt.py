"""Real vocabularies extended and pruned: what the guide says of them, on less text."""

import io
import tarfile
from pathlib import Path

import pytest
import zstandard

import subword
from subword.tokenizer import Tokenizer


def unpacked(path: Path) -> bytes:
    with path.open("rb") as packed:
        return zstandard.ZstdDecompressor().stream_reader(packed).read()


@pytest.fixture(scope="module")
def gpt2(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tmp_path_factory.mktemp("gpt2") / "r50k_base.tiktoken"
    path.write_bytes(unpacked(shared / "vocab/r50k_base/r50k_base.tiktoken.zst"))
    return subword.load(path)


@pytest.fixture(scope="module")
def ntrex(shared: Path) -> tarfile.TarFile:
    data = unpacked(shared / "data/parallel/ntrex128.tar.zst")
    return tarfile.open(fileobj=io.BytesIO(data))


def lines(archive: tarfile.TarFile, language: str) -> list[str]:
    member = archive.extractfile(f"ntrex128/{language}.txt")
    assert member is not None
    return member.read().decode().splitlines()


@pytest.mark.parametrize(
    ("language", "share"), [("deu", 0.75), ("zho-CN", 0.75), ("hin", 0.6), ("arb", 0.6)]
)
def test_gpt2_learns_a_language_and_keeps_its_english(gpt2, ntrex, language, share):
    text = lines(ntrex, language)
    first, second = text[: len(text) // 2], text[len(text) // 2 :]
    english = lines(ntrex, "eng")
    counts = subword.count(first, pattern="gpt2")
    kept = subword.count(english, pattern="gpt2")
    sources = {"held-out": second, "english": english}
    # The pattern cuts Hindi at its vowel signs: not many more tokens fit into what is left.
    change = subword.extend(gpt2, counts, 1500, unchanged_on=kept, texts=sources)
    _, held_out, same = change.certificate.sources
    assert held_out.n_tokens_after < share * held_out.n_tokens_before
    assert same.n_changed == 0
    assert change.certificate.broken == ()
    assert not [
        row for row in change.certificate.unreachable if row.is_added and row.reason != "inside"
    ]


def test_the_extended_gpt2_is_the_same_in_hf_and_tiktoken(gpt2, ntrex, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    tiktoken = pytest.importorskip("tiktoken")
    german = lines(ntrex, "deu")
    change = subword.extend(gpt2, subword.count(german[:500], pattern="gpt2"), 500)
    change.save(tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ranks = {token: at for at, token in change.tokenizer.model.vocab.items()}
    (pattern,) = gpt2.pattern
    implied = tiktoken.Encoding(
        "extended", pat_str=pattern, mergeable_ranks=ranks, special_tokens=gpt2.special_tokens
    )
    differs = 0
    for text in german[500:1200]:
        ids = change.tokenizer.encode(text)
        assert theirs.encode(text).ids == ids
        differs += implied.encode(text) != ids
    # tiktoken takes merges from the tokens alone; where these are others, its file is refused.
    try:
        subword.save(change.tokenizer, tmp_path / "extended.tiktoken")
    except subword.FormatError:
        return
    assert differs == 0


def test_gpt2_cut_down_costs_little(gpt2, ntrex):
    english = lines(ntrex, "eng")
    first, second = english[::2], english[1::2]
    counts = subword.count(first, pattern="gpt2")
    change = subword.prune(gpt2, 32_000, counts, texts={"held-out": second})
    _, held_out = change.certificate.sources
    assert change.tokenizer.vocab_size == 32_000
    assert held_out.n_tokens_after < 1.03 * held_out.n_tokens_before
    assert change.certificate.broken == ()


def test_mistral_learns_chinese_and_sentencepiece_agrees(shared, ntrex, tmp_path):
    sentencepiece = pytest.importorskip("sentencepiece")
    path = tmp_path / "tokenizer.model"
    path.write_bytes(unpacked(shared / "vocab/mistral_v1/tokenizer.model.zst"))
    tok = subword.load(path)
    chinese = lines(ntrex, "zho-CN")
    counts = subword.count(chinese[:1500], pattern="gpt2")
    sources = {"held-out": chinese[1500:], "english": lines(ntrex, "eng")}
    change = subword.extend(tok, counts, 2000, texts=sources)
    held_out, _ = change.certificate.sources
    assert held_out.n_tokens_after < 0.8 * held_out.n_tokens_before
    change.save(tmp_path / "adapted", "tokenizer.model")
    model = str(tmp_path / "adapted" / "tokenizer.model")
    theirs = sentencepiece.SentencePieceProcessor(model_file=model)
    for text in [*chinese[1500:], *sources["english"][:500]]:
        assert theirs.encode(text) == change.tokenizer.encode(text)
