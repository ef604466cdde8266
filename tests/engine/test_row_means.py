"""Means over rows: which rows count, and by how much, judged by dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgpc_framework.engine.slopes import RowMean, mean_over_rows, predictive_loss
from sgpc_framework.engine.trial import Trial
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.oracle import dense_posterior
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import Probit
from sgpc_plugins.objectives import Nlp, PredictiveLoss

KERNEL, LIKELIHOOD = SquaredExponential(variance=2.0, lengthscale=1.5), Probit(1.2, 0.3)


@st.composite
def basis_of_rows(draw):
    """Rows, some of which are basis vectors with sites; with weights or without."""
    n = draw(st.integers(3, 15))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X, y = rng.standard_normal((n, 2)), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    weight = rng.gamma(2.0, size=n) if draw(st.booleans()) else None
    basis = rng.permutation(n)[: draw(st.integers(0, n))]
    precision, mean = rng.gamma(2.0, size=len(basis)), rng.standard_normal(len(basis))
    rows = TrainingRows.of(X, y, draw(st.sampled_from([2, 1000])), weight=weight)
    dense = dense_posterior(KERNEL, X, basis, precision, mean)
    log_z = LIKELIHOOD.log_z(y, dense.mean, dense.variance)
    state = State(KERNEL, LIKELIHOOD, basis, X[basis], precision, mean)
    return state, rows, log_z, np.ones(n) if weight is None else weight


@given(basis_of_rows())
def test_nlp_is_over_the_rows_outside_the_basis_if_they_are_two_thirds(drawn):
    """Of n rows, d of them basis vectors: 3 (n - d) >= 2 n, and otherwise all rows count."""
    state, rows, log_z, weight = drawn
    outside = np.ones(len(rows), dtype=bool)
    outside[state.basis] = False
    enough = 3 * np.count_nonzero(outside) >= 2 * len(rows)
    judges = outside if enough else np.ones(len(rows), dtype=bool)
    loss = Nlp().loss(Trial(state, rows, state))
    assert loss.value == pytest.approx(-np.average(log_z[judges], weights=weight[judges]))
    assert loss.rows == pytest.approx(weight[judges].sum())
    assert (loss.remark != "") == (not enough)


@pytest.mark.parametrize(
    ("rows", "basis", "all_of_them"), [(9, 3, False), (9, 4, True), (8, 2, False), (8, 3, True)]
)
def test_the_rule_where_it_turns(rows, basis, all_of_them):
    X, y = np.arange(float(rows))[:, None], np.resize([-1.0, 1.0], rows)
    sites = np.ones(basis)
    state = State(KERNEL, LIKELIHOOD, np.arange(basis), X[:basis], sites, sites)
    given_rows = TrainingRows.of(X, y)
    assert RowMean(None, "inactive").counts_all(state, given_rows) is all_of_them
    assert RowMean(None, "all").counts_all(state, given_rows)
    moved = State(KERNEL, LIKELIHOOD, np.full(basis, -1), X[:basis], sites, sites)
    assert not RowMean(None, "inactive").counts_all(moved, given_rows)  # none of them is a row
    assert RowMean(None, "inactive").total_weight(moved, given_rows) == rows


@given(basis_of_rows())
def test_means_over_all_rows(drawn):
    state, rows, log_z, weight = drawn
    wanted = -np.average(log_z, weights=weight)
    assert predictive_loss(state, rows) == pytest.approx(wanted)
    assert PredictiveLoss().loss(Trial(state, rows, state)).value == pytest.approx(wanted)
    assert mean_over_rows(lambda view: view.log_z, state, rows) == pytest.approx(-wanted)


@given(basis_of_rows(), st.floats(0.2, 3.0), st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4))
def test_the_prior_weighs_as_much_as_one_row(drawn, width, displacement):
    """½ |displacement|² / width², over the number of rows that the mean is over."""
    state, rows, _, _ = drawn
    here = Trial(state, rows, state)
    free = here._box.free(np.array([2.0, 1.5, 1.2, 0.3]))
    moved = Trial.at(free + np.array(displacement), state, rows, state)
    far, near = Nlp(prior_width=width).loss(moved), Nlp(prior_width=1e6).loss(moved)
    wanted = 0.5 * np.sum(np.square(displacement)) / width**2 / far.rows
    assert far.value - near.value == pytest.approx(wanted, rel=1e-6, abs=1e-9)
    pull = np.array(displacement) / width**2 / far.rows
    np.testing.assert_allclose(far.gradient - near.gradient, pull, rtol=1e-6, atol=1e-9)
