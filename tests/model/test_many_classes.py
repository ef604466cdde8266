"""More than two classes: one model a class, and together they act as one."""

from __future__ import annotations

import sys
from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.model.model import Model

RNG = np.random.default_rng(0)
CODES = np.arange(90) % 3
CENTRES = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
X = CENTRES[CODES] + RNG.normal(size=(90, 2))
NAMES = np.array(["fox", "owl", "bee"])[CODES]
DESIGN = sgpc.build(strategy="one-vs-rest", max_basis=6, max_iterations=2)
QUICK = {"name": "corrective", "penalty": 1.0, "iterations": 5}


@pytest.fixture(scope="module")
def model():
    return DESIGN.fit(X, NAMES)


def test_three_labels_make_three_models(model):
    assert isinstance(model, sgpc.OneVsRest)
    assert model.classes.tolist() == ["bee", "fox", "owl"]
    assert [one.classes.tolist() for one in model.models] == [[False, True]] * 3
    assert len(model) == 6
    assert model.sizes == (1, 2, 3, 4, 5, 6)
    assert repr(model) == "OneVsRest(6 + 6 + 6 basis vectors, classes ['bee', 'fox', 'owl'])"
    assert np.mean(model.predict(X) == NAMES) > 0.9


def test_two_labels_make_a_model():
    assert isinstance(DESIGN.fit(X, CODES == 1), sgpc.Model)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_probabilities_are_those_of_each_class_normalised(model, share):
    """Or their odds, or something in between."""
    model = attrs.evolve(model, odds_share=share)
    own = np.stack([one.predict_proba(X)[:, 1] for one in model.models], axis=1)
    own = own / (1.0 - own) ** share
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba, own / own.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes[proba.argmax(axis=1)], model.predict(X))
    mean, variance = model.predict_latent(X)
    assert mean.shape == variance.shape == (90, 3)


def test_each_class_is_fitted_as_it_would_be_alone(model):
    alone = DESIGN.fit(X, NAMES == "fox")
    np.testing.assert_array_equal(alone.predict_proba(X), model.models[1].predict_proba(X))


@pytest.mark.parametrize(
    "labels",
    [
        CODES,
        CODES - 7,
        CODES.astype(np.uint8),
        CODES + 0.5,
        NAMES.astype(object),
        NAMES.tolist(),
        NAMES.reshape(-1, 1),
    ],
)
def test_labels_come_back_as_they_were_given(labels):
    found = sgpc.build(DESIGN.config, max_basis=3, max_iterations=1).fit(X, labels)
    assert found.classes.tolist() == sorted({*np.ravel(labels).tolist()})
    assert found.predict(X).dtype == np.asarray(labels).dtype


def with_state(model, **changes):
    return Model(model.classes, attrs.evolve(model.state, **changes), model.trace)


def test_no_underflow_makes_a_probability_nan(model):
    sure = [
        with_state(one, likelihood=attrs.evolve(one.likelihood, slope=1e3, bias=-100.0))
        for one in model.models
    ]
    unlikely = attrs.evolve(model, models=tuple(sure))
    own = np.stack([one.predict_proba(X)[:, 1] for one in sure], axis=1)
    assert np.any(own.sum(axis=1) == 0.0)
    np.testing.assert_allclose(unlikely.predict_proba(X).sum(axis=1), 1.0)
    for proba in unlikely.staged_predict_proba(X):
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def check_sizes(model, sizes):
    """What ``sizes``, ``truncated`` and ``staged_predict_proba`` say agrees."""
    assert model.sizes == sizes
    for size, proba in zip(sizes, model.staged_predict_proba(X), strict=True):
        small = model.truncated(size)
        assert [len(one) for one in small.models] == [min(size, len(m)) for m in model.models]
        assert len(small) == size
        np.testing.assert_allclose(small.predict_proba(X), proba, atol=1e-12)
    for size in {*range(-1, 9), None, 2.0} - {*sizes}:
        with pytest.raises(sgpc.InputError, match="can be had in sizes"):
            model.truncated(size)


def test_every_size_can_be_had(model):
    check_sizes(model, (1, 2, 3, 4, 5, 6))


def test_a_class_that_ended_early_keeps_what_it_has(model):
    first, second, third = model.models
    mixed = attrs.evolve(model, models=(first, second.truncated(2), third.truncated(4)))
    check_sizes(mixed, (1, 2, 3, 4, 5, 6))
    assert repr(mixed).startswith("OneVsRest(6 + 2 + 4 basis vectors")


def test_a_class_without_any_basis_vector_keeps_its_prior(model):
    first, second, third = model.models
    empty = Model(first.classes, first.state[:0], first.trace)
    check_sizes(attrs.evolve(model, models=(empty, second, third)), (1, 2, 3, 4, 5, 6))
    assert attrs.evolve(model, models=(empty, empty, empty)).sizes == ()


