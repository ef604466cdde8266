"""Laws of the site estimators."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sgpc_framework import datasets
from sgpc_framework.algebra.sites import Steps
from sgpc_framework.engine.stages import log_evidence
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.strategies import components, likelihoods, problems
from sgpc_plugins.sites import MomentMatching, PredictiveLossSites
from sgpc_plugins.sites.predictive_loss import FARTHEST


@st.composite
def candidate_sets(draw):
    """A posterior after a few stages, and two or three candidates."""
    problem = draw(problems(min_rows=5))
    kernel = draw(components("kernel", features=problem.X.shape[1]))
    likelihood = draw(likelihoods())
    posterior = TrainingRows.of(problem.X, problem.y).posterior(kernel, likelihood, 5)
    for _ in range(draw(st.integers(0, 2))):
        if not posterior.exhausted:
            first = posterior.candidates(np.array([posterior.argmin(lambda rows: -rows.variance)]))
            posterior.include(first, 0, MomentMatching().estimate(posterior, first))
    eligible = np.flatnonzero(posterior.eligible())
    assume(eligible.size)
    return posterior, posterior.candidates(eligible[-3:])


@given(candidate_sets())
def test_moment_matching_matches_the_moments(drawn):
    """The new marginal of the row has the mean and variance of the exact one."""
    posterior, candidates = drawn
    steps = MomentMatching().estimate(posterior, candidates)
    at = candidates.at
    log_concave = at.nu > 0
    mean = at.mean + steps.coefficient * at.variance
    variance = at.variance - steps.shrinkage * at.variance**2
    np.testing.assert_allclose(mean, at.mean + at.alpha * at.variance, rtol=1e-12, atol=1e-12)
    exact = at.variance - at.nu * at.variance**2
    np.testing.assert_allclose(variance[log_concave], exact[log_concave], rtol=1e-12)


@given(candidate_sets())
def test_predictive_loss_sites_never_lose_to_their_start(drawn):
    posterior, candidates = drawn
    start = MomentMatching().estimate(posterior, candidates)
    found = PredictiveLossSites().estimate(posterior, candidates)
    before = -posterior.total(log_evidence, candidates, start)
    after = -posterior.total(log_evidence, candidates, found)
    assert np.all(after <= before * (1 + 1e-14))
    share = found.shrinkage * candidates.at.variance
    assert np.all((share > 0.0) & (share < 1.0))
    assert np.all(np.isfinite(found.coefficient))


@settings(max_examples=40)
@given(st.integers(0, 10_000), components("kernel", features=21), likelihoods())
def test_predictive_loss_sites_end_where_the_loss_is_flat(seed, kernel, likelihood):
    """On data with noise, no coefficient or shrinkage nearby does noticeably better."""
    X, y = datasets.waveform(60, seed=seed)
    rows = TrainingRows.of((X - X.mean(axis=0)) / X.std(axis=0), y)
    posterior = rows.posterior(kernel, likelihood, 5)
    assume(not posterior.exhausted)
    candidates = posterior.candidates(np.array([posterior.argmin(lambda rows: rows.log_z)]))
    found = PredictiveLossSites(max_steps=100, tolerance=0.0).estimate(posterior, candidates)
    start = MomentMatching().estimate(posterior, candidates)
    # A basis function that reaches hardly any other row has its minimum beyond all bounds.
    assume(abs(found.coefficient[0]) < 0.9 * FARTHEST * abs(start.coefficient[0]))
    best = -posterior.total(log_evidence, candidates, found)[0]
    # Nor is there one where a little more precision is ever a little better.
    certain = Steps(found.coefficient, (1.0 - 1e-9) / candidates.at.variance)
    assume(best <= -posterior.total(log_evidence, candidates, certain)[0])
    share = found.shrinkage * candidates.at.variance
    odds = share / (1.0 - share)
    for factor in (0.9, 1.1):
        larger = odds * factor / (1.0 + odds * factor) / candidates.at.variance
        for step in (
            Steps(found.coefficient * factor, found.shrinkage),
            Steps(found.coefficient, larger),
        ):
            other = -posterior.total(log_evidence, candidates, step)[0]
            assert best <= other + 1e-7 * len(posterior)
