"""Model files: they predict the same, and no damage goes unnoticed."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.persistence import save
from sgpc_framework.plugin.registry import default_registry

X, Y = datasets.twonorm(60, seed=4)


@pytest.fixture(scope="module")
def model():
    labels = np.where(Y > 0, "yes", "no")
    return sgpc.build(max_basis=5, max_iterations=2).fit(X, labels)


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "model.sgpc")
    return tmp_path / "model.sgpc"


def test_a_loaded_model_is_the_same_to_the_bit(model, path):
    loaded = sgpc.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.basis, model.basis)
    assert (loaded.kernel, loaded.likelihood) == (model.kernel, model.likelihood)
    assert loaded.trace.stages == model.trace.stages
    assert loaded.trace.iterations[-1].hyperparameters == model.trace.iterations[-1].hyperparameters
    assert len(loaded.truncated(2)) == 2


QUICK = {"name": "corrective", "penalty": 1.0, "iterations": 5}
REFINED = sgpc.build(refiner=QUICK, objective="none", max_basis=6, sizes=[2, 4])


@pytest.fixture(scope="module")
def refined():
    return REFINED.fit(X, Y)


@pytest.fixture
def refined_path(refined, tmp_path):
    refined.save(tmp_path / "refined.sgpc")
    return tmp_path / "refined.sgpc"


def test_every_size_of_a_refined_model_is_kept_to_the_bit(refined, refined_path):
    loaded = sgpc.load(refined_path)
    assert loaded.sizes == refined.sizes == (2, 4, 6)
    assert loaded.trace.sizes == refined.trace.sizes
    for size in refined.sizes:
        before, after = refined.truncated(size), loaded.truncated(size)
        np.testing.assert_array_equal(after.predict_proba(X), before.predict_proba(X))
        np.testing.assert_array_equal(after.basis, before.basis)
        assert (after.kernel, after.likelihood) == (before.kernel, before.likelihood)
    with pytest.raises(sgpc.InputError, match=r"\[2, 4, 6\]"):
        loaded.truncated(3)


def test_a_refined_model_of_one_size_stays_one(refined, tmp_path):
    refined.truncated(2).save(tmp_path / "m")
    loaded = sgpc.load(tmp_path / "m")
    assert loaded.sizes == (2,)
    np.testing.assert_array_equal(loaded.predict_proba(X), refined.truncated(2).predict_proba(X))


def test_what_auto_tried_is_kept(tmp_path):
    model = sgpc.build(max_basis="auto", max_iterations=1).fit(X, Y)
    model.save(tmp_path / "m")
    assert sgpc.load(tmp_path / "m").trace.sizes == model.trace.sizes != ()


def test_a_file_from_before_there_were_sizes_loads(model, path):
    def forget(manifest, members):
        del manifest["smaller"], manifest["trace"]["sizes"]

    rewritten(path, forget)
    assert sgpc.load(path).sizes == model.sizes


KERNELS = [name for name in default_registry().names("kernel") if name not in ("sum", "product")]


@pytest.mark.parametrize("kernel", [*KERNELS, {"name": "sum", "terms": ["linear", "matern-32"]}])
@pytest.mark.parametrize("likelihood", default_registry().names("likelihood"))
def test_every_part_survives(kernel, likelihood, tmp_path):
    fitted = sgpc.build(kernel=kernel, likelihood=likelihood, max_basis=3, max_iterations=1).fit(
        X, Y
    )
    fitted.save(tmp_path / "m")
    np.testing.assert_array_equal(
        sgpc.load(tmp_path / "m").predict_proba(X), fitted.predict_proba(X)
    )


def test_the_file_is_a_zip_of_plain_arrays(path):
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert all(entry.compress_type == zipfile.ZIP_STORED for entry in archive.infolist())
    assert manifest["kernel"]["name"] == "squared-exponential"
    assert manifest["distributions"] == {"sgpc-framework": sgpc.__version__}
    assert set(np.load(path).files) > {"inputs", "precision"}


def test_no_flipped_bit_goes_unnoticed(model, path):
    """Every flip is an error or (in the zip's own padding and dates) changes nothing."""
    data = path.read_bytes()
    expected = model.predict_proba(X)
    rng = np.random.default_rng(0)
    refused = 0
    for position in rng.choice(len(data), 150, replace=False).tolist():
        damaged = bytearray(data)
        damaged[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            np.testing.assert_array_equal(sgpc.load(path).predict_proba(X), expected)
        except sgpc.ModelFileError:
            refused += 1
    assert refused > 100


@pytest.mark.parametrize("kept", [0, 1, 100, 0.5, 0.99])
def test_a_truncated_file_is_refused(path, kept):
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data)) if kept < 1 else kept])
    with pytest.raises(sgpc.ModelFileError, match=str(path.name)):
        sgpc.load(path)


