"""The corrective refiner: better models, chosen with care, on any kind of data."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from sgpc_framework.engine.refinement import Refinable
from sgpc_plugins.refiners.corrective.held_out import FEWEST, SKETCH, splits

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.config.config import Config
from sgpc_framework.engine.slopes import FixedSites
from sgpc_framework.errors import ConfigError, InputError, NumericalWarning
from sgpc_framework.parts.hyperparameters import hyperparameters, values
from sgpc_framework.testing import run_checks
from sgpc_plugins.kernels import Constant, SquaredExponential, Sum
from sgpc_plugins.likelihoods import Probit
from sgpc_plugins.refiners import Corrective
from sgpc_plugins.refiners.corrective.choosing import PENALTIES, chosen
from sgpc_plugins.refiners.corrective.relevance_prior import RelevancePrior
from sgpc_plugins.refiners.corrective.search import Search

ARD = {"name": "squared-exponential", "lengthscale": "median-per-feature"}


def nlp(model, X, y):
    own = model.predict_proba(X)[np.arange(len(y)), (y > 0).astype(int)]
    return -np.mean(np.log(own))


def fitted_to(X, y, d=6, kernel=None):
    kernel = kernel or SquaredExponential(lengthscale=2.0)
    sites = FixedSites(X, y, np.arange(d), np.full(d, 0.5), y[:d], 1000)
    return Refinable(sites, kernel, Probit())


@pytest.mark.parametrize(
    "refiner",  # with the defaults it is checked where all built-in parts are
    [
        Corrective(move_basis=False, penalty=0.1),
        Corrective(move_basis=True, penalty=100.0, iterations=3),
    ],
)
def test_conforms(refiner):
    failed = [result for result in run_checks(refiner) if not result.ok]
    assert not failed


@pytest.mark.parametrize("name", ["waveform", "twonorm", "ringnorm"])
def test_is_much_better_than_the_stages_alone(name):
    X, y = getattr(datasets, name)(2600, seed=2)
    options = {"kernel": ARD, "objective": "none", "max_basis": 15}
    plain = sgpc.build(options).fit(X[:600], y[:600])
    refined = sgpc.build(options, refiner="corrective").fit(X[:600], y[:600])
    assert nlp(refined, X[600:], y[600:]) < 0.75 * nlp(plain, X[600:], y[600:])


@pytest.mark.parametrize(("rows", "most"), [(30, 0.85), (120, 0.75)])
def test_does_not_learn_noise_by_heart(rows, most):
    """Labels that nothing predicts. A coin has 0.69; without a penalty it is above 2."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(rows + 1000, 5)), np.sign(rng.normal(size=rows + 1000))
    model = sgpc.build(kernel=ARD, objective="none", refiner="corrective", max_basis=20).fit(
        X[:rows], y[:rows]
    )
    assert nlp(model, X[rows:], y[rows:]) < most


@pytest.mark.parametrize(
    "spoil",
    {
        "one row twice": lambda X: np.repeat(X[:1], len(X), axis=0),
        "few kinds of rows": lambda X: np.round(X / 3.0),
        "a constant feature": lambda X: np.column_stack([X, np.full(len(X), 7.0)]),
        "huge numbers": lambda X: 1e6 * X + 1e8,
        "many features": lambda X: np.tile(X, (1, 10)),
    }.values(),
)
def test_awkward_data(spoil):
    X, y = datasets.waveform(80, seed=3)
    X = spoil(X)
    model = sgpc.build(kernel=ARD, objective="none", refiner="corrective", max_basis=10).fit(X, y)
    assert np.all(np.isfinite(model.predict_proba(X)))
    assert nlp(model, X, y) < 0.75


def test_basis_vectors_stay_unless_they_may_move():
    X, y = datasets.waveform(150, seed=4)
    start = fitted_to(X, y)
    rng = np.random.default_rng
    for refiner in (Corrective(move_basis=False), Corrective()):
        refined = refiner.refine(start, rng(0))
        moved = not np.array_equal(refined.sites.basis_inputs, X[:6])
        assert moved == (refiner.move_basis == "auto")
        assert not np.array_equal(values(refined.kernel), values(start.kernel))
        assert refined.sites.X is start.sites.X
        assert refined.sites.block_rows == start.sites.block_rows


