"""The probit's pass over the rows as one compiled loop: the extra ``fast``.

The arithmetic is that of ``normal_tail``, operation by operation, with the same table: inside the
table the numbers are the same to the bit, outside to rounding. What is saved are the trips through
memory, a dozen of them, and the calls that a handful of rows would pay for. Square roots and
quotients have loops of their own, which have no branches: several of them are done at once. So has
the continued fraction of the tails, whose rows are collected first.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba import float64, types
from numpy.typing import NDArray

from sgpc_framework.authors import Moments, compiler_options
from sgpc_plugins.likelihoods import normal_tail
from sgpc_plugins.likelihoods.link import LEAST_NU
from sgpc_plugins.likelihoods.normal_tail_compiled import (
    CELLS,
    EDGE,
    LOG_CDF,
    RATIO,
    SQRT_2PI,
    polynomial,
    table,
)

Floats = NDArray[np.float64]

_FRACTIONS = normal_tail.FRACTIONS
_BELOW_ONE = normal_tail.BELOW_ONE
_TAIL = 128  # rows of the tails that are collected

_row = types.Array(float64, 1, "C", readonly=True)  # takes a writable array as well
_compiled = compiler_options()


def log_z(slope: float, bias: float, y: Floats, mean: Floats, variance: Floats) -> Floats:
    """log Φ(z) of every row."""
    result = np.empty(len(y))
    _run(_log_z, (LOG_CDF, slope**-2, bias), (y, mean, variance), result)
    return result


def moments(slope: float, bias: float, y: Floats, mean: Floats, variance: Floats) -> Moments:
    """(log_z, alpha, nu) of every row."""
    results = np.empty((4, len(y)))  # the last is scratch
    _run(_moments, (LOG_CDF, RATIO, slope**-2, bias), (y, mean, variance), results)
    return Moments(*results[:3])


def _run(loop: Any, options: tuple[Any, ...], rows: tuple[Floats, ...], results: Floats) -> None:
    """Call a loop, which knows contiguous float64 arrays only: others are rare, and copied."""
    try:
        loop(*options, *rows, results)
    except TypeError:
        loop(*options, *(np.ascontiguousarray(row, dtype=np.float64) for row in rows), results)


@numba.njit(inline="always")
def _excesses(t: Floats, excess: Floats, count: int) -> None:
    """h(-t) - t for large t, by its continued fraction."""
    for i in range(count):
        excess[i] = 0.0
    for k in range(_FRACTIONS, 0, -1):
        for i in range(count):
            excess[i] = k / (t[i] + excess[i])


@numba.njit(types.void(table, float64, float64, _row, _row, _row, float64[::1]), **_compiled)
def _log_z(
    log_cdf: Floats,
    noise: float,
    bias: float,
    y: Floats,
    mean: Floats,
    variance: Floats,
    result: Floats,
) -> None:
    outside, t, excess = np.empty(_TAIL, np.intp), np.empty(_TAIL), np.empty(_TAIL)
    count = 0
    for i in range(len(y)):
        result[i] = (mean[i] + bias) * y[i] / math.sqrt(variance[i] + noise)
    for i in range(len(y)):
        z = result[i]
        if abs(z) <= EDGE:
            result[i] = polynomial(z, np.rint(z * CELLS), log_cdf)
        elif z == z:
            outside[count], t[count] = i, abs(z)
            count += 1
        if count == _TAIL or (count and i == len(y) - 1):
            _excesses(t, excess, count)
            for j in range(count):
                if result[outside[j]] < 0.0:
                    h = t[j] + excess[j]
                    result[outside[j]] = -t[j] * t[j] / 2.0 - math.log(SQRT_2PI * h)
                else:
                    gauss = math.exp(-t[j] * t[j] / 2.0)
                    result[outside[j]] = -gauss / (SQRT_2PI * (t[j] + excess[j]))
            count = 0


@numba.njit(
    types.void(table, table, float64, float64, _row, _row, _row, float64[:, ::1]), **_compiled
)
def _moments(
    log_cdf: Floats,
    ratio: Floats,
    noise: float,
    bias: float,
    y: Floats,
    mean: Floats,
    variance: Floats,
    results: Floats,
) -> None:
    log_z, slope, bend, width = results[0], results[1], results[2], results[3]
    outside, t, excess = np.empty(_TAIL, np.intp), np.empty(_TAIL), np.empty(_TAIL)
    count = 0
    for i in range(len(y)):
        width[i] = math.sqrt(variance[i] + noise)
        log_z[i] = (mean[i] + bias) * y[i] / width[i]
    for i in range(len(y)):
        z = log_z[i]
        if abs(z) <= EDGE:
            node = np.rint(z * CELLS)
            h = polynomial(z, node, ratio)
            slope[i], bend[i] = h, h * (h + z)
            log_z[i] = polynomial(z, node, log_cdf)
        elif z == z:
            outside[count], t[count] = i, abs(z)
            count += 1
        else:
            slope[i] = bend[i] = z
        if count == _TAIL or (count and i == len(y) - 1):
            _excesses(t, excess, count)
            for j in range(count):
                at = outside[j]
                if log_z[at] < 0.0:
                    h = t[j] + excess[j]
                    slope[at], bend[at] = h, min(h * excess[j], _BELOW_ONE)
                    log_z[at] = -t[j] * t[j] / 2.0 - math.log(SQRT_2PI * h)
                else:
                    h = math.exp(-t[j] * t[j] / 2.0) / SQRT_2PI
                    slope[at], bend[at] = h, h * (h + t[j])
                    log_z[at] = -h / (t[j] + excess[j])
            count = 0
    for i in range(len(y)):
        slope[i] = slope[i] / width[i] * y[i]
        bend[i] = max(bend[i] / (width[i] * width[i]), LEAST_NU)
