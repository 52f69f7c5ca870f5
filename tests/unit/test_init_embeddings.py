"""Checkpoints for changed tokenizers: rows follow their tokens, new ones are what was asked for."""

import json
from pathlib import Path

import numpy as np
import pytest

import subword
from subword import IdMap, errors
from subword.vocabulary.safetensors_rows import from_floats, to_floats

safetensors_numpy = pytest.importorskip("safetensors.numpy")

D = 6
# Old ids 0 to 4, a padding row 5. Id 1 goes, 2 to 4 move down; 4 and 5 are new.
MOVED = IdMap(
    5, 6, {0: 0, 1: None, 2: 1, 3: 2, 4: 3}, {4: (2, 4), 5: (0, 0, 3)}, {4: (1, 3), 5: (1, 1, 2)}
)


def matrix(n_rows: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n_rows, D)).astype(np.float32)


def saved(folder: Path, tensors: dict[str, np.ndarray], **config: object) -> Path:
    folder.mkdir()
    safetensors_numpy.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps({"vocab_size": 6, **config}))
    return folder


def read(folder: Path) -> dict[str, np.ndarray]:
    return safetensors_numpy.load_file(folder / "model.safetensors")


def clipped(row: np.ndarray, old: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(old, axis=1)
    norm = np.linalg.norm(row)
    return row * (np.clip(norm, norms.min(), norms.max()) / norm)


@pytest.mark.parametrize("method", ["mean", "weighted", "first_last"])
def test_rows_follow_their_tokens(method: str, tmp_path: Path) -> None:
    inputs, outputs, other = matrix(), matrix(seed=1), matrix(3, seed=2)
    tensors = {"model.embed_tokens.weight": inputs, "lm_head.weight": outputs, "norm": other}
    source = saved(tmp_path / "old", tensors, eos_token_id=3, bos_token_id=[2, 4])
    summary = subword.init_embeddings(source, MOVED, tmp_path / "new", method=method)
    assert summary.matrices == ("model.embed_tokens.weight", "lm_head.weight")
    assert (summary.n_old_rows, summary.n_new_rows, summary.n_added) == (6, 6, 2)
    new = read(tmp_path / "new")
    assert np.array_equal(new["norm"], other)
    for name, old in (("model.embed_tokens.weight", inputs), ("lm_head.weight", outputs)):
        assert np.array_equal(new[name][:4], old[[0, 2, 3, 4]])
        is_output = name == "lm_head.weight"
        expected = {
            "mean": (old[[2, 4]].mean(axis=0), old[[0, 0, 3]].mean(axis=0)),
            "weighted": (
                0.25 * old[2] + 0.75 * old[4],
                0.5 * old[0] + 0.5 * old[3],
            ),
            "first_last": (old[2], old[0]) if is_output else (old[4], old[3]),
        }[method]
        for row, wanted in zip(new[name][4:], expected, strict=True):
            np.testing.assert_allclose(row, clipped(wanted, old[:5]), rtol=1e-5)
    config = json.loads((tmp_path / "new" / "config.json").read_text())
    assert config == {"vocab_size": 6, "eos_token_id": 2, "bos_token_id": [1, 3]}


def test_normal_rows_have_the_old_mean_and_covariance(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    old = (generator.normal(size=(500, D)) @ generator.normal(size=(D, D)) + 2).astype(np.float32)
    source = saved(tmp_path / "old", {"wte.weight": old})
    n = 20_000
    id_map = IdMap(
        500,
        500 + n,
        {at: at for at in range(500)},
        {500 + at: (0,) for at in range(n)},
        {500 + at: (1,) for at in range(n)},
    )
    subword.init_embeddings(source, id_map, tmp_path / "a", method="normal", seed=3)
    subword.init_embeddings(source, id_map, tmp_path / "b", method="normal", seed=3)
    new = read(tmp_path / "a")["wte.weight"]
    assert np.array_equal(new, read(tmp_path / "b")["wte.weight"])
    assert np.array_equal(new[:500], old)
    scale = float(np.linalg.norm(old, axis=1).mean())
    assert np.abs(new[500:].mean(axis=0) - old.mean(axis=0)).max() < 0.05 * scale
    found, wanted = np.cov(new[500:].T), np.cov(old.T)
    assert np.abs(found - wanted).max() < 0.1 * np.abs(wanted).max()


def test_bfloat16_rows_are_copied_bit_by_bit(tmp_path: Path) -> None:
    bits = from_floats(matrix(), "BF16")
    header = {"wte.weight": {"dtype": "BF16", "shape": [6, D], "data_offsets": [0, 12 * D]}}
    data = json.dumps(header).encode()
    path = tmp_path / "old.safetensors"
    path.write_bytes(len(data).to_bytes(8, "little") + data + bits.tobytes())
    subword.init_embeddings(path, MOVED, tmp_path / "new", pad_to_multiple=8)
    raw = (tmp_path / "new" / "old.safetensors").read_bytes()
    n_header = int.from_bytes(raw[:8], "little")
    assert json.loads(raw[8 : 8 + n_header])["wte.weight"]["shape"] == [8, D]
    new = np.frombuffer(raw[8 + n_header :], "<u2").reshape(8, D)
    assert np.array_equal(new[:4], bits[[0, 2, 3, 4]])
    old = to_floats(bits, "BF16")
    wanted = clipped(old[[2, 4]].mean(axis=0), old[:5])
    np.testing.assert_allclose(to_floats(new[4:5], "BF16")[0], wanted, rtol=2**-8)
    # Padding behind the tokens: the mean of all rows.
    np.testing.assert_allclose(to_floats(new[6:7], "BF16")[0], old[:5].mean(axis=0), rtol=2**-7)


def test_shards_are_done_one_by_one(tmp_path: Path) -> None:
    source = tmp_path / "old"
    source.mkdir()
    parts = {"a.safetensors": {"wte.weight": matrix()}, "b.safetensors": {"h": matrix(2)}}
    for name, tensors in parts.items():
        safetensors_numpy.save_file(tensors, source / name)
    weight_map = {"wte.weight": "a.safetensors", "h": "b.safetensors"}
    index = source / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map}))
    subword.init_embeddings(source, MOVED, tmp_path / "new", pad_to_multiple=4)
    made = json.loads((tmp_path / "new" / index.name).read_text())
    assert made == {"metadata": {"total_size": (8 + 2) * D * 4}, "weight_map": weight_map}
    assert safetensors_numpy.load_file(tmp_path / "new/a.safetensors")["wte.weight"].shape == (8, D)
    (source / "b.safetensors").unlink()
    with pytest.raises(errors.FormatError, match=r"b\.safetensors: the file is missing"):
        subword.init_embeddings(source, MOVED, tmp_path / "again")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old"]


