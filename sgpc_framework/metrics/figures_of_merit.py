"""All figures of merit of some predictions, each beside what needs no model.

Log loss is the mean of -log p(true label) in nats, which the paper calls NLP. The baseline of a
figure is that of the class frequencies of the training rows: who says nothing but how frequent each
class was. A model is worth something if it beats that, and not if it beats even odds.

A model that decides by costs is judged by its decisions: error, balanced error and cost are theirs.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.metrics.bootstrap import Interval, interval
from sgpc_framework.metrics.brier import Brier, row_scores
from sgpc_framework.metrics.calibration_error import calibration_error, error_by_chance
from sgpc_framework.metrics.merits import losses, nlp, probabilities
from sgpc_framework.metrics.ranking import auc, average_precision
from sgpc_framework.metrics.statistics import standard_error
from sgpc_framework.model.costs import Costs, decisions

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@attrs.frozen
class Merits:
    """Figures of merit on some rows, without their noise.

    ``baseline_log_loss`` and ``baseline_brier`` are those of the class frequencies,
    ``baseline_error`` that of always saying the most frequent class. ``cost`` is what the decisions
    cost a row, and ``baseline_cost`` the same for who knows the frequencies alone; NaN where the
    model has no costs. A figure that the rows do not have, such as AUC where all are of one class,
    is NaN.
    """

    rows: int
    error: float
    balanced_error: float
    nlp: float
    brier: Brier
    auc: float
    average_precision: float
    calibration_error: float
    baseline_error: float
    baseline_log_loss: float
    baseline_brier: float
    baseline_precision: float
    """The average precision of who knows nothing: the share of the class."""
    cost: float
    baseline_cost: float

    @property
    def log_loss(self) -> float:
        """Another word for ``nlp``, which is the paper's."""
        return self.nlp

    @classmethod
    def of(
        cls,
        log_proba: Floats,
        truth: Codes,
        shares: Floats | None = None,
        costs: Costs | None = None,
    ) -> Merits:
        """The figures of predicted log probabilities, given the true classes.

        ``shares`` are the class frequencies of the training rows; without them, those of these
        rows, which are a little harder to beat. ``costs`` are those that the model decides by.

        >>> Merits.of(np.log([[0.25, 0.75], [0.25, 0.75]]), np.array([1, 0])).error
        0.5
        """
        proba = probabilities(log_proba)
        all_rows = np.ones((1, len(truth)))
        constant = log_shares(truth, log_proba.shape[1], shares)
        always = np.zeros_like(constant)
        return cls(
            len(truth),
            float(wrong(log_proba, truth, costs).mean()),
            balanced_error(log_proba, truth, costs).value,
            nlp(log_proba, truth),
            Brier.of(proba, truth),
            float(auc(log_proba, truth)(all_rows)[0]),
            float(average_precision(log_proba, truth)(all_rows)[0]),
            float(calibration_error(proba, truth)(all_rows)[0]),
            float(wrong(constant, truth).mean()),
            nlp(constant, truth),
            float(row_scores(np.exp(constant), truth).mean()),
            float(average_precision(always, truth)(all_rows)[0]),
            float(row_costs(log_proba, truth, costs).mean()),
            float(row_costs(constant, truth, costs).mean()),
        )


@attrs.frozen
class Noise:
    """How sure the figures are: standard errors over the rows, and intervals by the bootstrap.

    ``calibration_by_chance`` is the calibration error that noise gives to a calibrated model.
    """

    error: float
    balanced_error: float
    log_loss: float
    brier: float
    auc: Interval
    average_precision: Interval
    calibration_error: Interval
    calibration_by_chance: float
    cost: float

    @classmethod
    def of(
        cls, log_proba: Floats, truth: Codes, costs: Costs | None = None, seed: int = 0
    ) -> Noise:
        """The noise of ``Merits.of`` the same predictions."""
        proba, rows = probabilities(log_proba), len(truth)
        return cls(
            standard_error(wrong(log_proba, truth, costs)),
            balanced_error(log_proba, truth, costs).error,
            standard_error(losses(log_proba, truth)),
            standard_error(row_scores(proba, truth)),
            interval(auc(log_proba, truth), rows, least=0.0, most=1.0, seed=seed),
            interval(average_precision(log_proba, truth), rows, least=0.0, most=1.0, seed=seed),
            interval(calibration_error(proba, truth), rows, least=0.0, most=1.0, seed=seed),
            error_by_chance(proba, seed=seed),
            standard_error(row_costs(log_proba, truth, costs)),
        )


@attrs.frozen
class Estimate:
    """A number and its standard error."""

    value: float
    error: float


def wrong(log_proba: Floats, truth: Codes, costs: Costs | None = None) -> Floats:
    """One for each row whose decision is not its class, and zero for the others."""
    mistakes: Floats = (decisions(log_proba, costs) != truth).astype(np.float64)
    return mistakes


def row_costs(log_proba: Floats, truth: Codes, costs: Costs | None) -> Floats:
    """What the decision for each row costs; NaN where nothing is known of costs."""
    if costs is None:
        return np.full(len(truth), np.nan)
    paid: Floats = costs.matrix[truth, costs.decide(log_proba)]
    return paid


def balanced_error(log_proba: Floats, truth: Codes, costs: Costs | None = None) -> Estimate:
    """The mean over the classes of their errors, which a frequent class cannot hide.

    >>> balanced_error(np.log([[0.75, 0.25]] * 4), np.array([0, 0, 0, 1])).value
    0.5
    """
    mistakes = wrong(log_proba, truth, costs)
    own = [mistakes[truth == c] for c in np.unique(truth)]
    value = float(np.mean([each.mean() for each in own]))
    spread = [each.var(ddof=1) / len(each) if len(each) > 1 else np.nan for each in own]
    return Estimate(value, float(np.sqrt(np.sum(spread)) / len(own)))


def log_shares(truth: Codes, classes: int, shares: Floats | None) -> Floats:
    """The log probabilities of who says the class frequencies of every row.

    A class that is in no row is never the truth: that its logarithm is none does no harm.
    """
    if shares is None:
        shares = np.bincount(truth, minlength=classes) / len(truth)
    least = np.finfo(np.float64).tiny
    said: Floats = np.log(np.maximum(shares, least))
    return np.broadcast_to(said, (len(truth), classes))
