"""How far probabilities are from frequencies, in bins that have equally many rows.

    ECE = Σ_b n_b |observed_b - predicted_b| / n

Bins of equal width leave most rows in one or two of them where a class is rare; bins of equal count
look where the rows are. Noise alone makes the error positive, so it comes with what a calibrated
model would show: the same error of labels that are drawn from the predicted probabilities.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.metrics.bootstrap import Statistic
from sgpc_framework.model.costs import most_probable

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

BINS = 10
SIMULATIONS = 100


def calibration_error(proba: Floats, truth: Codes, bins: int = BINS) -> Statistic:
    """The error as a statistic of weighted rows; the bins are those of all rows.

    Of two classes the predictions are the probabilities of the second, of more those of the most
    probable class. Rows with the same probability are in the same bin.

    >>> said = np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.2, 0.8]])
    >>> calibration_error(said, np.array([0, 0, 1, 1]), bins=2)(np.ones((1, 4)))
    array([0.15])
    """
    predicted, right = _predictions(proba, truth)
    order, starts = _bins(predicted, bins)
    gaps = (right - predicted)[order]

    def statistic(weights: Floats) -> Floats:
        in_bins = np.add.reduceat(weights[:, order] * gaps, starts, axis=1)
        error: Floats = np.abs(in_bins).sum(axis=1) / weights.sum(axis=1)
        return error

    return statistic


def error_by_chance(proba: Floats, bins: int = BINS, seed: int = 0) -> float:
    """The calibration error that noise gives to a model whose probabilities are right."""
    predicted, _ = _predictions(proba, np.zeros(len(proba), dtype=np.intp))
    order, starts = _bins(predicted, bins)
    ordered, rng = predicted[order], np.random.default_rng(seed)
    errors = []
    for _ in range(SIMULATIONS if len(ordered) <= 100_000 else SIMULATIONS // 10):
        gaps = (rng.random(len(ordered)) < ordered) - ordered
        errors.append(np.abs(np.add.reduceat(gaps, starts)).sum() / len(ordered))
    return float(np.mean(errors))


def _predictions(proba: Floats, truth: Codes) -> tuple[Floats, Floats]:
    """What was said of each row, and whether it came true."""
    if proba.shape[1] == 2:
        return proba[:, 1], (truth == 1).astype(np.float64)
    return proba.max(axis=1), (most_probable(proba) == truth).astype(np.float64)


def _bins(predicted: Floats, bins: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows in order of their predictions, and where in that order the bins begin."""
    order = np.argsort(predicted, kind="stable")
    edges = np.linspace(0, len(predicted), min(bins, len(predicted)), endpoint=False)
    ordered = predicted[order]
    # equal predictions stay together: a bin begins with the first of its kind
    starts = np.searchsorted(ordered, ordered[edges.astype(np.intp)], side="left")
    return order, np.unique(starts)
