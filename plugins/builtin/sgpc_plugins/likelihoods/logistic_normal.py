"""E[σ(f)] for f ~ N(m, v) and its derivatives with respect to m, to near machine precision.

There is no closed form, but there are two series. With w = e^-|f|,

    σ(f) = w - w² + w³ - ...   for f < 0,        σ(f) = 1 - w + w² - ...   for f > 0,

and the expectation of each power of w over its half line is an error function. By symmetry only
m = -a <= 0 is needed; with s = √v and erfcx(x) = exp(x²) erfc(x),

    Lₖ = E[wᵏ; f < 0] = ½ exp(-a²/2v) erfcx((kv - a) / s√2)
    Uₖ = E[wᵏ; f > 0] = ½ exp(-a²/2v) erfcx((kv + a) / s√2)

The series converge slowly or not at all, but they alternate and their terms are moments of a
positive measure on [0, 1]: the algorithm of Cohen, Rodriguez Villegas and Zagier ("Convergence
acceleration of alternating series", 2000) sums them with an error of 5.8^-N from N terms, whatever
m and v are. The expectations of σ', σ'', σ² and σ³ are the same terms with other coefficients,
so that one set of terms gives them all. No quadrature nodes have to be placed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx

Floats = NDArray[np.float64]

_TERMS = 24
_BELOW_ONE = 1.0 - 1e-14
_LEAST_VARIANCE = 1e-30  # stands for zero: σ does not change over 1e-15


class LogisticNormal(NamedTuple):
    """Of Z(m) = E[σ(f)]: log Z, Z'/Z, Z''/Z and -(log Z)''."""

    log_z: Floats
    slope: Floats
    bend: Floats
    nu: Floats


def logistic_normal(m: Floats, v: Floats) -> LogisticNormal:
    """log E[σ(f)] for f ~ N(m, v) and its derivatives.

    Relative errors are below 1e-12 for log Z and its slope. nu is a difference of numbers up to v
    times as large: its relative error is below 1e-11 up to v = 100 and grows to 2e-10 at v = 1e4.

    >>> result = logistic_normal(np.array([0.0, -1e8]), np.array([1.0, 0.0]))
    >>> result.log_z, result.slope.round(4)
    (array([-6.93147181e-01, -1.00000000e+08]), array([0.4132, 1.    ]))
    """
    v = np.maximum(v, _LEAST_VARIANCE)
    a = np.abs(m)
    negative = np.empty((4, len(m)))
    beyond = a > v
    for rows, series in ((beyond, _far), (~beyond, _near)):
        negative[:, rows] = series(a[rows], v[rows])
    left = LogisticNormal(*negative)
    right = _reflected(left)
    log_z, slope, bend, nu = (np.where(m > 0.0, *both) for both in zip(right, left, strict=True))
    # nu * v < 1 is a law of Gaussian posteriors that rounding may break where nu * v is near one.
    return LogisticNormal(log_z, slope, bend, np.minimum(nu, _BELOW_ONE / v))


def _reflected(left: LogisticNormal) -> LogisticNormal:
    """From -m to m: Z = 1 - Z(-m), Z' = Z'(-m), Z'' = -Z''(-m)."""
    log_z = np.log1p(-np.exp(left.log_z))
    odds = np.exp(left.log_z - log_z)
    slope, bend = odds * left.slope, -odds * left.bend
    return LogisticNormal(log_z, slope, bend, slope * slope - bend)


# ---------------------------------------------------------------------------------------------
# The two ranges of a = -m


def _near(a: Floats, v: Floats) -> LogisticNormal:
    """a <= v: all arguments of erfcx are positive. Scaled by exp(-a²/2v)."""
    z, d1, d2 = _summed(_NEAR, erfcx(_arguments(a, v)) / 2.0)
    slope, bend = d1 / z, d2 / z
    return LogisticNormal(np.log(z) - a * (a / v) / 2.0, slope, bend, slope * slope - bend)


