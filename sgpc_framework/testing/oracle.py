"""The dense oracle: the same posterior by textbook algebra, slowly, with nothing incremental.

Every fast path is judged against this module. It forms n x n matrices and shares no code with what
it judges.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.protocols import Inputs, Kernel

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class DensePosterior:
    """q_u(f) = N(mean, covariance) at some rows."""

    mean: Floats
    covariance: Floats

    @property
    def variance(self) -> Floats:
        """The diagonal of the covariance."""
        return np.diag(self.covariance).copy()


def dense_posterior(
    kernel: Kernel,
    X: Inputs,
    basis: NDArray[np.intp],
    precision: Floats,
    mean: Floats,
    at: Inputs | None = None,
) -> DensePosterior:
    """The posterior under sites exp(-p (f - m)² / 2) on the basis rows of X, at rows ``at`` or X.

    In the textbook's words:

        C = K_uu + Π⁻¹,   mean = K_.u C⁻¹ m,   covariance = K - K_.u C⁻¹ K_u.
    """
    inputs = X[np.asarray(basis, dtype=np.intp)]
    rows = X if at is None else at
    K = kernel(rows, rows)
    if len(inputs) == 0:
        return DensePosterior(np.zeros(len(rows)), K)
    root = np.sqrt(precision)
    B = np.eye(len(root)) + root[:, None] * kernel(inputs, inputs) * root
    K_scaled = kernel(rows, inputs) * root
    return DensePosterior(
        K_scaled @ np.linalg.solve(B, root * mean),
        K - K_scaled @ np.linalg.solve(B, K_scaled.T),
    )


def dense_moments(
    log_likelihood: Floats, nodes: Floats, weights: Floats
) -> tuple[float, float, float]:
    """log Z and the mean and variance of f under p(y|f) N(f), from values at quadrature nodes."""
    top = log_likelihood.max()
    mass = weights * np.exp(log_likelihood - top)
    total = mass.sum()
    mean = mass @ nodes / total
    return float(np.log(total) + top), float(mean), float(mass @ (nodes - mean) ** 2 / total)
