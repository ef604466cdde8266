"""The probit's pass over the rows as one compiled loop: the extra ``fast``.

The arithmetic is that of ``normal_tail``, operation by operation, with the same table: inside the
table the numbers are the same to the bit, outside to rounding. What is saved are the trips through
memory, a dozen of them, and the calls that a handful of rows would pay for. Square roots and
quotients have a loop of their own, which has no branches: several of them are done at once.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba import float64, types
from numpy.typing import NDArray

from sgpc_framework.protocols import Moments
from sgpc_plugins.likelihoods import normal_tail
from sgpc_plugins.likelihoods.link import LEAST_NU

Floats = NDArray[np.float64]

# One row for each node, so that a look-up touches one or two cache lines.
_LOG_CDF = np.ascontiguousarray(normal_tail.LOG_CDF.T)
_RATIO = np.ascontiguousarray(normal_tail.RATIO.T)
_CELLS = float(normal_tail.CELLS)
_EDGE = float(normal_tail.EDGE)
_MIDDLE = normal_tail.EDGE * normal_tail.CELLS
_FRACTIONS = normal_tail.FRACTIONS
_BELOW_ONE = normal_tail.BELOW_ONE
_SQRT_2PI = math.sqrt(2.0 * math.pi)

_row = types.Array(float64, 1, "C", readonly=True)  # takes a writable array as well
_table = types.Array(float64, 2, "C", readonly=True)
_compiled = {"cache": True, "nogil": True, "error_model": "numpy"}


def log_z(slope: float, bias: float, y: Floats, mean: Floats, variance: Floats) -> Floats:
    """log Φ(z) of every row."""
    found = np.empty(len(y))
    _run(_log_z, (_LOG_CDF, slope**-2, bias), (y, mean, variance), found)
    return found


def moments(slope: float, bias: float, y: Floats, mean: Floats, variance: Floats) -> Moments:
    """(log_z, alpha, nu) of every row."""
    found = np.empty((3, len(y)))
    _run(_moments, (_LOG_CDF, _RATIO, slope**-2, bias), (y, mean, variance), found)
    return Moments(*found)


def _run(loop: Any, options: tuple[Any, ...], rows: tuple[Floats, ...], found: Floats) -> None:
    """Call a loop, which knows contiguous float64 arrays only: others are rare, and copied."""
    try:
        loop(*options, *rows, found)
    except TypeError:
        loop(*options, *(np.ascontiguousarray(row, dtype=np.float64) for row in rows), found)


@numba.njit(float64(float64, float64, _table), inline="always")
def _polynomial(z: float, node: float, table: Floats) -> float:
    """Horner's rule for the Taylor polynomial about the nearest node."""
    c = table[int(node) + _MIDDLE]
    t = z * _CELLS - node
    value: float = ((((c[5] * t + c[4]) * t + c[3]) * t + c[2]) * t + c[1]) * t + c[0]
    return value


@numba.njit(float64(float64))
def _excess(t: float) -> float:
    """h(-t) - t for large t, by its continued fraction."""
    excess = 0.0
    for k in range(_FRACTIONS, 0, -1):
        excess = k / (t + excess)
    return excess


@numba.njit(types.void(_table, float64, float64, _row, _row, _row, float64[::1]), **_compiled)
def _log_z(
    table: Floats,
    noise: float,
    bias: float,
    y: Floats,
    mean: Floats,
    variance: Floats,
    found: Floats,
) -> None:
    for i in range(len(y)):
        found[i] = (mean[i] + bias) * y[i] / math.sqrt(variance[i] + noise)
    for i in range(len(y)):
        z = found[i]
        if z < -_EDGE:
            h = _excess(-z) - z
            found[i] = -z * z / 2.0 - math.log(_SQRT_2PI * h)
        elif z > _EDGE:
            found[i] = -math.exp(-z * z / 2.0) / (_SQRT_2PI * (z + _excess(z)))
        elif z == z:
            found[i] = _polynomial(z, np.rint(z * _CELLS), table)


@numba.njit(
    types.void(
        _table,
        _table,
        float64,
        float64,
        _row,
        _row,
        _row,
        float64[:, ::1],
    ),
    **_compiled,
)
def _moments(
    log_cdf: Floats,
    ratio: Floats,
    noise: float,
    bias: float,
    y: Floats,
    mean: Floats,
    variance: Floats,
    found: Floats,
) -> None:
    log_z, alpha, nu = found
    for i in range(len(y)):
        alpha[i] = math.sqrt(variance[i] + noise)
        log_z[i] = (mean[i] + bias) * y[i] / alpha[i]
    for i in range(len(y)):
        z, width = log_z[i], alpha[i]
        if z < -_EDGE:
            excess = _excess(-z)
            h = excess - z
            bend = min(h * excess, _BELOW_ONE)
            log_z[i] = -z * z / 2.0 - math.log(_SQRT_2PI * h)
        elif z > _EDGE:
            h = math.exp(-z * z / 2.0) / _SQRT_2PI
            bend = h * (h + z)
            log_z[i] = -h / (z + _excess(z))
        elif z == z:
            node = np.rint(z * _CELLS)
            h = _polynomial(z, node, ratio)
            bend = h * (h + z)
            log_z[i] = _polynomial(z, node, log_cdf)
        else:
            h = bend = z
        alpha[i] = h / width * y[i]
        nu[i] = max(bend / (width * width), LEAST_NU)