def rewritten(path, change):
    """The file with its manifest changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(manifest, members)
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def smuggled(name, array):
    """A change that puts an array with its checksum into a file."""

    def smuggle(manifest, members):
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=True)
        members[f"{name}.npy"] = buffer.getvalue()
        manifest["sha256"][f"{name}.npy"] = hashlib.sha256(buffer.getvalue()).hexdigest()

    return smuggle


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda manifest, members: manifest.update(version=2), "newer"),
        (lambda manifest, members: manifest.update(format="other"), "not a model file"),
        (lambda manifest, members: manifest.pop("kernel"), "not describe"),
        (lambda manifest, members: members.update({"mean.npy": b"junk"}), "checksum"),
        (lambda manifest, members: members.update({"../evil.npy": b""}), "members"),
        (
            lambda manifest, members: manifest.update(
                kernel={"name": "unheard-of"}, distributions={"some-package": "1.2"}
            ),
            "some-package 1.2",
        ),
        (lambda manifest, members: manifest["classes"].update(labels=["a", "a"]), "two classes"),
        (lambda manifest, members: manifest["trace"].update(best=99), "no iteration"),
        (lambda manifest, members: manifest.update(version=True), "version"),
        (lambda manifest, members: manifest.update(inputs="strings"), "model"),
        (lambda manifest, members: manifest["trace"].update(best="x"), "not describe"),
    ],
)
def test_a_file_that_says_something_else_is_refused(path, change, text):
    rewritten(path, change)
    with pytest.raises(sgpc.ModelFileError, match=text):
        sgpc.load(path)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda manifest, members: members.pop("2.mean.npy"), "members"),
        (lambda manifest, members: members.update({"3.mean.npy": b""}), "members"),
        (lambda manifest, members: members.update({"2.mean.npy": b"junk"}), "checksum"),
        (lambda manifest, members: manifest["sha256"].pop("4.inputs.npy"), "checksum"),
        (lambda manifest, members: manifest.update(smaller=None), "members"),
        (lambda manifest, members: manifest.update(smaller={}), "list of smaller"),
        (lambda manifest, members: manifest.update(smaller=[2, 4]), "not describe"),
        (lambda manifest, members: manifest["smaller"].reverse(), "ascending"),
        (lambda manifest, members: manifest["smaller"][0].update(size=4), "ascending"),
        (lambda manifest, members: manifest["smaller"][0].update(size=-2), "ascending"),
        (lambda manifest, members: manifest["smaller"][0].update(size=2.0), "ascending"),
        (lambda manifest, members: manifest["smaller"][0].update(size="../2"), "ascending"),
        (lambda manifest, members: manifest["smaller"][0].pop("kernel"), "not describe"),
        (lambda manifest, members: manifest["smaller"][0].update(kernel="unheard-of"), "kernel"),
        (lambda manifest, members: manifest["trace"]["sizes"].reverse(), "ascending"),
        (lambda manifest, members: manifest["trace"]["sizes"][0].update(size=0), "ascending"),
        (lambda manifest, members: manifest["trace"]["sizes"][0].update(noise=1e999), "finite"),
        (lambda manifest, members: manifest["trace"]["sizes"][0].update(noise="x"), "not describe"),
    ],
)
def test_a_refined_file_that_says_something_else_is_refused(refined_path, change, text):
    rewritten(refined_path, change)
    with pytest.raises(sgpc.ModelFileError, match=text):
        sgpc.load(refined_path)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("2.inputs", np.array([print], dtype=object)),
        ("2.inputs", np.full((2, 20), np.inf)),
        ("2.inputs", np.ones((2, 19))),
        ("2.inputs", np.ones((3, 20))),
        ("2.mean", np.ones(3)),
        ("2.mean", np.array([1.0, np.nan])),
        ("4.precision", -np.ones(4)),
        ("4.precision", np.ones((4, 1))),
    ],
)
def test_arrays_that_fit_no_smaller_size_are_refused(refined_path, name, array):
    rewritten(refined_path, smuggled(name, array))
    with pytest.raises(sgpc.ModelFileError):
        sgpc.load(refined_path)


def test_a_whole_moved_below_its_sizes_is_refused(refined_path):
    """Two basis vectors cannot have four as a smaller size."""

    def shrink(manifest, members):
        for name in ("mean", "precision", "inputs"):
            array = np.load(io.BytesIO(members[f"{name}.npy"]))[:3]
            smuggled(name, array)(manifest, members)
        smuggled("basis", np.arange(3))(manifest, members)

    rewritten(refined_path, shrink)
    with pytest.raises(sgpc.ModelFileError):
        sgpc.load(refined_path)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("inputs", np.array([print], dtype=object)),
        ("inputs", np.array(["a"] * 5)),
        ("inputs", np.full((5, 20), np.nan)),
        ("precision", np.array(1.0)),
        ("precision", np.array(["1"] * 5)),
        ("precision", -np.ones(5)),
        ("mean", np.ones(5, dtype=complex)),
        ("mean", np.ones(4)),
        ("basis", np.array(3)),
        ("basis", np.ones(5)),
        ("basis", np.full(5, -1)),
    ],
)
def test_arrays_that_fit_their_checksum_but_no_model_are_refused(path, name, array):
    """Object arrays above all: they are never unpickled."""
    rewritten(path, smuggled(name, array))
    with pytest.raises(sgpc.ModelFileError):
        sgpc.load(path)


@pytest.mark.parametrize("labels", [["a", "b"], [False, True], [1, 2], [0.5, 1.5]])
@pytest.mark.parametrize("dtype", [None, object])
def test_labels_keep_their_type(labels, dtype, tmp_path):
    given = np.array([labels[int(y > 0)] for y in Y], dtype=dtype)
    sgpc.build(max_basis=3, max_iterations=1).fit(X, given).save(tmp_path / "m")
    classes = sgpc.load(tmp_path / "m").classes
    assert classes.dtype == given.dtype
    assert [type(label) for label in classes.tolist()] == [type(label) for label in labels]
    assert classes.tolist() == labels


@attrs.frozen
class Mine:
    """A kernel on strings: how many letters are equal, place by place."""

    name: ClassVar[str] = "mine"

    def __call__(self, X, Z):
        return np.array([[sum(map(str.__eq__, s, t)) for t in Z] for s in X], float).reshape(
            len(X), len(Z)
        )

    def diag(self, X):
        return np.array([float(len(s)) for s in X])


def test_a_part_that_no_file_could_name_is_refused_when_saving(tmp_path):
    words = ["aab", "abb", "bbb", "bab\0"]
    nested = {"name": "sum", "terms": [Mine(), "constant"]}
    model = sgpc.build(kernel=nested, max_basis=3, max_iterations=1).fit(words, [0, 0, 1, 1])
    with pytest.raises(sgpc.ModelFileError, match=r"kernel\.terms\[0\]"):
        model.save(tmp_path / "m")
    registry = default_registry().extended(Mine)
    model.save(tmp_path / "m", registry)
    loaded = sgpc.load(tmp_path / "m", registry)
    assert loaded.inputs.tolist() == model.inputs.tolist()
    np.testing.assert_array_equal(loaded.predict_proba(words), model.predict_proba(words))
    with pytest.raises(sgpc.ModelFileError, match="mine"):
        sgpc.load(tmp_path / "m")


def test_a_missing_file_and_a_missing_folder_are_named(model, tmp_path):
    with pytest.raises(sgpc.ModelFileError, match="no such file"):
        sgpc.load(tmp_path / "absent.sgpc")
    with pytest.raises(sgpc.ModelFileError, match="cannot be written"):
        model.save(tmp_path / "absent" / "model.sgpc")


def test_a_failed_save_leaves_the_old_file(model, path):
    before = path.read_bytes()

    @attrs.frozen
    class Private:
        name: ClassVar[str] = "private"

    with pytest.raises(sgpc.ModelFileError, match="Private"):
        save(attrs.evolve(model, kernel=Private()), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_saved_file_is_as_readable_as_any_other(path, tmp_path):
    (tmp_path / "other").write_text("")
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode
