"""The fitted model: labels as given, inputs of any kind, errors that point at the culprit."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.model.classes import class_shares
from sgpc_framework.model.model import Model
from sgpc_framework.parts.hyperparameters import hyperparameter
from sgpc_framework.protocols import Refined

X, Y = datasets.twonorm(80, seed=4)
DESIGN = sgpc.build(max_basis=6, max_iterations=2)


@pytest.mark.parametrize(
    "classes",
    [
        ("no", "yes"),
        (False, True),
        (0, 1),
        (-1, 1),
        (3, 7),
        (0.5, 2.5),
        (np.str_("a"), np.str_("b")),
    ],
)
def test_any_two_labels_come_back_as_given(classes):
    labels = np.array([classes[int(y > 0)] for y in Y])
    model = DESIGN.fit(X, labels)
    assert model.classes.tolist() == list(classes)
    predicted = model.predict(X)
    assert predicted.dtype == labels.dtype
    assert np.mean(predicted == labels) > 0.9
    assert np.all((model.predict_proba(X)[:, 1] > 0.5) == (predicted == classes[1]))


def test_logarithms_of_probabilities_stay_finite_where_probabilities_round():
    model = DESIGN.fit(X, Y)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    likelihood = attrs.evolve(model.likelihood, slope=1e3, bias=100.0)
    steep = Model(model.classes, attrs.evolve(model.state, likelihood=likelihood), model.trace)
    assert np.any(steep.predict_proba(X) == 0.0)
    assert np.all(np.isfinite(steep.predict_log_proba(X)))
    for logs, proba in zip(
        model.staged_predict_log_proba(X), model.staged_predict_proba(X), strict=True
    ):
        np.testing.assert_allclose(np.exp(logs), proba)


def test_a_tie_goes_to_the_first_class():
    model = sgpc.build(kernel="linear", max_basis=2).fit(np.zeros((4, 1)), [0, 1, 0, 1])
    np.testing.assert_array_equal(model.predict_proba([[0.0]]), [[0.5, 0.5]])
    assert model.predict([[0.0]]) == [0]


def test_labels_of_object_dtype_and_columns_are_taken():
    labels = np.array(["spam" if y > 0 else "ham" for y in Y], dtype=object)
    model = DESIGN.fit(X, labels.reshape(-1, 1))
    assert model.classes.tolist() == ["ham", "spam"]
    assert isinstance(model.predict(X[:1])[0], str)


@pytest.mark.parametrize(
    "inputs",
    [X.tolist(), np.asfortranarray(X), X.astype(np.float32), np.rint(X).astype(int), X[::-1][::-1]],
)
def test_inputs_of_any_numeric_kind(inputs):
    assert DESIGN.fit(inputs, Y).predict_proba(inputs).shape == (80, 2)


def test_the_training_data_is_left_alone():
    before, labels = X.copy(), Y.copy()
    X.flags.writeable = False
    try:
        DESIGN.fit(X, Y).predict(X)
    finally:
        X.flags.writeable = True
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(Y, labels)


def nan_at(row, column, value):
    bad = X.copy()
    bad[row, column] = value
    return bad


@pytest.mark.parametrize(
    ("inputs", "labels", "text"),
    [
        (nan_at(3, 7, np.nan), Y, r"nan at row 3, column 7"),
        (nan_at(5, 0, np.inf), Y, r"inf at row 5, column 0"),
        (X[:0], Y[:0], r"at least one row"),
        (X[:, :0], Y, r"at least one row and one column"),
        (X[:, 0], Y, r"reshape\(-1, 1\)"),
        (X[None], Y, r"2 dimensions"),
        (X, np.ones(80), r"at least 2 classes, found \[1.0\] only"),
        (X, X[:, 0], r"80 different fractions in 80 rows"),
        (X, Y[:-1], r"each of the 80 rows, found 79"),
        (X, np.where(Y > 0, np.nan, 1.0), r"missing"),
        (X, np.stack([Y, Y], axis=1), r"one dimension"),
        (np.array([["a", "b"]] * 80), Y, r"numbers"),
        (X.astype(complex), Y, r"real numbers, found complex128"),
        (X.astype("timedelta64[s]"), Y, r"real numbers"),
        (X * 1e60, Y, r"rescale"),
        (np.array([[10**400] * 2] * 80, dtype=object), Y, r"numbers"),
        (np.ma.masked_less(X, 0.0), Y, r"masked"),
        (X, [1, "a"] * 40, r"of one type"),
        (X, np.array([1, "a"] * 40, dtype=object), r"of one type"),
        (np.array(["text"] * 80, dtype=object), Y, r"'?squared-exponential'?"),
    ],
)
def test_bad_training_data_is_refused_with_its_place(inputs, labels, text):
    with pytest.raises(sgpc.InputError, match=text):
        DESIGN.fit(inputs, labels)


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        (X[:, :5], r"20 columns, as in training, found 5"),
        (nan_at(1, 2, np.nan), r"row 1, column 2"),
        (np.array(["a"], dtype=object), r"20 columns"),
    ],
)
def test_bad_inputs_at_prediction_are_refused(inputs, text):
    model = DESIGN.fit(X, Y)
    for call in (model.predict, model.predict_proba, model.predict_latent, model.basis_functions):
        with pytest.raises(sgpc.InputError, match=text):
            call(inputs)


@pytest.mark.parametrize("stages", [0, -1, 7, 1.5, None])
def test_truncation_outside_the_path_is_refused(stages):
    with pytest.raises(sgpc.InputError, match="1 to 6"):
        DESIGN.fit(X, Y).truncated(stages)


QUICK = {"name": "corrective", "penalty": 1.0, "iterations": 5}
REFINED = sgpc.build(refiner=QUICK, objective="none", max_basis=6, sizes=[2, 4])


def test_a_refined_model_has_the_sizes_that_the_refiner_ran_at():
    model = REFINED.fit(X, Y)
    assert model.sizes == (2, 4, 6)
    for size, proba in zip(model.sizes, model.staged_predict_proba(X), strict=True):
        small = model.truncated(size)
        assert len(small) == size
        assert small.sizes == tuple(s for s in model.sizes if s <= size)
        assert small.trace is model.trace
        assert small.smaller == model.smaller[: model.sizes.index(size)]
        np.testing.assert_array_equal(small.predict_proba(X), proba)
    assert [record.size for record in model.trace.sizes] == [2, 4, 6]


@pytest.mark.parametrize("size", [0, 1, 3, 5, 7, 2.0, None])
def test_other_sizes_of_a_refined_model_are_refused_with_the_reason(size):
    with pytest.raises(sgpc.InputError, match=r"in sizes \[2, 4, 6\] only, found") as caught:
        REFINED.fit(X, Y).truncated(size)
    can_be_had = size in (1, 3, 5)
    assert (f"sizes=[..., {size}]" in str(caught.value)) == can_be_had
    assert ("refiner='none'" in str(caught.value)) == can_be_had


def test_without_a_refiner_every_size_is_there():
    plain = sgpc.build(max_basis=6, max_iterations=2, sizes=[2, 4, 9]).fit(X, Y)
    assert plain.sizes == (1, 2, 3, 4, 5, 6)
    assert plain.smaller is None
    assert plain.trace.sizes == ()
    np.testing.assert_array_equal(plain.predict_proba(X), DESIGN.fit(X, Y).predict_proba(X))


def test_sizes_above_the_model_are_left_out_with_a_note():
    model = sgpc.build(REFINED.config, sizes=[2, 4, 6, 7, 90]).fit(X, Y)
    assert model.sizes == (2, 4, 6)
    assert "sizes [7, 90] were left out: there are 6 basis vectors" in model.trace.notes


@attrs.frozen
class Unhelpful:
    """A refiner that copies the sites and changes nothing."""

    name: ClassVar[str] = "unhelpful"

    def loss(self, state, rows):
        return predictive_loss(state, rows)

    def refine(self, state, rows, rng, tell):
        return Refined(attrs.evolve(state, mean=state.mean.copy()), ("nothing to do",))


def test_a_refiner_that_changes_nothing_costs_no_sizes():
    model = sgpc.build(refiner=Unhelpful(), max_basis=5, max_iterations=1, sizes=[3]).fit(X, Y)
    assert model.sizes == (1, 2, 3, 4, 5)
    notes = ("refiner unhelpful at size 3: nothing to do", "refiner unhelpful: nothing to do")
    assert model.trace.notes == notes


def test_predictions_do_not_depend_on_blocks(monkeypatch):
    model = DESIGN.fit(X, Y)
    whole = model.predict_proba(X)
    monkeypatch.setattr("sgpc_framework.model.model.BLOCK_ROWS", 7)
    np.testing.assert_allclose(model.predict_proba(X), whole, atol=1e-13)


@attrs.frozen
class Spectrum:
    """k(s, t) = variance · the normalised number of shared pairs of neighbouring letters."""

    name: ClassVar[str] = "spectrum"
    variance: float = hyperparameter(1.0, bounds=(1e-3, 1e3))

    def __call__(self, X, Z):
        shared = np.array([[self._shared(s, t) for t in Z] for s in X], dtype=float)
        shared = shared.reshape(len(X), len(Z))
        return self.variance * shared / np.sqrt(np.outer(self._norms(X), self._norms(Z)))

    def diag(self, X):
        return np.full(len(X), self.variance)

    def _norms(self, X):
        return np.array([self._shared(s, s) for s in X], dtype=float)

    @staticmethod
    def _shared(s, t):
        pairs = [t[i : i + 2] for i in range(len(t) - 1)]
        return sum(pairs.count(s[i : i + 2]) for i in range(len(s) - 1))


@pytest.mark.parametrize("container", [list, np.array, lambda s: np.array(s, dtype=object)])
def test_a_kernel_on_strings_is_an_ordinary_kernel(container):
    rng = np.random.default_rng(0)
    letters = [["acgt", "aaaacg"][k] for k in (0, 1)]
    words = ["".join(rng.choice(list(letters[i % 2]), 12)) for i in range(60)]
    labels = ["plain" if i % 2 == 0 else "rich" for i in range(60)]
    model = sgpc.build(kernel=Spectrum(), max_basis=8, max_iterations=2).fit(
        container(words), labels
    )
    assert np.mean(model.predict(container(words)) == labels) > 0.8
    assert all(isinstance(word, str) for word in model.inputs)
    assert model.truncated(3).predict_proba(container(words[:2])).shape == (2, 2)


def test_a_model_knows_how_frequent_the_classes_were(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.array(["a"] * 10 + ["b"] * 10 + ["c"] * 20)
    for count, strategy in ((20, "joint"), (40, "joint"), (40, "one-vs-rest")):
        design = sgpc.build(max_basis=2, max_iterations=1, objective="none", strategy=strategy)
        model = design.fit(X[:count], y[:count])
        wanted = [0.5, 0.5] if count == 20 else [0.25, 0.25, 0.5]
        np.testing.assert_allclose(class_shares(model), wanted)
        model.save(tmp_path / "model.sgpc")
        np.testing.assert_allclose(class_shares(sgpc.load(tmp_path / "model.sgpc")), wanted)
    weighted = sgpc.build(max_basis=2, max_iterations=1).fit(
        X[:20], y[:20], sample_weight=[3.0] * 10 + [1.0] * 10
    )
    np.testing.assert_allclose(class_shares(weighted), [0.75, 0.25])
