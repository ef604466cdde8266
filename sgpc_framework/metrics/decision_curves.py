"""What follows from a threshold: how many rows are said to be of a class, and how many are.

A row is said to be of class k where

    pₖ / (pₖ + max over j ≠ k of pⱼ) > t

which, of two classes, is its probability. That is the decision that costs least if missing a row
of class k costs (1 - t) / t and every other mistake 1, so one number says it all, of two classes or
of many.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.model.costs import Costs

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

_ENDS = np.array([0.001, 0.002, 0.003, 0.004])
THRESHOLDS: Floats = np.concatenate([_ENDS, np.arange(1, 200) / 200.0, 1.0 - _ENDS[::-1]])
"""Fine enough to look at, and finer where a class is rare or nearly all there is."""


@attrs.frozen(eq=False)
class DecisionCurve:
    """Of one class: rows of it (``own``) and of others that are said to be of it, at each of the
    thresholds, and how many there are in all."""

    thresholds: Floats
    own: Codes
    others: Codes
    own_rows: int
    other_rows: int

    @classmethod
    def of(
        cls, log_proba: Floats, truth: Codes, position: int, thresholds: Floats = THRESHOLDS
    ) -> DecisionCurve:
        """The curve of the class at this position; a tie goes to the first class, as ever.

        >>> proba = np.log([[0.1, 0.9], [0.6, 0.4], [0.7, 0.3]])
        >>> curve = DecisionCurve.of(proba, np.array([1, 1, 0]), 1, np.array([0.2, 0.35, 0.5]))
        >>> curve.own, curve.others
        (array([2, 2, 1]), array([1, 0, 0]))
        """
        before, after = log_proba[:, :position], log_proba[:, position + 1 :]
        ahead = log_proba[:, position] - before.max(axis=1, initial=-np.inf)
        not_behind = log_proba[:, position] - after.max(axis=1, initial=-np.inf)
        odds = np.log(thresholds) - np.log1p(-thresholds)
        mine = truth == position

        def said(rows: NDArray[np.bool_]) -> Codes:
            return np.array(
                [np.sum((ahead[rows] > t) & (not_behind[rows] >= t)) for t in odds], dtype=np.intp
            )

        own = int(mine.sum())
        return cls(thresholds, said(mine), said(~mine), own, len(truth) - own)

    @property
    def recall(self) -> Floats:
        """The share of the rows of the class that are found."""
        return _shares(self.own, self.own_rows)

    @property
    def precision(self) -> Floats:
        """The share of rows said to be of the class that are; NaN where none is."""
        return _shares(self.own, self.own + self.others)

    @property
    def specificity(self) -> Floats:
        """The share of other rows that are not said to be of the class."""
        return 1.0 - _shares(self.others, self.other_rows)


def own_threshold(costs: Costs | None, position: int) -> float:
    """The threshold of a class that costs ask for, if they say of each class what missing it costs;
    0.5 where they say more than that."""
    if costs is None:
        return 0.5
    regret = costs.regret
    missed, alarms = (
        np.delete(regret[position], position),
        np.delete(regret[:, position], position),
    )
    if np.ptp(missed) or np.ptp(alarms):
        return 0.5
    return float(alarms[0] / (alarms[0] + missed[0]))


def _shares(count: Codes, of: Codes | int) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: Floats = np.asarray(count / np.asarray(of, dtype=np.float64))
    return shares
