"""log Φ and h = N / Φ of one number inside a compiled loop, from the tables of ``normal_tail``.

A loop is handed the tables, because a compiler would copy what it finds as a constant. Functions
without a signature are compiled with the loops that call them, and kept with these: one with a
signature would be compiled anew in every process.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import float64, types
from numpy.typing import NDArray

from sgpc_plugins.likelihoods import normal_tail

Floats = NDArray[np.float64]

# One row for each node, so that a look-up touches one or two cache lines.
LOG_CDF = np.ascontiguousarray(normal_tail.LOG_CDF.T)
RATIO = np.ascontiguousarray(normal_tail.RATIO.T)
CELLS = float(normal_tail.CELLS)
EDGE = float(normal_tail.EDGE)
SQRT_2PI = math.sqrt(2.0 * math.pi)

_MIDDLE = normal_tail.EDGE * normal_tail.CELLS
_FRACTIONS = normal_tail.FRACTIONS
_BELOW_ONE = normal_tail.BELOW_ONE

table = types.Array(float64, 2, "C", readonly=True)


@numba.njit(inline="always")
def polynomial(z: float, node: float, coefficients: Floats) -> float:
    """Horner's rule for the Taylor polynomial about the nearest node."""
    c = coefficients[int(node) + _MIDDLE]
    t = z * CELLS - node
    value: float = ((((c[5] * t + c[4]) * t + c[3]) * t + c[2]) * t + c[1]) * t + c[0]
    return value


@numba.njit
def ratio_and_bend(z: float, ratio: Floats) -> tuple[float, float]:
    """h(z) and h (h + z)."""
    if abs(z) <= EDGE:
        h = polynomial(z, np.rint(z * CELLS), ratio)
        return h, h * (h + z)
    if z > 0.0:
        h = math.exp(-z * z / 2.0) / SQRT_2PI
        return h, h * (h + z)
    excess = 0.0
    for k in range(_FRACTIONS, 0, -1):
        excess = k / (excess - z)
    h = excess - z
    return h, min(h * excess, _BELOW_ONE)


@numba.njit
def log_cdf(z: float, h: float, coefficients: Floats) -> float:
    """log Φ(z), with h(z) at hand."""
    if abs(z) <= EDGE:
        value: float = polynomial(z, np.rint(z * CELLS), coefficients)
        return value
    if z > 0.0:
        return -h / z
    return -z * z / 2.0 - math.log(SQRT_2PI * h)
