"""Laws of the posterior under any sequence of inclusions, for all kernels and likelihoods.

The judge is the dense oracle. Tolerances are relative to the prior variance, the scale on which
rounding happens.
"""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.testing.oracle import dense_posterior
from sgpc_framework.testing.strategies import Inclusion, components, inclusions, problems
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import Probit


@st.composite
def walks(draw, storage="float64"):
    """A posterior at its start, and the inclusions to make."""
    problem = draw(problems())
    kernel = draw(components("kernel", features=problem.X.shape[1]))
    likelihood = draw(components("likelihood"))
    block_rows = draw(st.sampled_from([1, 3, 1000]))
    posterior = Posterior(
        problem.X, problem.y, kernel, likelihood, len(problem.y), block_rows, storage
    )
    return posterior, draw(inclusions(len(problem.y)))


def include(posterior, inclusion):
    """Include a row if it can be; returns whether it was."""
    index = np.array([inclusion.row])
    if not posterior.eligible(index)[0]:
        return False
    candidates = posterior.candidates(index)
    variance = candidates.at.variance[0]
    step = Steps(inclusion.coefficient / np.sqrt(variance), inclusion.share / variance)
    posterior.include(candidates, 0, step)
    return True


@given(walks())
def test_incremental_equals_dense(walk):
    agrees_with_dense(*walk, tolerance=1e-8)


@given(walks("float32"))
def test_single_precision_is_near_dense(walk):
    agrees_with_dense(*walk, tolerance=1e-4)


def agrees_with_dense(posterior, sequence, tolerance):
    prior = posterior.kernel.diag(posterior.X)
    for inclusion in sequence:
        include(posterior, inclusion)
        sites = posterior.sites
        dense = dense_posterior(
            posterior.kernel, posterior.X, posterior.basis, sites.precision, sites.mean
        )
        mean, variance = posterior.marginals()
        scale = np.abs(dense.mean).max() + np.sqrt(prior.max()) + 1e-300
        np.testing.assert_allclose(mean, dense.mean, rtol=0, atol=2 * tolerance * scale)
        np.testing.assert_allclose(
            variance, dense.variance, rtol=0, atol=2 * tolerance * prior.max()
        )


@given(walks())
def test_variance_never_increases_and_never_goes_below_zero(walk):
    posterior, sequence = walk
    before = posterior.marginals()[1].copy()
    for inclusion in sequence:
        include(posterior, inclusion)
        after = posterior.marginals()[1].copy()
        assert np.all(after <= before)
        assert np.all(after >= 0.0)
        before = after


@given(walks())
def test_a_residual_column_is_the_posterior_covariance(walk):
    posterior, sequence = walk
    for inclusion in sequence:
        include(posterior, inclusion)
    rows = np.arange(len(posterior))[: min(3, len(posterior))]
    candidates = posterior.candidates(rows)
    columns = np.concatenate(
        [candidates.columns(block) for block in range(len(posterior.blocks))], axis=1
    )
    dense = dense_posterior(
        posterior.kernel,
        posterior.X,
        posterior.basis,
        posterior.sites.precision,
        posterior.sites.mean,
    )
    scale = posterior.kernel.diag(posterior.X).max()
    np.testing.assert_allclose(columns, dense.covariance[rows], rtol=1e-8, atol=1e-8 * scale)


@given(
    walks(),
    st.floats(-2.0, 2.0),
    st.floats(0.01, 0.99),
    st.integers(0, 2),
    st.sampled_from([1, 7, 1 << 16]),
)
def test_a_trial_is_what_inclusion_makes(walk, coefficient, share, which, together):
    """``total`` with candidates, however many at a time, sums over what ``include`` would make."""
    posterior, sequence = walk
    for inclusion in sequence:
        include(posterior, inclusion)
    eligible = np.flatnonzero(posterior.eligible(slice(None)))
    assume(eligible.size)
    candidates = posterior.candidates(eligible[:3])
    variance = candidates.at.variance
    each = np.linspace(0.5, 1.0, len(candidates))  # no two steps are alike
    steps = Steps(coefficient * each / np.sqrt(variance), share * each / variance)
    which = min(which, len(candidates) - 1)

    def value(rows):
        return np.stack([rows.mean, rows.variance, rows.log_z, rows.active])

    with patch("sgpc_framework.rows.posterior.TOGETHER", together):
        tried = posterior.total(value, candidates, steps)
    posterior.include(candidates, which, steps[which])
    included = posterior.total(value)
    scale = 1.0 + np.abs(included).max()
    np.testing.assert_allclose(tried[which], included, rtol=1e-9, atol=1e-9 * scale)


