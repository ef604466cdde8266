"""The Matérn kernels of half-integer smoothness, which are an exponential times a polynomial.

The squared distance r² is scaled to s² = 2ν r², and all slopes are with respect to r². Those of
matern-32 and matern-52 are finite where two inputs coincide. That of matern-12 is not: its kink
there has the slope zero, the mean of both sides.
"""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from sgpc_framework.authors import Exp, Expression, Floats
from sgpc_plugins.kernels.stationary import Profile, Stationary


@final
@attrs.frozen
class Matern12(Stationary):
    """Continuous functions with kinks everywhere (Ornstein-Uhlenbeck).

        k(x, z) = variance · exp(-r),  r² = Σ_f (x_f - z_f)² / lengthscale_f²

    ``variance`` is the prior variance of the function, ``lengthscale`` the distance over which it
    changes: a number, one for each feature, ``"median"`` or ``"median-per-feature"``.

    >>> Matern12(lengthscale=2.0)(np.array([[0.0], [2.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.368]])
    """

    name: ClassVar[str] = "matern-12"

    def profile(self) -> Profile:
        return Profile(_value_12, _slope_12, _formula_12)


@final
@attrs.frozen
class Matern32(Stationary):
    """Functions with one derivative.

        k(x, z) = variance · (1 + s) exp(-s),  s² = 3 Σ_f (x_f - z_f)² / lengthscale_f²

    ``variance`` is the prior variance of the function, ``lengthscale`` the distance over which it
    changes: a number, one for each feature, ``"median"`` or ``"median-per-feature"``.

    >>> Matern32(lengthscale=2.0)(np.array([[0.0], [2.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.483]])
    """

    name: ClassVar[str] = "matern-32"

    def profile(self) -> Profile:
        return Profile(_value_32, _slope_32, _formula_32)


@final
@attrs.frozen
class Matern52(Stationary):
    """Functions with two derivatives.

        k(x, z) = variance · (1 + s + s²/3) exp(-s),  s² = 5 Σ_f (x_f - z_f)² / lengthscale_f²

    ``variance`` is the prior variance of the function, ``lengthscale`` the distance over which it
    changes: a number, one for each feature, ``"median"`` or ``"median-per-feature"``.

    >>> Matern52(lengthscale=2.0)(np.array([[0.0], [2.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.524]])
    """

    name: ClassVar[str] = "matern-52"

    def profile(self) -> Profile:
        return Profile(_value_52, _slope_52, _formula_52)


def _value_12(r2: Floats) -> Floats:
    r = np.sqrt(r2, out=r2)
    return np.exp(np.negative(r, out=r), out=r)


def _slope_12(r2: Floats, K: Floats) -> Floats:
    """-K / (2r)"""
    r = np.sqrt(r2)
    slope: Floats = np.divide(K, r, out=np.zeros_like(K), where=r > 0.0)
    slope *= -0.5
    return slope


def _value_32(r2: Floats) -> Floats:
    s = _scaled_distance(3.0, r2)
    decay = _decay(s)
    s += 1.0
    s *= decay
    return s


def _slope_32(r2: Floats, K: Floats) -> Floats:
    """-3/2 exp(-s), where exp(-s) = K / (1 + s)"""
    s = _scaled_distance(3.0, r2)
    s += 1.0
    slope: Floats = np.divide(K, s, out=s)
    slope *= -1.5
    return slope


def _value_52(r2: Floats) -> Floats:
    s = _scaled_distance(5.0, r2)
    decay = _decay(s)
    r2 *= 5.0 / 3.0
    r2 += s
    r2 += 1.0
    r2 *= decay
    return r2


def _slope_52(r2: Floats, K: Floats) -> Floats:
    """-5/6 (1 + s) exp(-s), where exp(-s) = K / (1 + s + s²/3)"""
    s = _scaled_distance(5.0, r2)
    s += 1.0
    polynomial = (5.0 / 3.0) * r2
    polynomial += s
    s *= K
    s /= polynomial
    s *= -5.0 / 6.0
    return s


def _formula_12(r2: Expression) -> Expression:
    return Exp(-1.0 * r2**0.5)


def _formula_32(r2: Expression) -> Expression:
    s = (3.0 * r2) ** 0.5
    return (1.0 + s) * Exp(-1.0 * s)


def _formula_52(r2: Expression) -> Expression:
    s = (5.0 * r2) ** 0.5
    return (1.0 + s + 5.0 / 3.0 * r2) * Exp(-1.0 * s)


def _scaled_distance(factor: float, r2: Floats) -> Floats:
    s: Floats = factor * r2
    return np.sqrt(s, out=s)


def _decay(s: Floats) -> Floats:
    decay: Floats = -s
    return np.exp(decay, out=decay)
