"""What the likelihoods share: labels depend on the latent value as slope * y * (f + bias)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_NU = 1e-300
"""Underflow guard: where a label is all but certain, nu is smaller than any float but not zero."""


def blocks(rows: int, *, size: int = 16384) -> Iterator[slice]:
    """Consecutive slices of so many rows that the temporaries of one slice stay in the cache."""
    return (slice(start, start + size) for start in range(0, rows, size))


def standardise(
    slope: float, bias: float, y: Floats, mean: Floats, variance: Floats
) -> tuple[Floats, Floats]:
    """z = y (mean + bias) / width and width = √(variance + slope⁻²), for the probit family.

    This is slope y (mean + bias) / √(1 + slope² variance) in fewer passes over the rows: a probit
    is a step function whose argument carries noise of variance slope⁻².
    """
    width = variance + slope**-2
    np.sqrt(width, out=width)
    z = mean + bias
    z *= y
    z /= width
    return z, width


def probit_gradient(
    slope: float, bias: float, mean: Floats, variance: Floats, alpha: Floats, cotangent: Floats
) -> tuple[float, float]:
    """sum(cotangent * d log_z / dθ) for θ = slope and bias, for any function of the above z.

    d log_z / d slope = alpha (mean + bias) / (slope (1 + slope² variance))
    d log_z / d bias  = alpha
    """
    d_bias = cotangent * alpha
    d_slope = (mean + bias) / (slope * (1.0 + slope**2 * variance))
    return float(d_slope @ d_bias), float(d_bias.sum())
