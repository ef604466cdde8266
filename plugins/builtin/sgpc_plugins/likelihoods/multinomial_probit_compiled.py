"""The multinomial probit's pass over the rows as one compiled loop: the extra ``fast``.

The arithmetic is that of ``multinomial_probit``. A row is done with before the next begins, so that
all it needs, nodes times classes, stays where the processor is.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from sgpc_framework.authors import Moments, compiler_options
from sgpc_plugins.likelihoods.link import LEAST_NU
from sgpc_plugins.likelihoods.normal_tail import BELOW_ONE
from sgpc_plugins.likelihoods.normal_tail_compiled import (
    LOG_CDF,
    RATIO,
    log_cdf,
    ratio_and_bend,
    table,
)

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

_vector = types.Array(float64, 1, "C", readonly=True)
_labels = types.Array(int64, 1, "C", readonly=True)
_compiled = compiler_options()


def log_z(
    quadrature: tuple[Floats, Floats],
    y: Positions,
    mean: Floats,
    variance: Floats,
) -> Floats:
    """log Z of every row."""
    result = np.empty(len(y))
    _log_z(LOG_CDF, RATIO, *quadrature, *_contiguous(y, mean, variance), result)
    return result


def moments(
    quadrature: tuple[Floats, Floats],
    y: Positions,
    mean: Floats,
    variance: Floats,
) -> Moments:
    """(log_z, alpha, nu) of every row."""
    results = np.empty(len(y)), np.empty(mean.shape), np.empty(mean.shape)
    _moments(LOG_CDF, RATIO, *quadrature, *_contiguous(y, mean, variance), *results)
    return Moments(*results)


def _contiguous(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    return [np.ascontiguousarray(array) for array in arrays]


@numba.njit
def _centre(z: Floats, count: int, ratio: Floats) -> tuple[float, float]:
    """Where the integrand has its maximum, by Newton's method from the left, and its width."""
    u, step, curvature = 0.0, 1.0, 1.0
    while step > 1e-3 * (1.0 + u):
        slope, curvature = -u, 1.0
        for c in range(count):
            h, bend = ratio_and_bend(u + z[c], ratio)
            slope += h
            curvature += bend
        step = slope / curvature
        u += step
    return u, 1.0 / math.sqrt(curvature)


@numba.njit
def _differences(i: int, own: int, width: float, mean: Floats, z: Floats) -> int:
    """How far a row's own class is ahead of each other one, in units of the width."""
    count = 0
    for c in range(len(mean)):
        if c != own:
            z[count] = (mean[own, i] - mean[c, i]) / width
            count += 1
    return count


@numba.njit(
    types.void(table, table, _vector, _vector, _labels, table, _vector, float64[::1]),
    **_compiled,
)
def _log_z(
    log_phi: Floats,
    ratio: Floats,
    nodes: Floats,
    log_weights: Floats,
    y: Positions,
    mean: Floats,
    variance: Floats,
    log_z: Floats,
) -> None:
    z, at = np.empty(len(mean)), np.empty(len(nodes))
    for i in range(len(y)):
        count = _differences(i, y[i], math.sqrt(variance[i] + 1.0), mean, z)
        u, width = _centre(z, count, ratio)
        for k in range(len(nodes)):
            t = u + width * nodes[k]
            value = log_weights[k] - t * t / 2.0
            for c in range(count):
                h = 0.0 if abs(t + z[c]) <= 8.0 else ratio_and_bend(t + z[c], ratio)[0]
                value += log_cdf(t + z[c], h, log_phi)
            at[k] = value
        most, total = at.max(), 0.0
        for k in range(len(nodes)):
            total += math.exp(at[k] - most)
        log_z[i] = most + math.log(width * total)


@numba.njit(
    types.void(
        table,
        table,
        _vector,
        _vector,
        _labels,
        table,
        _vector,
        float64[::1],
        float64[:, ::1],
        float64[:, ::1],
    ),
    **_compiled,
)
def _moments(
    log_phi: Floats,
    ratio: Floats,
    nodes: Floats,
    log_weights: Floats,
    y: Positions,
    mean: Floats,
    variance: Floats,
    log_z: Floats,
    alpha: Floats,
    nu: Floats,
) -> None:
    z, at = np.empty(len(mean)), np.empty(len(nodes))
    slopes, bends = np.empty((2, len(nodes), len(mean)))
    all_slopes = np.empty(len(nodes))
    for i in range(len(y)):
        width = math.sqrt(variance[i] + 1.0)
        own = y[i]
        count = _differences(i, own, width, mean, z)
        u, spread = _centre(z, count, ratio)
        for k in range(len(nodes)):
            t = u + spread * nodes[k]
            value, together = log_weights[k] - t * t / 2.0, 0.0
            for c in range(count):
                h, bend = ratio_and_bend(t + z[c], ratio)
                value += log_cdf(t + z[c], h, log_phi)
                slopes[k, c], bends[k, c] = h, bend
                together += h
            at[k], all_slopes[k] = value, together
        most, total = at.max(), 0.0
        for k in range(len(nodes)):
            at[k] = math.exp(at[k] - most)
            total += at[k]
        log_z[i] = most + math.log(spread * total)
        for k in range(len(nodes)):
            at[k] /= total
        mean_of_all, bend_of_all = 0.0, 0.0
        for c in range(count):
            slope, bend = 0.0, 0.0
            for k in range(len(nodes)):
                slope += at[k] * slopes[k, c]
                bend += at[k] * bends[k, c]
            mean_of_all += slope
            bend_of_all += bend
            for k in range(len(nodes)):
                bend -= at[k] * (slopes[k, c] - slope) ** 2
            other = c if c < own else c + 1
            alpha[other, i] = -slope / width
            nu[other, i] = max(bend / (width * width), LEAST_NU)
        for k in range(len(nodes)):
            bend_of_all -= at[k] * (all_slopes[k] - mean_of_all) ** 2
        alpha[own, i] = mean_of_all / width
        nu[own, i] = max(min(bend_of_all, BELOW_ONE) / (width * width), LEAST_NU)