def test_an_extension_goes_from_tokenizer_to_checkpoint(tmp_path: Path) -> None:
    tok = subword.train_bpe({"low": 5, "lower": 2}, 258)
    change = subword.extend(tok, {"slow": 3}, 1)
    change.save(tmp_path / "tokenizer")
    source = saved(tmp_path / "old", {"wte.weight": matrix(258)})
    subword.init_embeddings(source, tmp_path / "tokenizer" / "id_map.json", tmp_path / "new")
    old, new = matrix(258), read(tmp_path / "new")["wte.weight"]
    assert new.shape == (259, D)
    wanted = old[tok.encode("slow")].mean(axis=0)
    np.testing.assert_allclose(new[258], clipped(wanted, old), rtol=1e-5)


@pytest.mark.parametrize("size", [0, 4, 9, 100])
def test_files_that_end_early_are_refused(size: int, tmp_path: Path) -> None:
    source = saved(tmp_path / "old", {"wte.weight": matrix()})
    path = source / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(errors.FormatError, match="no whole safetensors file"):
        subword.init_embeddings(source, MOVED, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "header",
    [
        '{"wte.weight":{"dtype":"F32","shape":[6,6],"data_offsets":[0,9999999999999]}}',
        '{"wte.weight":{"dtype":"F32","shape":[99999999999,99999999999],"data_offsets":[0,4]}}',
        '{"wte.weight":{"dtype":"F32","shape":[-1,6],"data_offsets":[0,4]}}',
        "{" * 1000,
        "[]",
    ],
)
def test_hostile_headers_are_refused(header: str, tmp_path: Path) -> None:
    path = tmp_path / "old.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header.encode() + b"\0" * 144)
    with pytest.raises(errors.FormatError):
        subword.init_embeddings(path, MOVED, tmp_path / "new")
    path.write_bytes((2**63 - 1).to_bytes(8, "little") + header.encode())
    with pytest.raises(errors.FormatError):
        subword.init_embeddings(path, MOVED, tmp_path / "new")


@pytest.mark.parametrize(
    ("tensors", "error", "message"),
    [
        ({"wte.weight": matrix(4)}, errors.VocabularyError, "has 5 ids"),
        ({"wte.weight": matrix().astype(np.int32)}, errors.VocabularyError, "dtype I32"),
        ({"wte.weight": matrix() * np.nan}, errors.VocabularyError, "not finite"),
        (
            {"wte.weight": matrix(), "lm_head.weight": matrix(7)},
            errors.VocabularyError,
            "different",
        ),
        ({"x": matrix()}, errors.FormatError, "pass input_name="),
        ({"a.wte.weight": matrix(), "b.wte.weight": matrix()}, errors.FormatError, "a.wte.weight"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(tensors, error, message, tmp_path: Path) -> None:
    source = saved(tmp_path / "old", tensors)
    with pytest.raises(error, match=message):
        subword.init_embeddings(source, MOVED, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("options", [{"method": "guess"}, {"pad_to_multiple": 0}])
def test_arguments_are_checked(options, tmp_path: Path) -> None:
    source = saved(tmp_path / "old", {"wte.weight": matrix()})
    with pytest.raises(errors.ArgumentError):
        subword.init_embeddings(source, MOVED, tmp_path / "new", **options)
    with pytest.raises(errors.ArgumentError, match="is there already"):
        subword.init_embeddings(source, MOVED, source)
