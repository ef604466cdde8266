"""Where scales start: the median distance between the training inputs.

All of it is deterministic, and cheap for any number of rows.
"""

from __future__ import annotations

import numpy as np

from sgpc_framework.authors import Floats
from sgpc_plugins.kernels.distances import squared_distances

_ROWS = 500  # an evenly spaced sample; its median is within a few per cent of everybody's


def median_distance(X: Floats) -> float:
    """The median distance of two rows; 1.0 if no two differ.

    Where most pairs are duplicates, the mean distance of those that are not.

    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    sample = _sample(X)
    pairs = np.triu_indices(len(sample), k=1)
    distances = np.sqrt(squared_distances(sample, sample, np.ones(X.shape[1]))[pairs])
    apart = distances[distances > 0.0]
    if not apart.size:
        return 1.0
    return float(np.median(distances)) or float(apart.mean())


def median_scales(X: Floats) -> Floats:
    """One scale for each feature: its standard deviation times the median standardised distance.

    A constant feature, which no kernel can see, gets the median distance.

    >>> median_scales(np.array([[0.0, 0.0], [2.0, 20.0]])).round(2)
    array([ 2.83, 28.28])
    """
    scales = np.full(X.shape[1], median_distance(X))
    if len(X):
        # Every row counts here: a sample may miss the few rows that make a sparse feature vary. And
        # the computed deviation of a constant need not be zero, so the values are compared, too.
        deviation = X.std(axis=0) * (X[0] != X).any(axis=0)
        varying = deviation > 0.0
        standardised = _sample(X)[:, varying] / deviation[varying]
        scales[varying] = deviation[varying] * median_distance(standardised)
    return scales


def started_lengthscale(
    lengthscale: float | tuple[float, ...] | str, X: Floats, bounds: tuple[float, float]
) -> float | tuple[float, ...]:
    """The lengthscale with a word replaced by what it stands for, inside the bounds."""
    if lengthscale == "median":
        return float(np.clip(median_distance(X), *bounds))
    if lengthscale == "median-per-feature":
        return tuple(np.clip(median_scales(X), *bounds).tolist())
    assert not isinstance(lengthscale, str)  # the declaration allows no other word
    return lengthscale


def _sample(X: Floats) -> Floats:
    count = min(len(X), _ROWS)
    return X[np.arange(count) * len(X) // max(1, count)]
