"""Laws of a posterior under any sequence of inclusions. Each docstring is the law.

They take what ``strategies`` draws. The judge is the dense oracle; tolerances are relative to the
prior variance, the scale on which rounding happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sgpc_framework.algebra.rounding import ROUNDING
from sgpc_framework.algebra.sites import Steps
from sgpc_framework.protocols import Floats
from sgpc_framework.rows.answers import Inclusion as Included
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.rows.view import Rows
from sgpc_framework.testing.oracle import DensePosterior, dense_posterior

if TYPE_CHECKING:  # they need Hypothesis, which the laws do not
    from sgpc_framework.testing.strategies import Inclusion, Walk


def incremental_equals_dense(walk: Walk, tolerance: float = 1e-8) -> None:
    """After every inclusion, mean and variance are those of textbook algebra."""
    prior = walk.posterior.kernel.diag(walk.problem.X)
    for inclusion in walk.inclusions:
        include(walk.posterior, inclusion)
        dense = _dense(walk)
        mean, variance = walk.posterior.marginals()
        scale = np.abs(dense.mean).max() + np.sqrt(prior.max()) + 1e-300
        np.testing.assert_allclose(mean, dense.mean, rtol=0, atol=2 * tolerance * scale)
        np.testing.assert_allclose(
            variance, dense.variance, rtol=0, atol=2 * tolerance * prior.max()
        )


def variance_never_increases_and_never_goes_below_zero(walk: Walk) -> None:
    """No inclusion makes the variance of a row larger, or negative."""
    before = walk.posterior.marginals()[1].copy()
    for inclusion in walk.inclusions:
        include(walk.posterior, inclusion)
        after = walk.posterior.marginals()[1].copy()
        assert np.all(after <= before)
        assert np.all(after >= 0.0)
        before = after


def a_residual_column_is_the_posterior_covariance(walk: Walk) -> None:
    """``rows.column`` of a candidate that is tried is its posterior covariance with every row."""
    posterior = _walked(walk)
    candidates = posterior.candidates(np.arange(min(3, len(posterior))))
    columns = np.zeros((len(candidates), len(posterior)))

    def look(rows: Rows) -> Floats:
        shape = len(candidates), -1
        columns[:, rows.index.reshape(shape)[0]] = rows.column.reshape(shape)
        return np.zeros(len(rows))

    nothing = np.zeros(len(candidates))
    posterior.total(look, candidates, Steps(nothing, nothing))
    wanted = _dense(walk).covariance[candidates.index]
    scale = posterior.kernel.diag(walk.problem.X).max()
    np.testing.assert_allclose(columns, wanted, rtol=1e-8, atol=1e-8 * scale)


def a_trial_is_what_inclusion_makes(
    walk: Walk, coefficient: float, share: float, which: int
) -> None:
    """``total`` with candidates, however many and in whatever order, sums over what ``include``
    would make."""
    posterior = _walked(walk)
    eligible = np.flatnonzero(posterior.eligible())
    if not eligible.size:
        return
    candidates = posterior.candidates(eligible[:3])
    variance = candidates.at.variance
    each = np.linspace(0.5, 1.0, len(candidates))  # no two steps are alike
    steps = Steps(coefficient * each / np.sqrt(variance), share * each / variance)
    which = min(which, len(candidates) - 1)
    tried = posterior.total(_all_there_is, candidates, steps)
    backwards = np.arange(len(candidates))[::-1]
    turned = posterior.total(_all_there_is, candidates[backwards], steps[backwards])
    np.testing.assert_allclose(turned, tried[::-1], rtol=1e-9)
    posterior.include(candidates, which, steps[which])
    included = posterior.total(_all_there_is)
    scale = 1.0 + np.abs(included).max()
    np.testing.assert_allclose(tried[which], included, rtol=1e-9, atol=1e-9 * scale)


def a_stage_reports_what_it_did(walk: Walk) -> None:
    """``include`` returns the sums of log Z and of errors over all rows after it, and how many rows
    are left: not active, and with more variance than rounding leaves of their prior variance. A
    posterior is exhausted when none are."""
    posterior = walk.posterior
    prior = posterior.kernel.diag(walk.problem.X)
    active = np.zeros(len(posterior), dtype=np.bool_)
    for inclusion in walk.inclusions:
        included = include(posterior, inclusion)
        if included is None:
            continue
        active[inclusion.row] = True
        log_z = _log_z_of_rows(posterior)
        np.testing.assert_allclose(included.log_z, log_z.sum(), rtol=1e-9, atol=1e-9)
        assert included.wrong == np.count_nonzero(log_z <= -np.log(2.0))
        left = ~active & (posterior.marginals()[1] > ROUNDING["float64"].spent * prior)
        np.testing.assert_array_equal(posterior.eligible(), left)
        assert included.eligible == np.count_nonzero(left)
        assert posterior.exhausted == (not left.any())
        everything = posterior.sample(_alike, len(posterior), np.random.default_rng(0))
        np.testing.assert_array_equal(np.sort(everything), np.flatnonzero(left))


def blocks_change_nothing(walk: Walk) -> None:
    """Rows in several blocks have the marginals of the same rows in one."""
    given, X, y = walk.posterior, walk.problem.X, walk.problem.y
    whole = TrainingRows.of(X, y).posterior(given.kernel, given.likelihood, len(y))
    for inclusion in walk.inclusions:
        include(given, inclusion)
        include(whole, inclusion)
    for ours, theirs in zip(given.marginals(), whole.marginals(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * (1 + np.abs(theirs).max()))


def a_sample_is_distinct_inactive_and_reproducible(walk: Walk, size: int, seed: int) -> None:
    """A draw has as many rows as asked for, all different, none of them active, first those with a
    weight; and a generator with the same seed draws them again."""
    posterior, y = _walked(walk), walk.problem.y

    def weight(rows: Rows) -> Floats:
        return np.where(rows.y > 0, rows.variance, 0.0)

    drawn = posterior.sample(weight, size, np.random.default_rng(seed))
    eligible = posterior.eligible()
    assert len(drawn) == min(size, np.count_nonzero(eligible))
    assert len(set(drawn.tolist())) == len(drawn)
    assert np.all(eligible[drawn])
    again = posterior.sample(weight, size, np.random.default_rng(seed))
    np.testing.assert_array_equal(drawn, again)
    positive = int(np.count_nonzero(eligible & (y > 0)))
    assert int(np.count_nonzero(y[drawn] > 0)) >= min(len(drawn), positive)


def ties_go_to_the_lowest_row(walk: Walk) -> None:
    """Of rows with the same score, an infinite one too, the first that is inactive is taken."""
    posterior = _walked(walk)
    eligible = np.flatnonzero(posterior.eligible())
    if eligible.size:
        assert posterior.argmin(lambda rows: np.zeros(len(rows))) == eligible[0]
        assert posterior.argmin(lambda rows: np.full(len(rows), np.inf)) == eligible[0]


def include(posterior: Posterior, inclusion: Inclusion) -> Included | None:
    """Include a row if it can be; returns what that did."""
    candidates = posterior.candidates(np.array([inclusion.row]))
    if not candidates.eligible[0]:
        return None
    variance = candidates.at.variance[0]
    step = Steps(inclusion.coefficient / np.sqrt(variance), inclusion.share / variance)
    return posterior.include(candidates, 0, step)


def _walked(walk: Walk) -> Posterior:
    for inclusion in walk.inclusions:
        include(walk.posterior, inclusion)
    return walk.posterior


def _dense(walk: Walk) -> DensePosterior:
    sites, basis = walk.posterior.sites, np.array(walk.posterior.basis, dtype=np.intp)
    return dense_posterior(
        walk.posterior.kernel, walk.problem.X, basis, sites.precision, sites.mean
    )


def _log_z_of_rows(posterior: Posterior) -> Floats:
    """log Z of every row, one by one."""
    log_z = np.empty(len(posterior))

    def look(rows: Rows) -> Floats:
        log_z[rows.index] = rows.log_z
        return np.zeros(len(rows))

    posterior.total(look)
    return log_z


def _alike(rows: Rows) -> Floats:
    return np.ones(len(rows))


def _all_there_is(rows: Rows) -> Floats:
    return np.stack([rows.mean, rows.variance, rows.log_z, rows.active])
