"""log Φ and its first two derivatives: the inner loop of every probit likelihood.

A stage evaluates log Φ once for every row and candidate, so speed counts here more than anywhere
else. Between -8 and 8 log Φ is read off a table of Taylor polynomials: no branches and no
transcendental functions, about half the time of ``scipy.special.log_ndtr``. The few rows outside
take the asymptotic forms, which hold to the end of the floating-point range. Where there are only
a few rows altogether, calling scipy costs less than the steps of the table.

The relative error is near 1e-15 for log Φ and h, also in the right tail where both are tiny (there
it grows to 1e-13 at z = 37, as for any exp(-z²/2)), and at most 4e-14 for the second derivative.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

EDGE = 8
# With |z| <= 8 and half a cell at most to the nearest node, the first term that is left out is
# below (8 / 1024)⁶ / 6! = 3e-16 of the value.
CELLS = 512  # for each unit of z
_DEGREE = 5
_FEW = 64  # rows for which looking up costs more than computing: the candidates of a stage
_SINGLE = 2  # a row that is predicted by itself, with both its labels
FRACTIONS = 18  # of the continued fraction: enough for 1e-16 from t = 8 on
BELOW_ONE = 1.0 - 1e-14
_SQRT_2 = math.sqrt(2.0)
_SQRT_2PI = math.sqrt(2.0 * math.pi)


def log_cdf(z: Floats) -> Floats:
    """log Φ(z), for a one-dimensional array of any finite |z| < 1e154.

    >>> log_cdf(np.array([-1e8, 0.0, 1e8]))
    array([-5.00000000e+15, -6.93147181e-01, -0.00000000e+00])
    """
    if len(z) <= _SINGLE and all(-EDGE <= number <= EDGE for number in z.tolist()):
        return log_ndtr(z)  # type: ignore[no-any-return]
    log_phi = _horner(LOG_CDF, *_cells(z))
    left, right = _outside(z)
    if len(left):
        log_phi[left], _, _ = _left_tail(z[left])
    if len(right):
        log_phi[right], _, _ = _right_tail(z[right])
    return log_phi


def log_cdf_derivatives(z: Floats) -> tuple[Floats, Floats, Floats]:
    """log Φ(z), h(z) = N(z) / Φ(z) = d log Φ / dz, and h (h + z) = -d² log Φ / dz².

    The last lies strictly below one and tends to it as z falls. Both derivatives are positive
    until they underflow to zero, near z = 38.

    >>> log_phi, h, bend = log_cdf_derivatives(np.array([-1e8, 0.0]))
    >>> h.round(4), bend.round(4)
    (array([1.000e+08, 7.979e-01]), array([1.    , 0.6366]))
    """
    if len(z) <= _FEW and np.all(np.abs(z) <= EDGE):
        return _directly(z)
    cell, offset = _cells(z)
    log_phi = _horner(LOG_CDF, cell, offset)
    h = _horner(RATIO, cell, offset)
    bend = h + z
    bend *= h
    left, right = _outside(z)
    if len(left):
        log_phi[left], h[left], bend[left] = _left_tail(z[left])
    if len(right):
        log_phi[right], h[right], bend[right] = _right_tail(z[right])
    return log_phi, h, bend


# ---------------------------------------------------------------------------------------------
# The middle: Taylor polynomials about the nodes k / CELLS


def _directly(z: Floats) -> tuple[Floats, Floats, Floats]:
    """From scipy, without a table: slower for many rows and faster for a few."""
    h = (2.0 / _SQRT_2PI) / erfcx(z / -_SQRT_2)
    return log_ndtr(z), h, h * (h + z)


def _taylor_tables() -> tuple[Floats, Floats]:
    """Taylor coefficients of log Φ and of h at every node, in units of a cell.

    With h = Σ cₖ δᵏ, the equation h' = -h (h + z) gives
    (k + 1) cₖ₊₁ = -(z cₖ + cₖ₋₁ + Σᵢ cᵢ cₖ₋ᵢ), and log Φ has the coefficients cₖ₋₁ / k.
    """
    node = np.arange(-EDGE * CELLS, EDGE * CELLS + 1) / CELLS
    gauss = np.exp(-node * node / 2.0)  # accurate: the square of a node is exact
    mills = erfcx(np.abs(node) / _SQRT_2) / 2.0
    tail = gauss * mills  # Φ(-|z|)
    left = node < 0.0
    c = [np.where(left, 1.0 / mills, gauss / (1.0 - tail)) / _SQRT_2PI]
    for k in range(_DEGREE):
        convolution = sum(c[i] * c[k - i] for i in range(k + 1))
        before = c[k - 1] if k else 0.0
        c.append(-(node * c[k] + before + convolution) / (k + 1))
    value = np.where(left, np.log(tail), np.log1p(-tail))
    log_phi = [value, *(c[k - 1] / k for k in range(1, _DEGREE + 1))]
    unit = float(CELLS) ** -np.arange(_DEGREE + 1)[:, None]
    return np.array(log_phi) * unit, np.array(c) * unit


LOG_CDF, RATIO = _taylor_tables()


def _cells(z: Floats) -> tuple[Integers, Floats]:
    """The nearest node of each z and the offset from it, at most half a cell."""
    offset = np.maximum(z, -EDGE)  # two passes cost less than np.clip on a few thousand rows
    np.minimum(offset, EDGE, out=offset)
    offset *= CELLS
    nearest = np.rint(offset)
    offset -= nearest
    nearest += EDGE * CELLS
    with np.errstate(invalid="ignore"):  # NaN is in no cell, but its offset stays NaN
        return nearest.astype(np.intp), offset


def _horner(table: Floats, cell: Integers, offset: Floats) -> Floats:
    """The polynomial of each row's cell. mode="clip" spares a buffer: no index is out of range."""
    value: Floats = table[-1].take(cell, mode="clip")
    coefficient = np.empty_like(value)
    for power in table[-2::-1]:
        value *= offset
        power.take(cell, out=coefficient, mode="clip")
        value += coefficient
    return value


# ---------------------------------------------------------------------------------------------
# The tails


def _outside(z: Floats) -> tuple[Integers, Integers]:
    """The rows left and right of the table."""
    return np.flatnonzero(z < -EDGE), np.flatnonzero(z > EDGE)


def _left_tail(z: Floats) -> tuple[Floats, Floats, Floats]:
    """By the continued fraction h(-t) - t = 1/(t + 2/(t + 3/(t + ...))): all terms are positive.

    The difference of h and t cannot be had by subtraction: at t = 1e8 nothing would be left.
    """
    t = -z
    excess = np.zeros_like(t)
    for k in range(FRACTIONS, 0, -1):
        excess = k / (t + excess)
    h = t + excess
    log_phi = -t * t / 2.0 - np.log(_SQRT_2PI * h)
    return log_phi, h, np.minimum(h * excess, BELOW_ONE)


def _right_tail(z: Floats) -> tuple[Floats, Floats, Floats]:
    """Here Φ is one to the last bit, so that log Φ = -Φ(-z) and h = N(z)."""
    gauss = np.exp(-z * z / 2.0)
    h = gauss / _SQRT_2PI
    return -gauss * erfcx(z / _SQRT_2) / 2.0, h, h * (h + z)