@given(walks())
def test_blocks_change_nothing(walk):
    posterior, sequence = walk
    whole = Posterior(
        posterior.X, posterior.y, posterior.kernel, posterior.likelihood, len(posterior)
    )
    for inclusion in sequence:
        include(posterior, inclusion)
        include(whole, inclusion)
    for ours, theirs in zip(posterior.marginals(), whole.marginals(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * (1 + np.abs(theirs).max()))


@given(problems(), st.integers(1, 5), st.integers(0, 2**32))
def test_a_sample_is_distinct_inactive_and_reproducible(problem, size, seed):
    posterior = Posterior(problem.X, problem.y, *_plain_parts(), max_basis=len(problem.y))
    include(posterior, _first())

    def weight(rows):
        return np.where(rows.y > 0, rows.variance, 0.0)

    drawn = posterior.sample(weight, size, np.random.default_rng(seed))
    assert len(drawn) == min(size, np.count_nonzero(posterior.eligible(slice(None))))
    assert len(set(drawn.tolist())) == len(drawn)
    assert np.all(posterior.eligible(drawn))
    again = posterior.sample(weight, size, np.random.default_rng(seed))
    np.testing.assert_array_equal(drawn, again)
    positive = np.count_nonzero(posterior.eligible(slice(None)) & (problem.y > 0))
    assert np.count_nonzero(problem.y[drawn] > 0) >= min(len(drawn), positive)


@given(problems())
def test_ties_go_to_the_lowest_row(problem):
    posterior = Posterior(
        problem.X, problem.y, *_plain_parts(), max_basis=len(problem.y), block_rows=2
    )
    assert posterior.argmin(lambda rows: np.zeros(len(rows))) == 0
    assert posterior.argmin(lambda rows: np.full(len(rows), np.inf)) == 0
    include(posterior, _first())
    assert posterior.argmin(lambda rows: np.zeros(len(rows))) == 1


def _plain_parts():
    return SquaredExponential(lengthscale=1.0), Probit()


def _first():
    return Inclusion(row=0, share=0.5, coefficient=0.3)


def test_columns_too_large_to_keep_are_computed_once_for_all_candidates(monkeypatch):
    calls = []
    monkeypatch.setattr("sgpc_framework.rows.candidates.KEPT_BYTES", 0)
    X, y = np.arange(20.0)[:, None], np.resize([-1.0, 1.0], 20)
    posterior = Posterior(X, y, SquaredExponential(lengthscale=3.0), Probit(), 5, block_rows=10)
    asked = posterior.residual_columns

    def counted(index, block):
        calls.append((len(index), block))
        return asked(index, block)

    monkeypatch.setattr(posterior, "residual_columns", counted)
    candidates = posterior.candidates(np.array([3, 7, 11]))
    posterior.total(lambda rows: rows.log_z, candidates, Steps([0.1] * 3, [0.1] * 3))
    assert calls == [(3, 0), (3, 1)]


class TestTotal:
    """What ``total`` asks of candidates, steps and values."""

    def posterior(self):
        X, y = np.arange(20.0)[:, None], np.resize([-1.0, 1.0], 20)
        return Posterior(X, y, SquaredExponential(lengthscale=3.0), Probit(), 5, block_rows=8)

    def test_a_step_for_each_candidate(self):
        posterior = self.posterior()
        candidates = posterior.candidates(np.array([3, 7, 11]))
        for count in (1, 2, 4):
            with pytest.raises(ValueError, match="a step for each of 3 rows"):
                posterior.total(evidence, candidates, Steps([0.1] * count, [0.1] * count))

    def test_a_number_for_each_row(self):
        posterior = self.posterior()
        candidates, steps = posterior.candidates(np.array([3, 7])), Steps([0.1] * 2, [0.1] * 2)
        with pytest.raises(ValueError, match="for each of 16 rows along its last axis"):
            posterior.total(lambda rows: rows.log_z[::2], candidates, steps)

    def test_steps_may_be_columns_of_a_matrix(self):
        posterior = self.posterior()
        candidates = posterior.candidates(np.array([3, 7]))
        table = np.array([[0.1, 0.2], [0.3, 0.4]])
        found = posterior.total(evidence, candidates, Steps(table[:, 0], table[:, 1]))
        wanted = posterior.total(evidence, candidates, Steps([0.1, 0.3], [0.2, 0.4]))
        np.testing.assert_array_equal(found, wanted)

    def test_no_candidates_no_sums(self):
        posterior = self.posterior()
        none = posterior.candidates(np.empty(0, dtype=np.intp))
        assert len(posterior.total(evidence, none, Steps([], []))) == 0


def evidence(rows):
    return rows.log_z
