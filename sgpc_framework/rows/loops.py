"""The passes over rows that every stage makes, whatever the parts: one loop each, if compiled."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.parts.compilation import compiled

Floats = NDArray[np.float64]
_TWIN = "sgpc_framework.rows.loops_compiled"


def add_basis_function(
    column: Floats,
    coefficient: float,
    shrinkage: float,
    mean: Floats,
    variance: Floats,
    row_of_M: NDArray[np.floating],
) -> float:
    """Equation 7 at some rows, in place, and the least variance after it (NaN if one is).

    mean += coefficient k̃,  variance -= shrinkage k̃²,  and the new row of M is √shrinkage k̃.
    """
    if twin := compiled(_TWIN):
        twin.add_basis_function(column, coefficient, math.sqrt(shrinkage), mean, variance, row_of_M)
    else:
        root = math.sqrt(shrinkage) * column
        row_of_M[:] = root
        mean += coefficient * column
        variance -= np.square(root, out=root)
    return float(np.minimum.reduce(variance))


def with_basis_functions(
    columns: Floats, coefficient: Floats, shrinkage: Floats, mean: Floats, variance: Floats
) -> tuple[Floats, Floats]:
    """The means and variances that equation 7 would make with each of several columns.

    One trial after the other in a long vector; what rounding takes below zero is zero.
    """
    if twin := compiled(_TWIN):
        new = np.empty((2, columns.size))
        twin.with_basis_functions(columns, coefficient, shrinkage, mean, variance, new)
        return new[0], new[1]
    new_mean = columns * coefficient[:, None]
    new_mean += mean
    new_variance = np.square(columns)
    new_variance *= -shrinkage[:, None]
    new_variance += variance
    np.maximum(new_variance, 0.0, out=new_variance)
    return new_mean.reshape(-1), new_variance.reshape(-1)


def running_sums(weights: Floats, eligible: NDArray[np.bool_]) -> tuple[Floats, float]:
    """The running sums of the eligible rows' weights, and the least of these weights.

    The last sum is finite if and only if all weights are, but for a sum that overflows.
    """
    if twin := compiled(_TWIN):
        sums = np.empty(len(weights))
        return sums, float(twin.running_sums(weights, eligible, sums))
    weights = np.where(eligible, weights, 0.0)
    return np.cumsum(weights), float(weights.min())


def place_of(
    weights: Floats, eligible: NDArray[np.bool_], share: float
) -> tuple[int, float, float]:
    """Where the running sum of the eligible rows' weights passes a share of their total.

    Returns that row's position, the total and the least of the weights.
    """
    if twin := compiled(_TWIN):
        position, total, least = twin.place_of(weights, eligible, share)
        return int(position), float(total), float(least)
    sums, least = running_sums(weights, eligible)
    total = float(sums[-1])
    point = min(share * total, math.nextafter(total, 0.0))
    return int(sums.searchsorted(point, side="right")), total, least


def sum_and_count(values: Floats, limit: float) -> tuple[float, int]:
    """The sum of some numbers, and how many of them are not above a limit."""
    if twin := compiled(_TWIN):
        total, count = twin.sum_and_count(values, limit)
        return float(total), int(count)
    return float(values.sum()), int(np.count_nonzero(values <= limit))
