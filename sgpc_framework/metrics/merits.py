"""How good predicted probabilities are: error, loss and calibration."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.model.costs import Costs, decisions, most_probable

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@attrs.frozen(eq=False)
class Reliability:
    """How often what was predicted came true, for predictions of about the same probability.

    One entry a bin that has any rows. ``predicted`` is the mean probability in the bin,
    ``observed`` the share of its rows for which the prediction was right, ``counts`` how many rows
    it has, ``edges`` where the bins begin and end, empty ones included.
    """

    edges: Floats
    predicted: Floats
    observed: Floats
    counts: NDArray[np.intp]

    @property
    def expected_calibration_error(self) -> float:
        """ECE = Σ_b counts_b |observed_b - predicted_b| / Σ_b counts_b."""
        gaps = np.abs(self.observed - self.predicted)
        return float(np.average(gaps, weights=self.counts))

    @property
    def noise(self) -> Floats:
        """The standard error that ``observed`` has where predictions are right on average."""
        spread: Floats = np.sqrt(self.predicted * (1.0 - self.predicted) / self.counts)
        return spread


def reliability(proba: Floats, truth: Codes, bins: int = 10) -> Reliability:
    """Predicted against observed in bins of equal width.

    Of two classes, the predictions are the probabilities of the second. Of more, they are those of
    the most probable class of each row.

    >>> bins = reliability(np.array([[0.75, 0.25], [0.75, 0.25], [0.5, 0.5]]), np.array([0, 1, 1]))
    >>> bins.predicted, bins.observed, bins.counts
    (array([0.25, 0.5 ]), array([0.5, 1. ]), array([2, 1]))
    """
    if proba.shape[1] == 2:
        return _in_bins(proba[:, 1], truth == 1, bins)
    return reliability_of_labels(proba, truth, bins)


def reliability_of_labels(proba: Floats, truth: Codes, bins: int = 10) -> Reliability:
    """The same for the predicted labels: confidence, max p, against the share of right ones."""
    return _in_bins(proba.max(axis=1), most_probable(proba) == truth, bins)


def _in_bins(predicted: Floats, right: NDArray[np.bool_], bins: int) -> Reliability:
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.clip(np.searchsorted(edges, predicted, side="right") - 1, 0, bins - 1)
    counts = np.bincount(place, minlength=bins)
    full = counts > 0

    def mean(of: NDArray[np.generic]) -> Floats:
        sums = np.bincount(place, weights=of, minlength=bins)
        means: Floats = sums[full] / counts[full]
        return means

    return Reliability(edges, mean(predicted), mean(right), counts[full])


def probabilities(log_proba: Floats) -> Floats:
    """The probabilities, as ``predict_proba`` has them: of two classes, the first is the rest.

    >>> probabilities(np.log([[0.75, 0.25]]))
    array([[0.75, 0.25]])
    """
    if log_proba.shape[1] != 2:
        return np.exp(log_proba)
    second = log_proba[:, 1]
    return np.stack([-np.expm1(second), np.exp(second)], axis=1)


def losses(log_proba: Floats, truth: Codes) -> Floats:
    """-log of the probability of each row's own class."""
    own: Floats = log_proba[np.arange(len(truth)), truth]
    return -own


def nlp(log_proba: Floats, truth: Codes, weight: Floats | None = None) -> float:
    """The mean of these losses, in nats; by the rows' weights, if they have any."""
    return float(np.average(losses(log_proba, truth), weights=weight))


def error(
    log_proba: Floats, truth: Codes, weight: Floats | None = None, costs: Costs | None = None
) -> float:
    """The share of rows whose most probable class, or by the costs the one that costs least, is not
    their own; ties as in ``predict``."""
    return float(np.average(decisions(log_proba, costs) != truth, weights=weight))


def confusion(log_proba: Floats, truth: Codes, costs: Costs | None = None) -> NDArray[np.intp]:
    """How many rows of each class (rows) were taken for each class (columns), by the costs if there
    are any."""
    classes = log_proba.shape[1]
    pairs = np.bincount(truth * classes + decisions(log_proba, costs), minlength=classes**2)
    return pairs.reshape(classes, classes)
