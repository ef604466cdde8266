"""Whether rows of a class get higher probabilities than others: AUC and average precision.

Both look at the order of the probabilities only. Of more than two classes, each is told from the
rest, and the figure is the mean over the classes that the rows have (macro, one against the rest).
Of two classes, AUC is the same for both, and average precision is that of the second.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.metrics.bootstrap import Statistic

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


def auc(scores: Floats, truth: Codes) -> Statistic:
    """The area under the ROC curve: how probable it is that a row of a class has a higher score
    for it than a row of another class, ties being a half.

    ``scores`` are probabilities or their logarithms, of shape (rows, classes). The statistic takes
    weights of the rows.

    >>> area = auc(np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]]), np.array([0, 1, 1]))
    >>> area(np.ones((1, 3)))
    array([1.])
    """
    return _macro(_auc_of_one, scores, truth)


def average_precision(scores: Floats, truth: Codes) -> Statistic:
    """The mean of the precision over the recall, Σ (Rₖ - Rₖ₋₁) Pₖ at each threshold k.

    A classifier that knows nothing has the share of the class.
    """
    return _macro(_average_precision_of_one, scores, truth)


def _macro(
    of_one: Callable[[Floats, NDArray[np.bool_]], Statistic], scores: Floats, truth: Codes
) -> Statistic:
    count = scores.shape[1]
    classes = [1] if count == 2 else range(count)
    own = [truth == c for c in classes]
    each = [
        of_one(scores[:, c], mine)
        for c, mine in zip(classes, own, strict=True)
        if 0 < mine.sum() < len(truth)
    ]

    def statistic(weights: Floats) -> Floats:
        if not each:
            return np.full(len(weights), np.nan)
        values = np.stack([one(weights) for one in each])
        known = np.isfinite(values)
        total: Floats = np.where(known, values, 0.0).sum(axis=0)
        with np.errstate(invalid="ignore"):
            mean: Floats = total / known.sum(axis=0)
        return mean

    return statistic


def _auc_of_one(score: Floats, mine: NDArray[np.bool_]) -> Statistic:
    order = np.argsort(score, kind="stable")
    starts = _first_of_ties(score[order])
    own = mine[order]

    def statistic(weights: Floats) -> Floats:
        sorted_weights = weights[:, order]
        positive = np.add.reduceat(sorted_weights * own, starts, axis=1)
        negative = np.add.reduceat(sorted_weights * ~own, starts, axis=1)
        below = np.cumsum(negative, axis=1) - 0.5 * negative
        with np.errstate(invalid="ignore"):
            area: Floats = (positive * below).sum(axis=1) / (
                positive.sum(axis=1) * negative.sum(axis=1)
            )
        return area

    return statistic


def _average_precision_of_one(score: Floats, mine: NDArray[np.bool_]) -> Statistic:
    order = np.argsort(-score, kind="stable")
    starts = _first_of_ties(score[order])
    own = mine[order]

    def statistic(weights: Floats) -> Floats:
        sorted_weights = weights[:, order]
        positive = np.add.reduceat(sorted_weights * own, starts, axis=1)
        taken = np.cumsum(np.add.reduceat(sorted_weights, starts, axis=1), axis=1)
        precision = np.cumsum(positive, axis=1) / np.maximum(taken, 1e-300)
        with np.errstate(invalid="ignore"):
            mean: Floats = (positive * precision).sum(axis=1) / positive.sum(axis=1)
        return mean

    return statistic


def _first_of_ties(in_order: Floats) -> NDArray[np.intp]:
    return np.flatnonzero(np.concatenate([[True], in_order[1:] != in_order[:-1]]))