@attrs.frozen
class Bare:
    """A kernel on vectors with nothing but values."""

    name = "bare"

    def __call__(self, X, Z):
        return SquaredExponential(lengthscale=3.0)(X, Z)

    def diag(self, X):
        return np.ones(len(X))


@pytest.mark.parametrize("kernel", [Bare(), Sum(terms=(Bare(), Constant()))])
def test_a_kernel_that_cannot_move_its_inputs(kernel):
    X, y = datasets.waveform(60, seed=4)
    start = fitted_to(X, y, kernel=kernel)
    rng = np.random.default_rng(0)
    with pytest.raises(
        InputError, match=f"move_basis = true wants .* found kernel '{kernel.name}'"
    ):
        Corrective(move_basis=True).refine(start, rng)
    refined = Corrective().refine(start, rng)
    np.testing.assert_array_equal(refined.sites.basis_inputs, X[:6])
    assert Corrective().loss(refined) < Corrective().loss(start)


@attrs.frozen
class Indefinite(Bare):
    """Not a covariance."""

    name = "indefinite"

    def __call__(self, X, Z):
        return 1.0 - np.sum((X[:, None] - Z) ** 2, axis=2)


def test_a_kernel_that_is_none_leaves_the_model_of_the_stages():
    X, y = datasets.waveform(60, seed=4)
    start = fitted_to(X, y, kernel=Indefinite())
    with pytest.warns(NumericalWarning, match="was not refined: .*not positive semidefinite"):
        left = Corrective().refine(start, np.random.default_rng(0))
    assert left.sites is start.sites
    assert "was not refined" in left.notes[0]


def test_options_are_checked():
    for options in (
        {"penalty": 0.0},
        {"penalty": "none"},
        {"caution": 1.5},
        {"caution": -0.1},
        {"move_basis": 1},
        {"iterations": 0},
    ):
        with pytest.raises(ConfigError, match=next(iter(options))):
            Config.from_mapping({"refiner": {"name": "corrective", **options}})
        with pytest.raises((TypeError, ValueError), match=next(iter(options))):
            Corrective(**options)


def test_equal_rows_stay_on_one_side():
    X = np.repeat(np.random.default_rng(0).normal(size=(100, 2)), 3, axis=0)
    for trial, judges in splits(X, np.random.default_rng(1)):
        assert len(np.intersect1d(trial, judges)) == 0
        assert len(trial) + len(judges) == len(X)
        shared = set(map(bytes, X[trial])) & set(map(bytes, X[judges]))
        assert len(shared) <= 2  # the kinds that the two ends of the cut fall into


def test_how_many_rows_try_and_judge():
    def sizes(n):
        X = np.arange(float(n))[:, None]
        return [(len(a), len(b)) for a, b in splits(X, np.random.default_rng(0))]

    assert sizes(FEWEST - 1) == []
    assert sizes(100) == [(80, 20)] * 5
    assert sizes(4000) == [(SKETCH, 3000)]
    assert sizes(50_000) == [(SKETCH, 4 * SKETCH)]
    assert (
        len(list(splits(np.array([f"row {i}" for i in range(40)]), np.random.default_rng(0)))) == 5
    )


def test_prior_lets_lists_move_together():
    kernel = SquaredExponential(variance=1.0, lengthscale=(1.0, 2.0, 3.0))
    prior = RelevancePrior.over(hyperparameters(kernel), width=0.5)
    together, apart = np.array([0.0, 1.0, 1.0, 1.0]), np.array([0.0, 2.0, -1.0, -1.0])
    assert prior(together)[0] == pytest.approx(0.5 * 1.0 / 1.0**2)
    assert prior(apart)[0] == pytest.approx(0.5 * 6.0 / 0.5**2)
    for point in (together, apart, np.array([0.3, -0.2, 0.9, 0.1])):
        numbers = [(prior(point + h)[0] - prior(point - h)[0]) / 2e-6 for h in 1e-6 * np.eye(4)]
        np.testing.assert_allclose(prior(point)[1], numbers, atol=1e-6)
    assert prior.has_lists
    np.testing.assert_allclose(prior.together(np.array([5.0, 1.0, 2.0, 6.0])), [5.0, 3.0, 3.0, 3.0])
    assert not RelevancePrior.over(hyperparameters(SquaredExponential()), width=0.5).has_lists


