"""Laws of weights: a row of weight w counts as w rows. Each docstring is the law.

Rows that stand there several times are the judge of whole weights. ``counts`` says how often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.design import Design
from sgpc_framework.engine.slopes import RowMean, predictive_loss, slopes
from sgpc_framework.engine.trial import Trial
from sgpc_framework.model.model import Model
from sgpc_framework.protocols import Floats, HyperObjective, RowLoss, SiteEstimator
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.rows.view import Rows
from sgpc_framework.testing.fit_laws import require_same_bits

if TYPE_CHECKING:  # they need Hypothesis, which the laws do not
    from sgpc_framework.testing.strategies import FittedState, FitToMake, Problem, Walk

Counts = NDArray[np.intp]


def weights_of_one_change_no_bit(made: FitToMake) -> None:
    """A fit whose rows all have the weight one has the bits of a fit without weights."""
    plain, weighted = _fitted(made), _fitted(made, np.ones(len(made.problem.y)))
    require_same_bits(weighted.state, plain.state)


def a_row_of_weight_zero_is_not_there(made: FitToMake, weight: Floats) -> None:
    """A fit with rows of weight zero has the bits of a fit without these rows, and tells of the
    others by the numbers that they had."""
    X, y, kept = made.problem.X, made.problem.y, np.flatnonzero(weight)
    ours, told = _told_of(made.design, X, y, weight)
    theirs, told_there = _told_of(made.design, X[kept], y[kept], weight[kept])
    numbers = theirs.state.basis
    numbers = np.where(numbers >= 0, kept[numbers], numbers)
    require_same_bits(ours.state, attrs.evolve(theirs.state, basis=numbers))
    rows, rows_there = ([stage.row for stage in each.trace.stages] for each in (ours, theirs))
    assert rows == kept[rows_there].tolist()
    assert told == kept[told_there].tolist()


def weighted_training_error_never_exceeds_its_bound(made: FitToMake, weight: Floats) -> None:
    """At every stage, Σ w of the rows that are wrong / Σ w <= NLP_a / log 2."""
    for iteration in _fitted(made, weight).trace.iterations:
        for stage in iteration.stages:
            assert 0.0 <= stage.training_error <= stage.error_bound * (1 + 1e-12)


def sums_are_those_of_repeated_rows(walk: Walk, counts: Counts) -> None:
    """Under the same inclusions, one of several equal rows standing for the row, NLP_a, training
    error and all sums over rows, with candidates tried or not, are those of repeated rows."""
    few, many = _both(walk, counts)
    first = np.cumsum(counts) - counts
    assert few.total_weight == many.total_weight == len(many)
    for inclusion in walk.inclusions:
        candidates = few.candidates(np.array([inclusion.row]))
        if not candidates.eligible[0]:
            continue
        others = many.candidates(first[[inclusion.row]])
        variance = candidates.at.variance
        step = Steps(inclusion.coefficient / np.sqrt(variance), inclusion.share / variance)
        tried, there = few.total(_some, candidates, step), many.total(_some, others, step)
        np.testing.assert_allclose(tried, there, rtol=1e-9, atol=1e-9)
        ours, theirs = few.include(candidates, 0, step), many.include(others, 0, step)
        np.testing.assert_allclose(ours.log_z, theirs.log_z, rtol=1e-9, atol=1e-9)
        assert abs(ours.wrong - theirs.wrong) <= _undecided(many)
        np.testing.assert_allclose(few.total(_some), many.total(_some), rtol=1e-9, atol=1e-9)


def sites_hear_weights_as_repeated_rows(
    estimator: SiteEstimator, walk: Walk, counts: Counts
) -> None:
    """An estimator that looks at all rows makes the same site of a candidate."""
    few, many = _both(walk, counts)
    candidates = few.candidates(np.arange(min(2, len(few))))
    others = many.candidates((np.cumsum(counts) - counts)[candidates.index])
    if candidates.eligible.all():
        ours, theirs = estimator.estimate(few, candidates), estimator.estimate(many, others)
        np.testing.assert_allclose(ours.coefficient, theirs.coefficient, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(ours.shrinkage, theirs.shrinkage, rtol=1e-6, atol=1e-9)


def losses_are_those_of_repeated_rows(fitted: FittedState, counts: Counts) -> None:
    """NLP_a of a state, and its slopes in all that it depends on, are those of repeated rows."""
    weighted, repeated = weighted_and_repeated(fitted.problem, counts)
    state = fitted.state
    loss = predictive_loss(state, weighted)
    np.testing.assert_allclose(loss, predictive_loss(state, repeated), rtol=1e-9)
    mean = RowMean(_minus_log_z)
    ours, theirs = slopes(mean, state, weighted), slopes(mean, state, repeated)
    for one, other in zip(map(np.asarray, ours), map(np.asarray, theirs), strict=True):
        scale = 1e-9 * (1.0 + np.abs(other).max(initial=0.0))
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=scale)


def objectives_hear_weights_as_repeated_rows(
    objective: HyperObjective, fitted: FittedState, counts: Counts
) -> None:
    """An objective over all rows has the value and the gradient of repeated rows."""
    losses = [
        objective.loss(Trial(fitted.state, rows, fitted.state))
        for rows in weighted_and_repeated(fitted.problem, counts)
    ]
    ours, theirs = losses
    assert ours is not None
    assert theirs is not None
    assert ours.rows == theirs.rows
    np.testing.assert_allclose(ours.value, theirs.value, rtol=1e-9)
    scale = 1e-9 * (1.0 + np.abs(theirs.gradient).max(initial=0.0))
    np.testing.assert_allclose(ours.gradient, theirs.gradient, rtol=1e-9, atol=scale)


def weighted_and_repeated(
    problem: Problem, counts: Counts, block_rows: int = 7
) -> tuple[TrainingRows, TrainingRows]:
    """The same rows twice: with weights, and each so many times."""
    X, y = problem.X, problem.y
    weighted = TrainingRows.of(X, y, block_rows, weight=counts.astype(np.float64))
    return weighted, TrainingRows.of(X.repeat(counts, axis=0), y.repeat(counts), block_rows)


def _both(walk: Walk, counts: Counts) -> tuple[Posterior, Posterior]:
    kernel, likelihood = walk.posterior.kernel, walk.posterior.likelihood
    few, many = (
        rows.posterior(kernel, likelihood, len(walk.problem.y))
        for rows in weighted_and_repeated(walk.problem, counts)
    )
    return few, many


def _some(rows: Rows) -> Floats:
    return np.stack([rows.mean, rows.variance, rows.log_z, rows.alpha])


def _undecided(posterior: Posterior) -> float:
    """How many rows are right or wrong by rounding alone."""
    return float(posterior.total(lambda rows: np.abs(rows.log_z + np.log(2.0)) < 1e-9))


def _minus_log_z(rows: Rows) -> RowLoss:
    return RowLoss(-rows.log_z, d_log_z=-1.0)


def _fitted(made: FitToMake, weight: Floats | None = None) -> Model:
    model = made.design.fit(made.problem.X, made.problem.y, sample_weight=weight)
    assert isinstance(model, Model)
    return model


def _told_of(design: Design, X: Floats, y: Floats, weight: Floats) -> tuple[Model, list[int]]:
    """The model, and the rows that whoever watched the fit was told of."""
    told: list[int] = []
    model = design.fit(X, y, sample_weight=weight, progress=lambda at: told.append(at.stage.row))
    assert isinstance(model, Model)
    return model, told