def test_refined_classes_share_the_sizes_that_all_of_them_have():
    refining = {"refiner": QUICK, "objective": "none", "sizes": [2, 4]}
    refined = sgpc.build(DESIGN.config, **refining).fit(X, NAMES)
    check_sizes(refined, (2, 4, 6))
    first, second, third = refined.models
    check_sizes(attrs.evolve(refined, models=(first, second.truncated(4), third)), (2, 4, 6))
    only_four = attrs.evolve(second.truncated(4), smaller=())
    check_sizes(attrs.evolve(refined, models=(first, only_four, third)), (4, 6))


@attrs.frozen
class CountsStarts:
    """A kernel that remembers how often and from how many rows it was started."""

    name: ClassVar[str] = "counts-starts"
    starts: tuple[int, ...] = ()

    def __call__(self, A, B):
        return 1.0 + A @ B.T

    def diag(self, A):
        return 1.0 + np.einsum("ij,ij->i", A, A)

    def started(self, A):
        return attrs.evolve(self, starts=(*self.starts, len(A)))


def test_the_start_is_shared_and_comes_from_all_rows():
    parts = {"kernel": CountsStarts(), "objective": "none"}
    found = sgpc.build(DESIGN.config, **parts, max_basis="auto").fit(X, CODES)
    assert {one.kernel.starts[0] for one in found.models} == {90}


def test_progress_says_which_class_it_is_at():
    seen = []
    sgpc.build(DESIGN.config, max_basis=4, max_iterations=1).fit(X, NAMES, progress=seen.append)
    assert [(at.model, at.models, at.basis) for at in seen] == [
        (model, 6, basis) for model in range(1, 7) for basis in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_jobs_change_nothing_but_the_time(model, n_jobs):
    seen = []
    found = DESIGN.fit(X, NAMES, n_jobs=n_jobs, progress=seen.append)
    np.testing.assert_array_equal(found.predict_proba(X), model.predict_proba(X))
    assert [(at.model, at.models, at.basis) for at in seen] == [
        (model, 6, 6) for model in range(1, 7)
    ]
    assert found.odds_share == model.odds_share


def test_jobs_without_joblib_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(ImportError, match="pip install joblib"):
        DESIGN.fit(X, NAMES, n_jobs=2)
    DESIGN.fit(X, NAMES)


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_a_fit_can_start_where_another_ended(model, n_jobs):
    """Each class at its own hyperparameters; one that is new at the common start."""
    labels = np.where(CODES == 2, "cat", NAMES)
    found = DESIGN.fit(X, labels, start=model, n_jobs=n_jobs)
    cold = DESIGN.fit(X, labels)
    begun = {
        label: one.trace.iterations[0].hyperparameters
        for label, one in zip(found.classes.tolist(), found.models, strict=True)
    }
    earlier = dict(zip(model.classes.tolist(), model.models, strict=True))
    for label in ("fox", "owl"):
        assert begun[label]["kernel.lengthscale"] == earlier[label].kernel.lengthscale
        assert begun[label]["likelihood.bias"] == earlier[label].likelihood.bias
    assert begun["cat"] == cold.models[0].trace.iterations[0].hyperparameters


def test_a_start_from_another_kernel_is_none(model):
    other = sgpc.build(DESIGN.config, kernel="matern-32", max_basis=3).fit(X, NAMES)
    found = DESIGN.fit(X, NAMES, start=other)
    np.testing.assert_array_equal(found.predict_proba(X), model.predict_proba(X))


def test_two_classes_start_where_two_ended():
    first = DESIGN.fit(X, CODES == 1)
    second = DESIGN.fit(X, CODES == 1, start=first)
    begun = second.trace.iterations[0].hyperparameters
    assert begun["kernel.lengthscale"] == first.kernel.lengthscale


def test_held_out_rows_choose_the_share_of_the_odds():
    """Where classes are far apart odds are right; where labels are noise, probabilities are."""
    rng = np.random.default_rng(5)
    design = sgpc.build(DESIGN.config, objective="none")
    apart = design.fit(CENTRES[CODES] * 2.0 + rng.normal(size=(90, 2)), CODES)
    assert apart.odds_share > 0.0
    noise = design.fit(rng.normal(size=(90, 2)), rng.integers(0, 3, size=90))
    assert noise.odds_share == 0.0


def test_rows_choose_it_by_their_weights():
    rng = np.random.default_rng(5)
    clear = CENTRES[CODES] * 2.0 + rng.normal(size=(90, 2))
    noisy = rng.normal(size=(90, 2)) + 40.0
    inputs, labels = np.vstack([clear, noisy]), np.append(CODES, rng.integers(0, 3, size=90))
    design = sgpc.build(DESIGN.config, objective="none")
    first, heavy = np.arange(180) < 90, 100.0
    shares = [
        design.fit(inputs, labels, sample_weight=np.where(which, heavy, 1.0)).odds_share
        for which in (first, ~first)
    ]
    assert shares[0] > 0.0
    assert shares[1] == 0.0


def test_few_rows_choose_nothing():
    few = sgpc.build(DESIGN.config, max_basis=3, max_iterations=1).fit(X[:15], CODES[:15])
    assert few.odds_share == 0.0
