"""The squared exponential kernel."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from sgpc_framework.authors import Exp, Expression, Floats
from sgpc_plugins.kernels.stationary import Profile, Stationary


@final
@attrs.frozen
class SquaredExponential(Stationary):
    """Functions with derivatives of every order; the paper's kernel.

        k(x, z) = variance · exp(-r²/2),  r² = Σ_f (x_f - z_f)² / lengthscale_f²

    ``variance`` is the prior variance of the function (the paper's v₀), ``lengthscale`` (σ) the
    distance over which it changes: one number, one for each feature, or ``"median"`` or
    ``"median-per-feature"``, which a fit replaces by what the inputs suggest.

    >>> kernel = SquaredExponential(variance=2.0, lengthscale=1.0)
    >>> kernel(np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[2.   ],
           [1.213]])
    """

    name: ClassVar[str] = "squared-exponential"

    def profile(self) -> Profile:
        return GAUSSIAN


def _value(r2: Floats) -> Floats:
    r2 *= -0.5
    return np.exp(r2, out=r2)


def _slope(r2: Floats, K: Floats) -> Floats:
    return -0.5 * K


def _formula(r2: Expression) -> Expression:
    return Exp(-0.5 * r2)


GAUSSIAN = Profile(_value, _slope, _formula)
