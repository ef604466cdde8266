"""The rational quadratic kernel."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, final

import attrs
import numpy as np

from sgpc_framework.authors import Expression, Floats, hyperparameter
from sgpc_plugins.kernels.stationary import Profile, Stationary


@final
@attrs.frozen
class RationalQuadratic(Stationary):
    """A mixture of squared exponentials of many lengthscales.

        k(x, z) = variance · (1 + r²/(2 shape))^(-shape),  r² = Σ_f (x_f - z_f)² / lengthscale_f²

    ``variance`` is the prior variance of the function, ``lengthscale`` the distance over which it
    changes: a number, one for each feature, ``"median"`` or ``"median-per-feature"``. The smaller
    the ``shape`` (α), the wider the mixture; for a large one it is the squared exponential.

    >>> kernel = RationalQuadratic(lengthscale=1.0, shape=0.5)
    >>> kernel(np.array([[0.0], [1.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.707]])
    """

    name: ClassVar[str] = "rational-quadratic"

    shape: float = hyperparameter(1.0, bounds=(1e-2, 1e3))

    def profile(self) -> Profile:
        return Profile(
            partial(_value, self.shape),
            partial(_slope, self.shape),
            partial(_formula, self.shape),
            own=(partial(_shape_derivative, self.shape),),
        )


def _value(shape: float, r2: Floats) -> Floats:
    r2 /= 2.0 * shape
    logarithm = np.log1p(r2, out=r2)
    logarithm *= -shape
    return np.exp(logarithm, out=logarithm)


def _slope(shape: float, r2: Floats, K: Floats) -> Floats:
    """-K/2 / (1 + q), where q = r²/(2 shape)"""
    slope: Floats = r2 / shape
    slope += 2.0
    return np.divide(-K, slope, out=slope)


def _formula(shape: float, r2: Expression) -> Expression:
    return (1.0 + 0.5 / shape * r2) ** -shape


def _shape_derivative(shape: float, r2: Floats, K: Floats) -> Floats:
    """K (q/(1 + q) - log(1 + q))"""
    q = r2 / (2.0 * shape)
    derivative: Floats = q / (1.0 + q)
    derivative -= np.log1p(q, out=q)
    derivative *= K
    return derivative
