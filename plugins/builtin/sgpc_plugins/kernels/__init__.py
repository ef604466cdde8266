"""The built-in kernels: prior covariances of feature vectors, and how to combine any kernels."""

from __future__ import annotations

from sgpc_framework.authors import Kernel, hookimpl
from sgpc_plugins.kernels.composite import Product, Sum
from sgpc_plugins.kernels.constant import Constant
from sgpc_plugins.kernels.dot_product import Linear, Polynomial
from sgpc_plugins.kernels.mahalanobis import Mahalanobis
from sgpc_plugins.kernels.matern import Matern12, Matern32, Matern52
from sgpc_plugins.kernels.periodic import Periodic
from sgpc_plugins.kernels.rational_quadratic import RationalQuadratic
from sgpc_plugins.kernels.squared_exponential import SquaredExponential
from sgpc_plugins.kernels.stretched import Stretched
from sgpc_plugins.kernels.warped import Warped

__all__ = [
    "Constant",
    "Linear",
    "Mahalanobis",
    "Matern12",
    "Matern32",
    "Matern52",
    "Periodic",
    "Polynomial",
    "Product",
    "RationalQuadratic",
    "SquaredExponential",
    "Stretched",
    "Sum",
    "Warped",
]


@hookimpl
def sgpc_kernels() -> list[type[Kernel]]:
    """All of them."""
    return [
        SquaredExponential,
        Matern12,
        Matern32,
        Matern52,
        RationalQuadratic,
        Periodic,
        Linear,
        Polynomial,
        Constant,
        Sum,
        Product,
        Warped,
        Mahalanobis,
        Stretched,
    ]
