"""Model files: they predict the same, and no damage goes unnoticed."""

from __future__ import annotations

import json
import zipfile
from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.files.model_files import read, save
from sgpc_framework.plugin.kinds import KINDS
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
    assert manifest["models"][0]["kernel"]["name"] == "squared-exponential"
    assert manifest["needs"] == {"sgpc-framework": sgpc.__version__}
    assert set(np.load(path).files) > {"0.inputs", "0.precision"}


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

        def __call__(self, X, Z):
            return model.kernel(X, Z)

        def diag(self, X):
            return model.kernel.diag(X)

    state = attrs.evolve(model.state, kernel=Private())
    with pytest.raises(sgpc.ModelFileError, match="Private"):
        save(attrs.evolve(model, state=state), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_saved_file_is_as_readable_as_any_other(path, tmp_path):
    (tmp_path / "other").write_text("")
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


CODES = np.arange(60) % 3
MANY = X + 3.0 * CODES[:, None]


@pytest.mark.parametrize("labels", [["c", "a", "b"], [7, -1, 3], [0.5, 1.5, 2.5]])
@pytest.mark.parametrize("refiner", ["none", QUICK])
@pytest.mark.parametrize("strategy", ["joint", "one-vs-rest"])
def test_many_classes_are_kept_to_the_bit(labels, refiner, strategy, tmp_path):
    parts = {"refiner": refiner, "objective": "none", "strategy": strategy}
    design = sgpc.build(parts, max_basis=4, sizes=[2])
    before = design.fit(MANY, np.array(labels)[CODES])
    before.save(tmp_path / "m")
    after = sgpc.load(tmp_path / "m")
    assert type(after) is (sgpc.OneVsRest if strategy == "one-vs-rest" else sgpc.Model)
    assert after.classes.tolist() == before.classes.tolist()
    assert after.sizes == before.sizes
    for old, new in zip(
        before.staged_predict_proba(MANY), after.staged_predict_proba(MANY), strict=True
    ):
        np.testing.assert_array_equal(new, old)
    if strategy == "joint":
        assert after.trace.stages == before.trace.stages
        np.testing.assert_array_equal(after.sites.mean, before.sites.mean)
    else:
        assert [one.trace.stages for one in after.models] == [o.trace.stages for o in before.models]
        assert after.odds_share == before.odds_share


def test_a_file_says_how_the_model_was_made(model, path):
    again = sgpc.load(path)
    assert again.provenance == model.provenance
    assert sgpc.build(again.provenance.config) == sgpc.build(max_basis=5, max_iterations=2)
    slots = {part.slot: part for part in again.provenance.parts}
    assert slots.keys() == {*KINDS}
    assert slots["selector"].name == "adaptive-sampling"
    assert {part.distribution for part in slots.values()} == {"sgpc-framework"}
    assert {part.version for part in slots.values()} == {sgpc.__version__}


class Homemade:
    """A selector that no file could name: not even an attrs class."""

    name = "homemade"

    def propose(self, posterior, rng):
        return posterior.argmin(lambda rows: np.abs(rows.mean) - np.sqrt(rows.variance))


@attrs.frozen
class Endless:
    """One with an option that JSON has no word for."""

    name: ClassVar[str] = "endless"
    limit: float = np.inf

    def propose(self, posterior, rng):
        return Homemade().propose(posterior, rng)


@pytest.mark.parametrize("selector", [Homemade(), Endless()])
def test_a_part_that_predictions_do_not_need_may_be_anybody(selector, tmp_path):
    made = sgpc.build(selector=selector, max_basis=3, max_iterations=1).fit(X, Y)
    made.save(tmp_path / "m")
    again = sgpc.load(tmp_path / "m")
    cls = type(selector)
    assert again.provenance.config["selector"] == {
        "name": selector.name,
        "class": f"{cls.__module__}.{cls.__qualname__}",
    }
    assert "selector" not in {part.slot for part in again.provenance.parts}
    with pytest.raises(sgpc.ConfigError, match=selector.name):
        sgpc.build(again.provenance.config)
    again.save(tmp_path / "twice")
    assert (tmp_path / "twice").read_bytes() == (tmp_path / "m").read_bytes()


def test_a_model_without_a_history_can_be_stored(model, tmp_path):
    attrs.evolve(model, provenance=None).save(tmp_path / "m")
    assert sgpc.load(tmp_path / "m").provenance is None


TABLE = {"columns": ["age", "colour"], "mean": [40.5, None], "nested": {"red": [1, 0.25, True]}}


def test_a_file_may_say_how_a_table_becomes_inputs(model, tmp_path):
    save(model, tmp_path / "m", table=TABLE)
    again, table = read(tmp_path / "m")
    assert table == TABLE
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    model.save(tmp_path / "m")
    assert read(tmp_path / "m").table is None


@pytest.mark.parametrize("table", [{"a": {1, 2}}, {"a": np.nan}, {"a": (1, 2)}, {1: 2}])
def test_a_table_that_would_come_back_as_something_else_is_refused(model, tmp_path, table):
    with pytest.raises(sgpc.ModelFileError, match="section on tables"):
        save(model, tmp_path / "m", table=table)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("labels", [np.array([b"a", b"b"]), np.array(["2001", "2002"], "M8[Y]")])
def test_labels_that_no_file_can_hold_are_refused(labels, tmp_path):
    model = sgpc.build(max_basis=2, max_iterations=1).fit(X, labels[(Y > 0).astype(int)])
    with pytest.raises(sgpc.ModelFileError, match="numbers or strings"):
        model.save(tmp_path / "m")


def test_a_label_that_is_not_finite_is_refused(tmp_path):
    """A fit would have refused it, so the model is made by hand."""
    model = sgpc.build(max_basis=2, max_iterations=1).fit(X, Y)
    model = attrs.evolve(model, classes=np.array([0.0, np.inf]))
    with pytest.raises(sgpc.ModelFileError, match="finite"):
        model.save(tmp_path / "m")