def relevances(X, y):
    """The lengthscales of a refined model in units of those it started from."""
    model = sgpc.build("accurate", max_basis=8).fit(X, y)
    start = sgpc.build(kernel=ARD, objective="none", max_basis=8).fit(X, y)
    ratios = np.divide(model.kernel.lengthscale, start.kernel.lengthscale)
    return ratios, model.trace.notes[-1]


def test_features_are_kept_alike_where_none_is_special():
    ratios, note = relevances(*datasets.ringnorm(400, seed=100))
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)
    assert "features alike" in note


def test_features_differ_where_some_are_irrelevant():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = np.where(np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=400) > 0.0, 1.0, -1.0)
    ratios, note = relevances(X, y)
    assert np.min(ratios[1:]) > 3.0 * ratios[0]
    assert "features alike" not in note


def around(start, moves=True, caution=0.25):
    return Search.around(start, moves, width=1.0, tolerance=0.3, caution=caution)


def test_noise_earns_no_boldness():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), np.sign(rng.normal(size=200))
    choice = chosen(around(fitted_to(X, y)), rng)
    assert (choice.penalty, choice.search.caution) == (PENALTIES[0], 0.25)


def test_clean_data_earn_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1.0, -1.0)
    choice = chosen(around(fitted_to(X, y)), rng)
    assert (choice.penalty, choice.search.caution) == (pytest.approx(0.25 * np.sqrt(2.0)), 0.0)


def test_caution_that_ends_in_knowing_nothing_is_given_up():
    rng = np.random.default_rng(2)
    X = rng.uniform(-2.0, 2.0, size=(1600, 2))
    waves = np.sin(3.0 * X[:, 0]) + np.sin(2.0 * X[:, 1])
    y = np.where(waves + 0.3 * rng.normal(size=1600) > 0.0, 1.0, -1.0)
    design = sgpc.build(objective="none", refiner="corrective", max_basis=10)
    model = design.fit(X[:600], y[:600])
    assert "caution 0," in model.trace.notes[-1]
    assert nlp(model, X[600:], y[600:]) < 0.5


def test_the_penalty_for_all_rows_is_never_above_one():
    X, y = datasets.twonorm(4000, seed=1)
    assert chosen(around(fitted_to(X, y)), np.random.default_rng(0)).penalty <= 1.0


def test_basis_vectors_stay_near_their_rows(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(120, 4)), np.sign(rng.normal(size=120))

    def way():
        start = fitted_to(X, y)
        end = around(start, caution=0.0).run(start, 0.1, 40)
        return np.sqrt(np.mean((end.sites.basis_inputs - X[:6]) ** 2))

    near = way()
    monkeypatch.setattr("sgpc_plugins.refiners.corrective.search.BASIS_WIDTH", 1e6)
    assert 0.0 < near < 0.8 * way()


def test_too_few_rows_choose_nothing():
    X, y = datasets.twonorm(FEWEST - 1, seed=0)
    search = around(fitted_to(X, y))
    choice = chosen(search, np.random.default_rng(0))
    assert (choice.search, choice.penalty, choice.begin) == (search, 1.0, search.start)


@pytest.mark.parametrize("options", [{}, {"penalty": 0.5}, {"penalty": 2.0, "caution": 1.0}])
def test_never_worse_by_its_own_loss(options):
    refiner = Corrective(**options)
    for seed in range(4):
        X, y = datasets.waveform(60, seed=seed)
        start = fitted_to(X, y)
        assert refiner.loss(refiner.refine(start, np.random.default_rng(0))) < refiner.loss(start)


def test_the_trace_tells_what_was_chosen():
    X, y = datasets.twonorm(120, seed=0)
    model = sgpc.build("accurate", max_basis=4).fit(X, y)
    note = model.trace.notes[-1]
    assert note.startswith("refiner corrective: penalty ")
    assert "basis vectors moved" in note
    assert "NLP over all rows from" in note
