"""The numbers behind the links, which every language gets as constants.

All of them need one special function only, erfcx(x) = exp(x²) erfc(x) for x >= 0. Times 1 + 2x it
is smooth and bounded in t = (x - POLE) / (x + POLE), which maps all x >= 0 to [-1, 1): a Chebyshev
series there has the precision of the machine (Shepherd & Laframboise, "Chebyshev approximation of
(1 + 2x) exp(x²) erfc x in 0 ≤ x < ∞", 1981).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx

Floats = NDArray[np.float64]

POLE = 3.75
DEGREE = 30
TERMS = 24
NODES = 16


@cache
def chebyshev() -> tuple[float, ...]:
    """The coefficients of (1 + 2x) erfcx(x), the constant first."""

    t = np.polynomial.chebyshev.chebpts1(DEGREE + 1)
    x = POLE * (1.0 + t) / (1.0 - t)
    fitted = np.polynomial.chebyshev.chebfit(t, (1.0 + 2.0 * x) * erfcx(x), DEGREE)
    return tuple(map(float, fitted))


@cache
def alternating() -> tuple[float, ...]:
    """Weights wₖ with Σ wₖ aₖ ≈ Σ (-1)ᵏ aₖ, the first sum over k < TERMS only.

    Cohen, Rodriguez Villegas & Zagier, "Convergence acceleration of alternating series" (2000). By
    them E[1 / (1 + e⁻ᶠ)] for normal f is a sum of some erfcx.
    """
    n = TERMS
    polynomial = [n * math.comb(n + j, 2 * j) * 4**j // (n + j) for j in range(n + 1)]
    total = sum(polynomial)
    return tuple((-1) ** k * sum(polynomial[k + 1 :]) / total for k in range(n))


@cache
def quadrature() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Nodes, and the logarithms of their weights for a density that is normal where it is moved."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    logarithms = np.log(weights / np.sqrt(2.0 * np.pi)) + nodes**2 / 2.0
    return tuple(nodes.tolist()), tuple(logarithms.tolist())
