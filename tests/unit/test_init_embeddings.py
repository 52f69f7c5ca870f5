"""Checkpoints for changed tokenizers: rows follow their tokens, new ones are what was asked for."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import subword
from subword import IdMap, errors
from subword.models import Bpe
from subword.templates import Template
from subword.vocabulary import new_rows
from subword.vocabulary.donor import donor_weights, pursue
from subword.vocabulary.safetensors_rows import from_floats, open_tensors, to_floats

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


@pytest.mark.parametrize("n_mixed", [8192, 400])
def test_normal_rows_have_the_old_mean_and_covariance(
    n_mixed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(new_rows, "_MIXED_ROWS", n_mixed)
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
    # Fewer rows to draw from are further from what they stand for.
    share = 0.1 if n_mixed > 500 else 0.25
    assert np.abs(found - wanted).max() < share * np.abs(wanted).max()


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


def donated(tmp_path: Path) -> tuple[subword.Adapted, subword.Tokenizer, np.ndarray, np.ndarray]:
    """An extension, a donor that knows its token, and the input matrices of both."""
    change = subword.extend(subword.train_bpe({"low": 5, "lower": 2}, 258), {"slow": 3}, 1)
    donor = subword.train_bpe({"slow": 9, "lo": 5}, 259)
    assert donor.find_id("slow") == 258
    # Dimensions are fewer than atoms: the donor's row of "slow" is 2 of "a" and -1 of "b".
    theirs = np.random.default_rng(3).normal(size=(259, D)).astype(np.float32)
    theirs[258] = 2 * theirs[ord("a")] - theirs[ord("b")]
    folder = saved(tmp_path / "donor", {"wte.weight": theirs})
    subword.save(donor, folder / "tokenizer.json")
    return change, donor, matrix(258), theirs


def test_a_donor_says_what_new_rows_are_made_of(tmp_path: Path) -> None:
    change, donor, ours, theirs = donated(tmp_path)
    outputs = matrix(258, seed=7)
    source = saved(tmp_path / "old", {"wte.weight": ours, "lm_head.weight": outputs})
    given = subword.Donor(tmp_path / "donor", donor, change.tokenizer, n_atoms=D)
    subword.init_embeddings(source, change.id_map, tmp_path / "new", method="omp", donor=given)
    new = read(tmp_path / "new")
    factors = pursued(theirs, 258, D)
    for name, old in (("wte.weight", ours), ("lm_head.weight", outputs)):
        assert np.array_equal(new[name][:258], old)
        wanted = sum(factor * old[at] for at, factor in factors.items())
        np.testing.assert_allclose(new[name][258], clipped(wanted, old), rtol=1e-3)


def pursued(theirs: np.ndarray, at: int, n_atoms: int) -> dict[int, float]:
    """The pursuit over all bytes and "lo", that is over all tokens in common, written out."""
    target, chosen = theirs[at].astype(float), []
    # The donor's "lo" is its 257, and the old tokenizer's too.
    ids = [*range(256), 257]
    left = target
    while len(chosen) < n_atoms and np.linalg.norm(left) > 1e-6 * np.linalg.norm(target):
        fits = {i: abs(theirs[i] @ left) / np.linalg.norm(theirs[i]) for i in ids}
        chosen.append(max((i for i in ids if i not in chosen), key=fits.__getitem__))
        basis = theirs[chosen].astype(float).T
        factors = np.linalg.lstsq(basis, target, rcond=None)[0]
        left = target - basis @ factors
    ours = {i: i for i in range(256)} | {257: 256}
    return {ours[i]: float(f) for i, f in zip(chosen, factors, strict=True)}


def test_a_sum_of_two_rows_is_found(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    units = np.linalg.qr(generator.normal(size=(40, 40)))[0].astype(np.float32)
    file = tmp_path / "donor.safetensors"
    rows = np.vstack([units[:30], 2 * units[3] - units[8]])
    safetensors_numpy.save_file({"wte.weight": rows}, file)
    letters = {at: bytes([97 + at]) for at in range(30)}
    donor = subword.Tokenizer(Bpe({**letters, 30: b"ab"}, ((0, 1),)))
    changed = subword.Tokenizer(Bpe({**letters, 30: b"ab"}, ((0, 1),)))
    id_map = IdMap(30, 31, {at: at for at in range(30)}, {30: (0, 1)}, {30: (1, 1)})
    found = donor_weights(
        subword.Donor(file, donor, changed), open_tensors(file), "wte.weight", id_map
    )
    assert {at: round(factor, 4) for at, factor in found[30].items()} == {3: 2.0, 8: -1.0}


def test_donors_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    change, donor, ours, _ = donated(tmp_path)
    source = saved(tmp_path / "old", {"wte.weight": ours})

    def init(given: subword.Donor | None, method: str = "omp") -> None:
        subword.init_embeddings(source, change.id_map, tmp_path / "new", method=method, donor=given)

    whole = subword.Donor(tmp_path / "donor", donor, change.tokenizer)
    with pytest.raises(errors.ArgumentError, match="belong together"):
        init(None)
    with pytest.raises(errors.ArgumentError, match="belong together"):
        init(whole, "mean")
    with pytest.raises(errors.ArgumentError, match="n_atoms is 0"):
        init(replace(whole, n_atoms=0))
    with pytest.raises(errors.VocabularyError, match="has 258 ids, but the id map 259"):
        init(replace(whole, tokenizer=subword.train_bpe({"low": 5, "lower": 2}, 258)))
    with pytest.raises(errors.VocabularyError, match="donor's tokenizer has 270 ids"):
        init(replace(whole, donor_tokenizer=subword.train_bpe({"abcdefghijklmnopq": 1}, 270)))
    saved(tmp_path / "x", {"x": ours})
    with pytest.raises(errors.FormatError, match=r"pass Donor\(matrix="):
        init(replace(whole, checkpoint=tmp_path / "x"))
    other = subword.Tokenizer(Bpe({0: b"\xff\xff"}, ()))
    with pytest.raises(errors.VocabularyError, match="no token that the old vocabulary has"):
        init(replace(whole, donor_tokenizer=other))
    assert not (tmp_path / "new").exists()


def test_special_ids_templates_and_tokenizer_files_follow(tmp_path: Path) -> None:
    tok = subword.train_bpe({"low": 5, "lower": 2}, 259).with_special_tokens(["<s>", "</s>"])
    tok = tok.replace(template=Template.parse("<s> A </s>"))
    assert tok.special_tokens == {"<s>": 259, "</s>": 260}
    change = subword.prune(tok, 260, {"low": 1})
    source = saved(
        tmp_path / "old",
        {"wte.weight": matrix(261)},
        bos_token_id=259,
        suppress_tokens=[260, 97],
        forced_decoder_ids=[[1, 259]],
        text_config={"vocab_size": 261, "pad_token_id": 260},
        tie_word_embeddings=True,
    )
    subword.save(tok, source / "tokenizer.json")
    settings = {"added_tokens_decoder": {"259": {"content": "<s>"}}, "eos_token": "</s>"}
    (source / "tokenizer_config.json").write_text(json.dumps(settings))
    (source / "special_tokens_map.json").write_text('{"bos_token": "<s>"}')
    subword.init_embeddings(
        source, change.id_map, tmp_path / "new", tokenizer=change.tokenizer, pad_to_multiple=8
    )
    config = json.loads((tmp_path / "new" / "config.json").read_text())
    assert config == {
        "vocab_size": 264,
        "bos_token_id": 258,
        "suppress_tokens": [259, 97],
        "forced_decoder_ids": [[1, 258]],
        "text_config": {"vocab_size": 264, "pad_token_id": 259},
        "tie_word_embeddings": True,
    }
    settings = json.loads((tmp_path / "new" / "tokenizer_config.json").read_text())
    assert settings["added_tokens_decoder"] == {"258": {"content": "<s>"}}
    assert (tmp_path / "new" / "special_tokens_map.json").is_file()
    after = subword.load(tmp_path / "new" / "tokenizer.json")
    assert after.encode("a", template=True) == [258, 97, 259]
    with pytest.raises(errors.VocabularyError, match="has 261 ids, but the id map 260"):
        subword.init_embeddings(source, change.id_map, tmp_path / "b", tokenizer=tok)
    (source / "tokenizer_config.json").write_text("[]")
    with pytest.raises(errors.FormatError, match="expected a JSON object"):
        subword.init_embeddings(source, change.id_map, tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old"]


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


@pytest.mark.parametrize("seed", range(8))
def test_a_pursuit_fits_all_chosen_anew_each_time(seed: int) -> None:
    """Against orthogonal matching pursuit as it is defined, atoms that repeat among them."""
    rng = np.random.default_rng(seed)
    atoms = rng.normal(size=(40, 24)).astype(np.float32) * rng.uniform(0.1, 9, (40, 1))
    atoms[7], atoms[9] = 2 * atoms[3], 0
    row = atoms[[1, 3, 5]].sum(axis=0) if seed % 2 else rng.normal(size=24)
    atoms, row = atoms.astype(np.float32), row.astype(np.float32)
    chosen: list[int] = []
    left = row.astype(np.float64)
    norms = np.linalg.norm(atoms, axis=1)
    while len(chosen) < 10:
        fits = np.abs(atoms @ left) / np.where(norms > 0, norms, 1)
        fits[chosen] = -1
        if fits.max() <= 1e-6 * np.linalg.norm(row):
            break
        chosen.append(int(fits.argmax()))
        basis = atoms[chosen].astype(np.float64).T
        factors = np.linalg.lstsq(basis, row.astype(np.float64), rcond=None)[0]
        left = row - basis @ factors
    found, weights = pursue(row, atoms, 10)
    fit = weights @ atoms[found].astype(np.float64)
    assert np.linalg.norm(row - fit) == pytest.approx(np.linalg.norm(left), abs=2e-6)
    same = [3 if at == 7 else at for at in chosen]
    assert [3 if at == 7 else at for at in found] == same
