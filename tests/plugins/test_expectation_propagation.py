"""The refiner ``ep`` against textbook expectation propagation, and its laws on any data."""

from __future__ import annotations

import re
from typing import ClassVar

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_expit, log_ndtr, ndtr
from sgpc_framework.engine.refinement import Refinable

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.engine.slopes import FixedSites
from sgpc_framework.testing import parametrize_with_checks
from sgpc_framework.testing.oracle import dense_moments, dense_posterior
from sgpc_framework.testing.strategies import components, problems
from sgpc_plugins.kernels import Linear, SquaredExponential
from sgpc_plugins.likelihoods import Logistic, NoisyProbit, Probit
from sgpc_plugins.refiners import ExpectationPropagation
from sgpc_plugins.refiners.expectation_propagation.active_posterior import ActivePosterior

PRECISE = ExpectationPropagation(sweeps=200, tolerance=1e-12)


def state(X, y, basis, kernel, likelihood, precision=None, mean=None):
    """A fitted state with given sites, by default weak ones."""
    basis = np.asarray(basis, dtype=np.intp)
    precision = np.full(len(basis), 0.1) if precision is None else precision
    mean = y[basis] if mean is None else mean
    sites = FixedSites(X, y, basis, precision, mean, block_rows=1000)
    return Refinable(sites, kernel, likelihood)


def refined(fitted, refiner=PRECISE):
    return refiner.refine(fitted, np.random.default_rng(0))


@pytest.fixture(params=[Probit(), Logistic(slope=1.5)], ids=lambda likelihood: likelihood.name)
def fitted(request):
    """Fifteen basis vectors on Waveform."""
    X, y = datasets.waveform(120, seed=4)
    kernel = SquaredExponential(variance=4.0, lengthscale=5.0)
    return state(X, y, range(0, 90, 6), kernel, request.param)


@parametrize_with_checks(
    [
        ExpectationPropagation(sweeps=1),
        ExpectationPropagation(damping=0.9),
        ExpectationPropagation(tolerance=1e-12),
    ]
)
def test_other_options_pass_the_checks(check):
    check()


# ---------------------------------------------------------------------------------------------
# Textbook


def textbook(K, y, sweeps):
    """Expectation propagation for Φ(y f), by inverses: Rasmussen and Williams, §3.6."""
    p, h = np.zeros(len(y)), np.zeros(len(y))
    S, mean = K, np.zeros(len(y))
    for _ in range(sweeps):
        for i in range(len(y)):
            cavity_p, cavity_h = 1.0 / S[i, i] - p[i], mean[i] / S[i, i] - h[i]
            m, v = cavity_h / cavity_p, 1.0 / cavity_p
            z = y[i] * m / np.sqrt(1.0 + v)
            ratio = np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi) / ndtr(z)
            exact_mean = m + y[i] * v * ratio / np.sqrt(1.0 + v)
            exact_variance = v - v**2 * ratio * (z + ratio) / (1.0 + v)
            p[i] = 1.0 / exact_variance - cavity_p
            h[i] = exact_mean / exact_variance - cavity_h
            S = np.linalg.inv(np.linalg.inv(K) + np.diag(p))
            mean = S @ h
    return p, h / p


def test_it_ends_where_the_textbook_ends(fitted):
    fitted = attrs.evolve(fitted, likelihood=Probit())
    inputs = fitted.sites.basis_inputs
    labels = fitted.sites.y[fitted.sites.basis]
    p, m = textbook(fitted.kernel(inputs, inputs), labels, sweeps=40)
    found = refined(fitted).sites
    np.testing.assert_allclose(found.precision, p, rtol=1e-8)
    np.testing.assert_allclose(found.mean, m, rtol=1e-8)


def exact_marginal(fitted, j):
    """Mean and variance of row j under its likelihood and all other sites, by quadrature."""
    sites = fitted.sites
    others = np.arange(len(sites.basis)) != j
    cavity = dense_posterior(
        fitted.kernel,
        sites.X,
        sites.basis[others],
        sites.precision[others],
        sites.mean[others],
        at=sites.basis_inputs[[j]],
    )
    log_cdf = {"probit": log_ndtr, "logistic": log_expit}[fitted.likelihood.name]
    width = np.sqrt(cavity.variance)
    f = cavity.mean + width * np.linspace(-12.0, 12.0, 4001)
    weights = np.exp(-(((f - cavity.mean) / width) ** 2) / 2.0)
    y = sites.y[sites.basis[j]]
    return dense_moments(log_cdf(fitted.likelihood.slope * y * f), f, weights)[1:]