def _far(a: Floats, v: Floats) -> LogisticNormal:
    """a > v: the left tail, where Z tends to E[eᶠ] = exp(-a + v/2), by which all is scaled.

    There Z'/Z tends to one and nu to zero, so they are computed from what is left:
    σ' = σ - σ² and σ'' = σ' - 2σσ' give Z'/Z = 1 - δ and nu = δ² + E[σ² - 2σ³]/Z with δ = E[σ²]/Z.
    """
    x = _arguments(a, v)
    first = x[0].copy()
    terms = erfcx(np.abs(x, out=x))
    terms *= np.exp(-first * first) / 2.0
    # erfcx(-x) = 2 exp(x²) - erfcx(x), with the large exponentials multiplied out by hand.
    k = np.arange(1.0, _TERMS + 1.0)[:, None]
    overflowing = k * v < a
    lower = terms[:_TERMS]
    np.negative(lower, out=lower, where=overflowing)
    exponent = (k - 1.0) * ((k + 1.0) * (v / 2.0) - a)
    lower += np.exp(exponent, out=np.zeros_like(exponent), where=overflowing)
    z, square, rest = _summed(_FAR, terms)
    delta, rest = square / z, rest / z
    nu = delta * delta + rest
    return LogisticNormal(np.log(z) - a + v / 2.0, 1.0 - delta, 1.0 - 2.0 * delta - rest, nu)


def _summed(weights: Floats, terms: Floats) -> Floats:
    """weights @ terms, one term after the other.

    A product of matrices would let the last bits of a row depend on how many rows come with it:
    rows that tie exactly would then be told apart by the size of a block.
    """
    sums = np.zeros((len(weights), terms.shape[1]))
    for column, term in zip(weights.T, terms, strict=True):
        sums += column[:, None] * term
    return sums


def _arguments(a: Floats, v: Floats) -> Floats:
    """(kv - a) / s√2 for k = 1..N, then (kv + a) / s√2 for k = 0..N-1: one row for each term."""
    x = np.empty((2 * _TERMS, len(a)))
    k = np.arange(_TERMS + 1.0)
    np.subtract(np.multiply.outer(k[1:], v), a, out=x[:_TERMS])
    np.add(np.multiply.outer(k[:-1], v), a, out=x[_TERMS:])
    x /= np.sqrt(2.0 * v)
    return x


# ---------------------------------------------------------------------------------------------
# The fixed matrices: an accelerated alternating sum for each function of σ


def _acceleration(n: int) -> Floats:
    """Weights cₖ with Σ (-1)ᵏ cₖ aₖ ≈ Σ (-1)ᵏ aₖ, the first sum over k < n.

    They are the tail sums of the coefficients of the Chebyshev polynomial Tₙ(1 + 2x), divided by
    the sum of all: integers, so that nothing is lost.
    """
    chebyshev = [n * math.comb(n + j, 2 * j) * 4**j // (n + j) for j in range(n + 1)]
    total = sum(chebyshev)
    return np.array([sum(chebyshev[k + 1 :]) / total for k in range(n)])


def _weights(lower: Callable[[Floats], Floats], upper: Callable[[Floats], Floats]) -> Floats:
    """A row of a matrix: Σ (-1)ᵏ⁻¹ lower(k) Lₖ from k = 1, plus Σ (-1)ᵏ upper(k) Uₖ from k = 0."""
    k = np.arange(float(_TERMS))
    alternating = _acceleration(_TERMS) * (-1.0) ** k
    return np.concatenate([alternating * lower(k + 1.0), alternating * upper(k)])


_SIGMOID = _weights(np.ones_like, np.ones_like)
_NEAR = np.array(
    [
        _SIGMOID,
        _weights(lambda k: k, lambda k: -k),  # σ'
        _weights(lambda k: k**2, lambda k: k**2),  # σ''
    ]
)
_FAR = np.array(
    [
        _SIGMOID,
        _weights(lambda k: 1.0 - k, lambda k: k + 1.0),  # σ²
        _weights(lambda k: -((k - 1.0) ** 2), lambda k: -((k + 1.0) ** 2)),  # σ² - 2σ³
    ]
)
