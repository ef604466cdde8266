"""Damaged, lying and hostile model files: one error, a clear text, and no memory to speak of."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.archive import write_whole

X, Y = datasets.twonorm(60, seed=4)
QUICK = {"name": "corrective", "penalty": 1.0, "iterations": 5}


@pytest.fixture(scope="module")
def model():
    return sgpc.build(max_basis=5, max_iterations=2).fit(X, np.where(Y > 0, "yes", "no"))


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "model.sgpc")
    return tmp_path / "model.sgpc"


@pytest.fixture(scope="module")
def refined():
    design = sgpc.build(refiner=QUICK, objective="none", max_basis=6, sizes=[2, 4])
    return design.fit(X, Y)


@pytest.fixture
def refined_path(refined, tmp_path):
    refined.save(tmp_path / "refined.sgpc")
    return tmp_path / "refined.sgpc"


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
    write_whole(path, members)


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
        (lambda m, files: m.update(version=2), "newer"),
        (lambda m, files: m.update(format="other"), "not a model file"),
        (lambda m, files: m["models"][0].pop("kernel"), "not describe"),
        (lambda m, files: files.update({"0.mean.npy": b"junk"}), "checksum"),
        (lambda m, files: files.update({"../evil.npy": b""}), "members"),
        (
            lambda m, files: (
                m["models"][0].update(kernel={"name": "unheard-of"}),
                m.update(needs={"some-package": "1.2"}),
            ),
            "some-package 1.2",
        ),
        (lambda m, files: m["classes"].update(labels=["a", "a"]), "two classes"),
        (lambda m, files: m["models"][0]["trace"].update(best=99), "no iteration"),
        (lambda m, files: m.update(version=True), "version"),
        (lambda m, files: m["models"][0].update(inputs="strings"), "model"),
        (lambda m, files: m["models"][0]["trace"].update(best="x"), "not describe"),
    ],
)
def test_a_file_that_says_something_else_is_refused(path, change, text):
    rewritten(path, change)
    with pytest.raises(sgpc.ModelFileError, match=text):
        sgpc.load(path)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda m, files: files.pop("0.2.mean.npy"), "members"),
        (lambda m, files: files.update({"0.3.mean.npy": b""}), "members"),
        (lambda m, files: files.update({"0.2.mean.npy": b"junk"}), "checksum"),
        (lambda m, files: m["sha256"].pop("0.4.inputs.npy"), "checksum"),
        (lambda m, files: m["models"][0].update(smaller=None), "members"),
        (lambda m, files: m["models"][0].update(smaller={}), "list of smaller"),
        (lambda m, files: m["models"][0].update(smaller=[2, 4]), "not describe"),
        (lambda m, files: m["models"][0]["smaller"].reverse(), "ascending"),
        (lambda m, files: m["models"][0]["smaller"][0].update(size=4), "ascending"),
        (lambda m, files: m["models"][0]["smaller"][0].update(size=-2), "ascending"),
        (lambda m, files: m["models"][0]["smaller"][0].update(size=2.0), "ascending"),
        (lambda m, files: m["models"][0]["smaller"][0].update(size="../2"), "ascending"),
        (lambda m, files: m["models"][0]["smaller"][0].pop("kernel"), "not describe"),
        (lambda m, files: m["models"][0]["smaller"][0].update(kernel="unheard-of"), "kernel"),
        (lambda m, files: m["models"][0]["trace"]["sizes"].reverse(), "ascending"),
        (lambda m, files: m["models"][0]["trace"]["sizes"][0].update(size=0), "ascending"),
        (lambda m, files: m["models"][0]["trace"]["sizes"][0].update(noise=1e999), "finite"),
        (lambda m, files: m["models"][0]["trace"]["sizes"][0].update(noise="x"), "not describe"),
    ],
)
def test_a_refined_file_that_says_something_else_is_refused(refined_path, change, text):
    rewritten(refined_path, change)
    with pytest.raises(sgpc.ModelFileError, match=text):
        sgpc.load(refined_path)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("0.2.inputs", np.array([print], dtype=object)),
        ("0.2.inputs", np.full((2, 20), np.inf)),
        ("0.2.inputs", np.ones((2, 19))),
        ("0.2.inputs", np.ones((3, 20))),
        ("0.2.mean", np.ones(3)),
        ("0.2.mean", np.array([1.0, np.nan])),
        ("0.4.precision", -np.ones(4)),
        ("0.4.precision", np.ones((4, 1))),
    ],
)
def test_arrays_that_fit_no_smaller_size_are_refused(refined_path, name, array):
    rewritten(refined_path, smuggled(name, array))
    with pytest.raises(sgpc.ModelFileError):
        sgpc.load(refined_path)


def test_a_whole_moved_below_its_sizes_is_refused(refined_path):
    """Two basis vectors cannot have four as a smaller size."""

    def shrink(manifest, members):
        for name in ("0.mean", "0.precision", "0.inputs"):
            array = np.load(io.BytesIO(members[f"{name}.npy"]))[:3]
            smuggled(name, array)(manifest, members)
        smuggled("0.basis", np.arange(3))(manifest, members)

    rewritten(refined_path, shrink)
    with pytest.raises(sgpc.ModelFileError):
        sgpc.load(refined_path)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("0.inputs", np.array([print], dtype=object)),
        ("0.inputs", np.array(["a"] * 5)),
        ("0.inputs", np.full((5, 20), np.nan)),
        ("0.precision", np.array(1.0)),
        ("0.precision", np.array(["1"] * 5)),
        ("0.precision", -np.ones(5)),
        ("0.mean", np.ones(5, dtype=complex)),
        ("0.mean", np.ones(4)),
        ("0.basis", np.array(3)),
        ("0.basis", np.ones(5)),
        ("0.basis", np.full(5, -1)),
    ],
)
def test_arrays_that_fit_their_checksum_but_no_model_are_refused(path, name, array):
    """Object arrays above all: they are never unpickled."""
    rewritten(path, smuggled(name, array))
    with pytest.raises(sgpc.ModelFileError):
        sgpc.load(path)
