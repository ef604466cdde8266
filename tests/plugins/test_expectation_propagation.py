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

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing import parametrize_with_checks
from sgpc_framework.testing.oracle import dense_moments, dense_posterior
from sgpc_framework.testing.strategies import FittedState, Problem, fitted_states
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
    sites = State(kernel, likelihood, basis, X[basis], precision, mean)
    return FittedState(Problem(X, y), sites, TrainingRows.of(X, y))


def refined(fitted, refiner=PRECISE):
    return refiner.refine(fitted.state, fitted.rows, np.random.default_rng(0), lambda _: True)


def posterior(fitted, state):
    sites = state.precision, state.mean
    return dense_posterior(state.kernel, fitted.problem.X, state.basis, *sites)


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
    fitted = attrs.evolve(fitted, state=attrs.evolve(fitted.state, likelihood=Probit()))
    labels = fitted.problem.y[fitted.state.basis]
    p, m = textbook(fitted.state.gram(), labels, sweeps=40)
    end = refined(fitted).state
    np.testing.assert_allclose(end.precision, p, rtol=1e-8)
    np.testing.assert_allclose(end.mean, m, rtol=1e-8)


def exact_marginal(fitted, state, j):
    """Mean and variance of row j under its likelihood and all other sites, by quadrature."""
    others = np.arange(len(state)) != j
    cavity = dense_posterior(
        state.kernel,
        fitted.problem.X,
        state.basis[others],
        state.precision[others],
        state.mean[others],
        at=state.inputs[[j]],
    )
    log_cdf = {"probit": log_ndtr, "logistic": log_expit}[state.likelihood.name]
    width = np.sqrt(cavity.variance)
    f = cavity.mean + width * np.linspace(-12.0, 12.0, 4001)
    weights = np.exp(-(((f - cavity.mean) / width) ** 2) / 2.0)
    y = fitted.problem.y[state.basis[j]]
    return dense_moments(log_cdf(state.likelihood.slope * y * f), f, weights)[1:]


def test_a_fixed_point_has_the_moments_of_the_exact_posterior(fitted):
    """Neither the likelihood's moments nor the code's linear algebra have a say in this."""
    end = refined(fitted).state
    q = posterior(fitted, end)
    exact = np.array([exact_marginal(fitted, end, j) for j in range(len(end))])
    np.testing.assert_allclose(q.mean[end.basis], exact[:, 0], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(q.variance[end.basis], exact[:, 1], rtol=1e-8)
    assert PRECISE.loss(end, fitted.rows) < 1e-11


def test_the_loss_is_what_its_docstring_says(fitted):
    state = fitted.state
    q = posterior(fitted, state)
    exact = np.array([exact_marginal(fitted, state, j) for j in range(len(state))])
    variance = q.variance[state.basis]
    squares = (exact[:, 0] - q.mean[state.basis]) ** 2 / variance
    squares += np.log(exact[:, 1] / variance) ** 2
    assert PRECISE.loss(state, fitted.rows) == pytest.approx(np.sqrt(squares.mean()), rel=1e-8)


def test_damping_mixes_natural_parameters():
    """One basis vector: its cavity is the prior, whatever its site."""
    X, y = np.zeros((1, 1)), np.ones(1)
    start = state(X, y, [0], SquaredExponential(variance=2.0, lengthscale=1.0), Probit())
    full = refined(start, ExpectationPropagation(sweeps=1)).state
    part = refined(start, ExpectationPropagation(sweeps=1, damping=0.7)).state
    old = start.state
    np.testing.assert_allclose(part.precision, 0.7 * old.precision + 0.3 * full.precision)
    np.testing.assert_allclose(
        part.precision * part.mean,
        0.7 * old.precision * old.mean + 0.3 * full.precision * full.mean,
    )


# ---------------------------------------------------------------------------------------------
# Laws


def states():
    """Any kernel, likelihood and sites on some rows of a small training set."""
    precisions = st.floats(-4.0, 3.0).map(lambda exponent: 10.0**exponent)
    return fitted_states(precisions=precisions, means=st.floats(-20.0, 20.0), max_size=8)


refiners = st.builds(
    ExpectationPropagation,
    sweeps=st.integers(1, 10),
    damping=st.sampled_from([0.0, 0.5, 0.99]),
)


def check_laws(fitted, refiner):
    first, second = refined(fitted, refiner), refined(fitted, refiner)
    start, end, again, rows = fitted.state, first.state, second.state, fitted.rows
    before, after = refiner.loss(start, rows), refiner.loss(end, rows)
    assert after <= before + 1e-9 * (1.0 + before)
    assert np.all(np.isfinite(end.precision))
    assert np.all(np.isfinite(end.mean))
    assert np.all(end.precision > 0.0)
    np.testing.assert_array_equal(end.precision, again.precision)
    np.testing.assert_array_equal(end.mean, again.mean)
    assert first.notes == second.notes
    assert np.isfinite(predictive_loss(end, rows))  # which refuses a negative variance
    assert (end.kernel, end.likelihood) == (start.kernel, start.likelihood)


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
    state = fitted.state
    K = state.gram()
    moving = ActivePosterior(K, state.precision, state.precision * state.mean)
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
    end = refined(start)
    assert end.notes[0].startswith("converged after")
    assert end.notes[1:] == (
        "sites left alone in the last sweep, "
        "whose exact posterior is wider than the cavity: 1",
    )  # fmt: skip
    assert end.state.precision[-1] == pytest.approx(start.state.precision[-1], rel=1e-15)
    assert np.all(end.state.precision[:-1] != start.state.precision[:-1])


def test_a_row_without_a_cavity_is_skipped_and_counted():
    """The linear kernel says that f(0) = 0: two rows have no variance, prior or posterior."""
    X = np.array([[1.0], [0.0], [-2.0], [0.0]])
    end = refined(state(X, np.array([1.0, -1.0, -1.0, 1.0]), range(4), Linear(), Probit()))
    assert end.notes[0].startswith("converged after")
    assert end.notes[1] == "sites left alone in the last sweep, without a proper cavity: 2"


def test_where_all_are_skipped_nothing_has_converged():
    """A label so unlikely before all data that it is taken for a flip."""
    kernel, likelihood = SquaredExponential(1.0, 1.0), NoisyProbit(bias=-10.0)
    start = state(np.zeros((1, 1)), np.ones(1), [0], kernel, likelihood)
    end = refined(start, ExpectationPropagation(sweeps=3))
    assert end.state is start.state
    assert end.notes[0].startswith("not converged after 3 sweeps; sweep 0 is kept")


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
    end = refined(start)
    (note,) = end.notes
    assert note.startswith("failed, and the sites stay: a posterior variance fell")
    assert end.state is start.state


def test_no_basis_no_sweeps():
    X, y = datasets.waveform(10)
    start = state(X, y, [], SquaredExponential(1.0, 1.0), Probit())
    end = refined(start)
    assert end.notes[0].startswith("converged after 0 sweeps")
    assert PRECISE.loss(end.state, start.rows) == 0.0


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
