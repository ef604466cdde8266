"""The passes of ``passes`` as compiled loops: the extra ``fast``."""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import boolean, float32, float64, types
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_seen = types.Array(float64, 1, "C", readonly=True)  # takes a writable array as well
_columns = types.Array(float64, 2, "C", readonly=True)
_mask = types.Array(boolean, 1, "C", readonly=True)
_compiled = {"cache": True, "nogil": True, "error_model": "numpy"}


@numba.njit(
    [
        float64(_seen, float64, float64, float64[::1], float64[::1], float64[::1]),
        float64(_seen, float64, float64, float64[::1], float64[::1], float32[::1]),
    ],
    **_compiled,
)
def add_basis_function(
    column: Floats,
    coefficient: float,
    root: float,
    mean: Floats,
    variance: Floats,
    row_of_M: NDArray[np.floating],
) -> float:
    least = math.inf
    for i in range(len(column)):
        m = root * column[i]
        row_of_M[i] = m
        mean[i] += coefficient * column[i]
        variance[i] -= m * m
        if variance[i] < least or variance[i] != variance[i]:  # nothing is less than a NaN
            least = variance[i]
    return least


@numba.njit(
    types.void(_columns, _seen, _seen, _seen, _seen, float64[:, ::1]),
    **_compiled,
)
def with_basis_functions(
    columns: Floats,
    coefficient: Floats,
    shrinkage: Floats,
    mean: Floats,
    variance: Floats,
    new: Floats,
) -> None:
    n = len(mean)
    for trial in range(len(columns)):
        column, step, share = columns[trial], coefficient[trial], shrinkage[trial]
        new_mean = new[0, trial * n : (trial + 1) * n]
        new_variance = new[1, trial * n : (trial + 1) * n]
        for i in range(n):
            new_mean[i] = column[i] * step + mean[i]
            left = column[i] * column[i] * -share + variance[i]
            new_variance[i] = 0.0 if left < 0.0 else left


@numba.njit(float64(_seen, _mask, float64[::1]), **_compiled)
def running_sums(weights: Floats, eligible: NDArray[np.bool_], sums: Floats) -> float:
    total, least = 0.0, math.inf
    for i in range(len(weights)):
        if eligible[i]:
            total += weights[i]
            least = min(least, weights[i])
        sums[i] = total
    return least
