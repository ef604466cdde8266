"""The Brier score, and what it consists of.

    Brier = 1/n Σᵢ (pᵢ - yᵢ)²  =  reliability - resolution + uncertainty

with p the probability of the second of two classes and y one where the row is of it; of more
classes, the sum over them. **Uncertainty** is the score of the class frequencies of the rows.
**Resolution** is what the predictions know beyond them, after the best monotone correction.
**Reliability** is what that correction would gain: zero for calibrated probabilities.

The correction is isotonic regression, so that there are no bins to choose and the sum is exact: T.
Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams for probabilistic
classifiers", PNAS 118 (2021).
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@attrs.frozen
class Brier:
    """The score, from 0 for who knows to 1 (2, of many classes), and its three parts."""

    score: float
    reliability: float
    resolution: float
    uncertainty: float

    @classmethod
    def of(cls, proba: Floats, truth: Codes) -> Brier:
        """The score of predicted probabilities.

        >>> brier = Brier.of(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0, 1]))
        >>> brier.score, brier.reliability, brier.resolution, brier.uncertainty
        (0.0625, 0.0625, 0.25, 0.25)
        """
        parts = [
            _parts(proba[:, c], (truth == c).astype(np.float64)) for c in _classes(proba.shape[1])
        ]
        reliability, resolution, uncertainty = np.sum(parts, axis=0).tolist()
        score = float(row_scores(proba, truth).mean())
        return cls(score, reliability, resolution, uncertainty)


def row_scores(proba: Floats, truth: Codes) -> Floats:
    """The squared distance of each row, whose mean is the score."""
    scores = np.zeros(len(truth))
    for c in _classes(proba.shape[1]):
        scores += (proba[:, c] - (truth == c)) ** 2
    return scores


def _classes(count: int) -> range:
    return range(1, 2) if count == 2 else range(count)


def _parts(predicted: Floats, came_true: Floats) -> tuple[float, float, float]:
    score = float(np.mean((predicted - came_true) ** 2))
    corrected = float(np.mean((isotonic(predicted, came_true) - came_true) ** 2))
    share = float(came_true.mean())
    uncertainty = share * (1.0 - share)
    return score - corrected, uncertainty - corrected, uncertainty


def isotonic(predicted: Floats, came_true: Floats) -> Floats:
    """The increasing function of the predictions that is nearest to what came true.

    Pool adjacent violators: from the lowest level up, a block whose mean is not above that of the
    block before is joined with it.
    """
    _, place, counts = np.unique(predicted, return_inverse=True, return_counts=True)
    sums = np.bincount(place, weights=came_true)
    blocks: list[tuple[float, int, int]] = []  # the sum of a block, its rows and its levels
    for total, count in zip(sums.tolist(), counts.tolist(), strict=True):
        width = 1
        while blocks and blocks[-1][0] * count >= total * blocks[-1][1]:
            before = blocks.pop()
            total, count, width = total + before[0], count + before[1], width + before[2]
        blocks.append((total, count, width))
    means = np.repeat([total / count for total, count, _ in blocks], [w for *_, w in blocks])
    fitted: Floats = means[place]
    return fitted