def test_a_fixed_point_has_the_moments_of_the_exact_posterior(fitted):
    """Neither the likelihood's moments nor the code's linear algebra have a say in this."""
    found = refined(fitted)
    sites = found.sites
    q = dense_posterior(found.kernel, sites.X, sites.basis, sites.precision, sites.mean)
    exact = np.array([exact_marginal(found, j) for j in range(len(sites.basis))])
    np.testing.assert_allclose(q.mean[sites.basis], exact[:, 0], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(q.variance[sites.basis], exact[:, 1], rtol=1e-8)
    assert PRECISE.loss(found) < 1e-11


def test_the_loss_is_what_its_docstring_says(fitted):
    sites = fitted.sites
    q = dense_posterior(fitted.kernel, sites.X, sites.basis, sites.precision, sites.mean)
    exact = np.array([exact_marginal(fitted, j) for j in range(len(sites.basis))])
    variance = q.variance[sites.basis]
    squares = (exact[:, 0] - q.mean[sites.basis]) ** 2 / variance
    squares += np.log(exact[:, 1] / variance) ** 2
    assert PRECISE.loss(fitted) == pytest.approx(np.sqrt(squares.mean()), rel=1e-8)


def test_damping_mixes_natural_parameters():
    """One basis vector: its cavity is the prior, whatever its site."""
    X, y = np.zeros((1, 1)), np.ones(1)
    start = state(X, y, [0], SquaredExponential(variance=2.0, lengthscale=1.0), Probit())
    full = refined(start, ExpectationPropagation(sweeps=1)).sites
    part = refined(start, ExpectationPropagation(sweeps=1, damping=0.7)).sites
    old = start.sites
    np.testing.assert_allclose(part.precision, 0.7 * old.precision + 0.3 * full.precision)
    np.testing.assert_allclose(
        part.precision * part.mean,
        0.7 * old.precision * old.mean + 0.3 * full.precision * full.mean,
    )


# ---------------------------------------------------------------------------------------------
# Laws


@st.composite
def states(draw):
    """Any kernel, likelihood and sites on some rows of a small training set."""
    problem = draw(problems())
    kernel = draw(components("kernel", features=problem.X.shape[1]))
    rows = st.integers(0, len(problem.y) - 1)
    basis = draw(st.lists(rows, min_size=1, max_size=8, unique=True))
    exponents = draw(st.lists(st.floats(-4.0, 3.0), min_size=len(basis), max_size=len(basis)))
    means = draw(st.lists(st.floats(-20.0, 20.0), min_size=len(basis), max_size=len(basis)))
    precision, likelihood = 10.0 ** np.array(exponents), draw(components("likelihood"))
    return state(problem.X, problem.y, basis, kernel, likelihood, precision, np.array(means))


refiners = st.builds(
    ExpectationPropagation,
    sweeps=st.integers(1, 10),
    damping=st.sampled_from([0.0, 0.5, 0.99]),
)


def check_laws(fitted, refiner):
    first, second = refined(fitted, refiner), refined(fitted, refiner)
    before, after = refiner.loss(fitted), refiner.loss(first)
    assert after <= before + 1e-9 * (1.0 + before)
    assert np.all(np.isfinite(first.sites.precision))
    assert np.all(np.isfinite(first.sites.mean))
    assert np.all(first.sites.precision > 0.0)
    np.testing.assert_array_equal(first.sites.precision, second.sites.precision)
    np.testing.assert_array_equal(first.sites.mean, second.sites.mean)
    assert first.notes == second.notes
    assert np.isfinite(first.predictive_loss())  # which refuses a negative variance
    assert (first.kernel, first.likelihood) == (fitted.kernel, fitted.likelihood)


@given(states(), refiners)
def test_laws_on_any_data(fitted, refiner):
    check_laws(fitted, refiner)


@pytest.mark.parametrize("variance", [1e-4, 1.0, 1e6])
@pytest.mark.parametrize("slope", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("labels", ["one", "both", "odd"])
def test_laws_on_duplicates_with_extreme_labels(variance, slope, labels):
    """Six basis vectors at two places: all of one label, half and half, one against all others."""
    X = np.repeat([[0.0], [1.0]], 4, axis=0)
    y = {"one": np.ones(8), "both": np.tile([-1.0, 1.0], 4), "odd": np.ones(8)}[labels]
    if labels == "odd":
        y[1] = -1.0
    kernel = SquaredExponential(variance=variance, lengthscale=1.0)
    for likelihood in (Probit(slope=slope), Logistic(slope=slope), NoisyProbit(slope=slope)):
        check_laws(state(X, y, [0, 1, 2, 4, 5, 6], kernel, likelihood), ExpectationPropagation())


@settings(max_examples=50)
@given(states(), st.data())
def test_exchanging_sites_equals_starting_afresh(fitted, data):
    sites = fitted.sites
    K = fitted.kernel(sites.basis_inputs, sites.basis_inputs)
    moving = ActivePosterior(K, sites.precision, sites.precision * sites.mean)
    for j in range(len(moving)):
        precision = 10.0 ** data.draw(st.floats(-3.0, 2.0))
        moving.exchange(j, precision, data.draw(st.floats(-10.0, 10.0)))
    afresh = ActivePosterior(K, moving.precision, moving.shift)
    scale = np.diag(K).max() + 1e-300
    np.testing.assert_allclose(moving.covariance, afresh.covariance, atol=1e-8 * scale)
    np.testing.assert_allclose(moving.left, afresh.left, rtol=1e-6)
    height = np.abs(afresh.mean).max() + np.sqrt(scale)
    np.testing.assert_allclose(moving.mean, afresh.mean, atol=1e-6 * height)


# ---------------------------------------------------------------------------------------------
# What the user is told


def test_convergence_is_a_note():
    X, y = datasets.waveform(200, seed=1)
    design = sgpc.build(refiner="ep", max_basis=10, max_iterations=1)
    model = design.fit(X, y)
    (note,) = model.trace.notes
    assert re.fullmatch(
        r"refiner ep: converged after (\d+) sweeps; sweep \1 is kept: loss from 0\.\d+ to "
        r"[\d.]+e-\d+, NLP over all rows from 0\.\d+ to 0\.\d+",
        note,
    )
    hurried = sgpc.build(design.config, refiner=ExpectationPropagation(sweeps=1)).fit(X, y)
    assert "not converged after 1 sweeps" in hurried.trace.notes[-1]


def test_notes_are_kept_in_model_files(tmp_path):
    X, y = datasets.waveform(60, seed=1)
    model = sgpc.build(refiner="ep", max_basis=4, max_iterations=1).fit(X, y)
    model.save(tmp_path / "ep.sgpc")
    assert sgpc.load(tmp_path / "ep.sgpc").trace.notes == model.trace.notes != ()


def test_a_label_taken_for_a_flip_is_skipped_and_counted():
    X = np.linspace(0.0, 0.1, 8)[:, None]
    y = np.append(np.ones(7), -1.0)
    start = state(X, y, range(8), SquaredExponential(9.0, 1.0), NoisyProbit(epsilon=0.05))
    found = refined(start)
    assert found.notes[0].startswith("converged after")
    assert found.notes[1:] == (
        "sites left alone in the last sweep, "
        "whose exact posterior is wider than the cavity: 1",
    )  # fmt: skip
    assert found.sites.precision[-1] == pytest.approx(start.sites.precision[-1], rel=1e-15)
    assert np.all(found.sites.precision[:-1] != start.sites.precision[:-1])


def test_a_row_without_a_cavity_is_skipped_and_counted():
    """The linear kernel says that f(0) = 0: two rows have no variance, prior or posterior."""
    X = np.array([[1.0], [0.0], [-2.0], [0.0]])
    found = refined(state(X, np.array([1.0, -1.0, -1.0, 1.0]), range(4), Linear(), Probit()))
    assert found.notes[0].startswith("converged after")
    assert found.notes[1] == "sites left alone in the last sweep, without a proper cavity: 2"


def test_where_all_are_skipped_nothing_has_converged():
    """A label so unlikely before all data that it is taken for a flip."""
    kernel, likelihood = SquaredExponential(1.0, 1.0), NoisyProbit(bias=-10.0)
    start = state(np.zeros((1, 1)), np.ones(1), [0], kernel, likelihood)
    found = refined(start, ExpectationPropagation(sweeps=3))
    assert found.sites is start.sites
    assert found.notes[0].startswith("not converged after 3 sweeps; sweep 0 is kept")


@attrs.frozen
class Indefinite:
    """No kernel at all: closer to its neighbour than to itself."""

    name: ClassVar[str] = "indefinite"

    def __call__(self, X, Z):
        return np.where(X[:, :1] == Z[:, 0], 1.0, 1.4)

    def diag(self, X):
        return np.ones(len(X))


def test_the_start_survives_algebra_that_fails():
    X, y = np.arange(3.0)[:, None], np.array([1.0, -1.0, 1.0])
    start = state(X, y, range(3), Indefinite(), Probit(slope=30.0))
    found = refined(start)
    (note,) = found.notes
    assert note.startswith("failed, and the sites stay: a posterior variance fell")
    assert found.sites is start.sites


def test_no_basis_no_sweeps():
    X, y = datasets.waveform(10)
    found = refined(state(X, y, [], SquaredExponential(1.0, 1.0), Probit()))
    assert found.notes[0].startswith("converged after 0 sweeps")
    assert PRECISE.loss(found) == 0.0


# ---------------------------------------------------------------------------------------------
# Options


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("sweeps", 0, "sweeps"),
        ("damping", 1.0, "damping"),
        ("damping", -0.1, "damping"),
        ("tolerance", 0.0, "tolerance"),
        ("swweps", 3, "did you mean 'sweeps'"),
    ],
)
def test_wrong_options_are_named(option, value, text):
    with pytest.raises(sgpc.ConfigError, match=text) as caught:
        sgpc.build(refiner={"name": "ep", option: value})
    assert f"refiner.{option}" in str(caught.value)
