"""The selectors against their definitions, computed by dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from sgpc_framework import datasets
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.oracle import dense_posterior
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import Probit
from sgpc_plugins.selectors import (
    AdaptiveSampling,
    ConditionalVariance,
    Entropy,
    InformationGain,
    MostViolated,
    RandomSampling,
    Validation,
)
from sgpc_plugins.sites import MomentMatching

LIKELIHOOD = Probit(slope=1.3, bias=-0.2)
KERNEL = SquaredExponential(variance=1.7, lengthscale=5.0)
X, Y = datasets.waveform(70, seed=8)


@pytest.fixture(params=[0, 6])
def posterior(request):
    """A posterior after no and after some stages."""
    posterior = TrainingRows.of(X, Y, block_rows=16).posterior(KERNEL, LIKELIHOOD, 10)
    for row in range(request.param):
        candidates = posterior.candidates(np.array([7 * row]))
        posterior.include(candidates, 0, MomentMatching().estimate(posterior, candidates))
    return posterior


def all_rows(posterior):
    """What the posterior says of every row."""
    return posterior.candidates(np.arange(len(posterior))).at


def gaussian_kl(mean, variance, other_mean, other_variance):
    """KL(N(mean, variance) ‖ N(other_mean, other_variance)) in one dimension."""
    ratio = variance / other_variance
    return 0.5 * (ratio - 1.0 - np.log(ratio) + (mean - other_mean) ** 2 / other_variance)


def inactive_scores(posterior, score):
    """The best inactive row by a score of each row's old and new marginal; ties to the lowest."""
    rows = all_rows(posterior)
    new_variance = rows.variance * (1.0 - rows.nu * rows.variance)
    new_mean = rows.mean + rows.alpha * rows.variance
    scores = score(rows, new_mean, new_variance)
    return int(np.argmin(np.where(posterior.eligible(), scores, np.inf)))


@pytest.mark.parametrize(
    ("selector", "score"),
    [
        (Entropy(), lambda rows, mean, variance: 0.5 * np.log(variance / rows.variance)),
        (
            InformationGain(),
            lambda rows, mean, variance: -gaussian_kl(mean, variance, rows.mean, rows.variance),
        ),
        (
            InformationGain(direction="old-new"),
            lambda rows, mean, variance: -gaussian_kl(rows.mean, rows.variance, mean, variance),
        ),
        (MostViolated(), lambda rows, mean, variance: rows.log_z),
        (ConditionalVariance(), lambda rows, mean, variance: -rows.variance),
    ],
)
def test_greedy_selectors_follow_their_definition(posterior, selector, score):
    rng = np.random.default_rng(0)
    chosen = selector.propose(posterior, rng)
    wanted = inactive_scores(posterior, score)
    rows = all_rows(posterior)
    # At the first stage all rows of a label tie, up to the rounding of two different formulas.
    ties = np.isclose(rows.log_z, rows.log_z[wanted]) & np.isclose(
        rows.variance, rows.variance[wanted], rtol=1e-9
    )
    assert chosen == wanted or ties[chosen]


def dense_loss(posterior, row, over):
    """NLP after including one row with its moment-matching site, by the oracle."""
    at = posterior.candidates(np.array([row])).at
    alpha, nu = at.alpha[0], at.nu[0]
    precision = nu / (1.0 - nu * at.variance[0])
    sites = posterior.sites
    dense = dense_posterior(
        KERNEL,
        X,
        [*posterior.basis, row],
        np.append(sites.precision, precision),
        np.append(sites.mean, at.mean[0] + alpha / nu),
    )
    log_z = LIKELIHOOD.moments(Y, dense.mean, dense.variance).log_z
    counted = np.ones(len(posterior), dtype=bool)
    if over == "inactive":
        counted[[*posterior.basis, row]] = False
    return -log_z[counted].sum()


def test_candidates_are_scored_by_what_inclusion_would_do(posterior):
    candidates = posterior.candidates(np.array([3, 40, 11, 60]))
    steps = MomentMatching().estimate(posterior, candidates)
    scores = Validation().score(posterior, candidates, steps)
    wanted = [dense_loss(posterior, row, "inactive") for row in candidates.index]
    np.testing.assert_allclose(scores, wanted, rtol=1e-9)
    totals = posterior.total(lambda rows: -rows.log_z, candidates, steps)
    wanted = [dense_loss(posterior, row, "all") for row in candidates.index]
    np.testing.assert_allclose(totals, wanted, rtol=1e-9)


def test_adaptive_sampling_draws_by_the_chance_of_error(posterior):
    """Eq. 11, by counting: one row at a time, and the second of a pair given the first."""
    rng = np.random.default_rng(3)
    log_z = all_rows(posterior).log_z
    weights = np.where(posterior.eligible(), 1.0 - np.exp(log_z), 0.0)
    draws = 4000
    single = np.concatenate([AdaptiveSampling(1).propose(posterior, rng) for _ in range(draws)])
    counts = np.bincount(single, minlength=len(weights))
    expected = draws * weights / weights.sum()
    drawable = weights > 0
    assert counts[~drawable].sum() == 0
    assert chisquare(counts[drawable], expected[drawable]).pvalue > 1e-3

    pairs = np.array([AdaptiveSampling(2).propose(posterior, rng) for _ in range(draws)])
    chance = weights / weights.sum()
    # Σᵢ P(i first) P(j second | i first)
    second = np.array(
        [sum(chance[i] * chance[j] / (1 - chance[i]) for i in range(len(chance)) if i != j)
         for j in range(len(chance))]
    )  # fmt: skip
    counts = np.bincount(pairs[:, 1], minlength=len(weights))
    assert chisquare(counts[drawable], draws * second[drawable]).pvalue > 1e-3


def test_uniform_working_sets_are_uniform(posterior):
    rng = np.random.default_rng(4)
    drawn = np.concatenate([RandomSampling(5).propose(posterior, rng) for _ in range(2000)])
    counts = np.bincount(drawn, minlength=len(posterior))
    eligible = posterior.eligible()
    assert counts[~eligible].sum() == 0
    assert chisquare(counts[eligible]).pvalue > 1e-3


def test_a_working_set_larger_than_what_is_left_takes_all(posterior):
    drawn = Validation(500).propose(posterior, np.random.default_rng(0))
    assert sorted(drawn.tolist()) == np.flatnonzero(posterior.eligible()).tolist()


def test_rows_without_weight_are_drawn_last(posterior):
    rng = np.random.default_rng(0)
    drawn = posterior.sample(lambda rows: (rows.y > 0) * 1e-3, len(posterior), rng)
    positive = np.count_nonzero(posterior.eligible() & (Y > 0))
    assert np.all(Y[drawn[:positive]] > 0)
    assert np.all(Y[drawn[positive:]] < 0)


@pytest.mark.parametrize("bad", [np.nan, -1.0, np.inf])
def test_a_bad_weight_or_score_is_refused_with_its_row(posterior, bad):
    def weight(rows):
        return np.where(rows.variance == rows.variance.max(), bad, 1.0)

    with pytest.raises(ValueError, match="row"):
        posterior.sample(weight, 2, np.random.default_rng(0))
    if np.isnan(bad):
        with pytest.raises(ValueError, match="NaN"):
            posterior.argmin(weight)
    with pytest.raises(ValueError, match="one number for each"):
        posterior.argmin(lambda rows: rows.variance[:-1])
