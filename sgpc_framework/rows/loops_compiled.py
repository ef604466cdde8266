"""The passes of ``loops``, compiled: the extra ``fast``."""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import boolean, float32, float64, types
from numpy.typing import NDArray

from sgpc_framework.parts.compilation import compiler_options

Floats = NDArray[np.float64]

_seen = types.Array(float64, 1, "C", readonly=True)  # takes a writable array as well
_columns = types.Array(float64, 2, "C", readonly=True)
_mask = types.Array(boolean, 1, "C", readonly=True)
_compiled = compiler_options()


@numba.njit(
    [
        types.void(_seen, float64, float64, float64[::1], float64[::1], float64[::1]),
        types.void(_seen, float64, float64, float64[::1], float64[::1], float32[::1]),
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
) -> None:
    for i in range(len(column)):
        m = root * column[i]
        row_of_M[i] = m
        mean[i] += coefficient * column[i]
        variance[i] -= m * m


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


_CHUNK = 64  # rows that are summed by themselves: four sums at a time, none waits for another


@numba.njit(types.Tuple((types.intp, float64, float64))(_seen, _mask, float64), **_compiled)
def place_of(
    weights: Floats, eligible: NDArray[np.bool_], share: float
) -> tuple[int, float, float]:
    n = len(weights)
    chunks = (n + _CHUNK - 1) // _CHUNK
    sums = np.empty(chunks)
    total, least = 0.0, math.inf
    for chunk in range(chunks):
        i, stop = chunk * _CHUNK, min(n, (chunk + 1) * _CHUNK)
        a = b = c = d = 0.0
        low_a = low_b = low_c = low_d = 0.0
        while i + 3 < stop:
            w = weights[i] if eligible[i] else 0.0
            x = weights[i + 1] if eligible[i + 1] else 0.0
            y = weights[i + 2] if eligible[i + 2] else 0.0
            z = weights[i + 3] if eligible[i + 3] else 0.0
            a, b, c, d = a + w, b + x, c + y, d + z
            low_a, low_b = min(low_a, w), min(low_b, x)
            low_c, low_d = min(low_c, y), min(low_d, z)
            i += 4
        while i < stop:
            w = weights[i] if eligible[i] else 0.0
            a, low_a = a + w, min(low_a, w)
            i += 1
        sums[chunk] = (a + b) + (c + d)
        total += sums[chunk]
        least = min(least, min(min(low_a, low_b), min(low_c, low_d)))
    before, chosen = 0.0, 0
    for chunk in range(chunks):
        if sums[chunk] > 0.0:
            chosen = chunk
            if before + sums[chunk] > share * total:
                break
            before += sums[chunk]
    row = chosen * _CHUNK
    for i in range(chosen * _CHUNK, min(n, (chosen + 1) * _CHUNK)):
        if eligible[i] and weights[i] > 0.0:
            row = i
            before += weights[i]
            if before > share * total:
                break
    return row, total, least


@numba.njit(types.Tuple((float64, types.intp))(_seen, float64), **_compiled)
def sum_and_count(values: Floats, limit: float) -> tuple[float, int]:
    a = b = c = d = 0.0
    count, i = 0, 0
    while i + 3 < len(values):
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
        count += values[i] <= limit
        count += values[i + 1] <= limit
        count += values[i + 2] <= limit
        count += values[i + 3] <= limit
        i += 4
    while i < len(values):
        a += values[i]
        count += values[i] <= limit
        i += 1
    return (a + b) + (c + d), count
