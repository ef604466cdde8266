"""The additive model in closed form: from a Gram matrix and sites to basis functions.

The stages of Algorithm 1 build basis functions k̃(., xⱼ) one after the other. For given sites the
same functions come from one Cholesky factorisation, which is what prediction and step 6 need:

    B = I + Π^½ K_uu Π^½ = L Lᵀ        T = L⁻¹ Π^½        M(x) = T k_u(x)
    mean(x) = M(x)ᵀ T m                variance(x) = k(x, x) - M(x)ᵀ M(x)

Row t of M is √ηₜ k̃ₜ, so dividing T by √η gives F, unit lower triangular, with k̃(x) = F k_u(x).
All eigenvalues of B are at least one: nothing here is ill-conditioned, however small a precision
is or however close two basis vectors are. The first t rows and columns are the model of t stages.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtri

from sgpc_framework.errors import NumericalError

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class AdditiveForm:
    """Basis functions and what each contributes.

    ``functions`` is F, with k̃(x) = F k_u(x); then (eqs. 8 and 9)

        mean(x) = Σ coefficientₜ k̃ₜ(x)
        variance(x) = k(x, x) - Σ shrinkageₜ k̃ₜ(x)²

    Latent functions that share their precisions share all but the coefficients, of which each then
    has a row: the variance is the same for all of them.
    """

    functions: Floats
    coefficient: Floats
    shrinkage: Floats

    def __len__(self) -> int:
        return len(self.shrinkage)

    @property
    def weights(self) -> Floats:
        """W m = (K_uu + Π⁻¹)⁻¹ m, with mean(x) = (W m)ᵀ k_u(x); of several functions a row each."""
        weights: Floats = (self.functions.T @ self.coefficient.T).T
        return weights

    @property
    def T(self) -> Floats:
        """L⁻¹ Π^½, with M(x) = T k_u(x)."""
        return np.sqrt(self.shrinkage)[:, None] * self.functions


@attrs.frozen(eq=False)
class Factor:
    """B = I + Π^½ K Π^½ = L Lᵀ: the lower triangular L and its inverse."""

    L: Floats
    inverse: Floats

    def form(self, precision: Floats, mean: Floats) -> AdditiveForm:
        """The additive form of the sites whose precisions are in the factor."""
        root = np.sqrt(precision)
        root_shrinkage = root / np.diag(self.L)
        functions = self.inverse * (root / root_shrinkage[:, None])
        coefficient = root_shrinkage**2 * (functions @ mean.T).T
        return AdditiveForm(functions, coefficient, root_shrinkage**2)


def additive_form(K: Floats, precision: Floats, mean: Floats) -> AdditiveForm:
    """The additive form of sites (precision, mean) on basis vectors with Gram matrix ``K``.

    ``mean`` has a row for each latent function, if there are several.
    """
    return factorised(K, precision).form(precision, mean)


def factorised(K: Floats, precision: Floats) -> Factor:
    """The factor of B = I + Π^½ K Π^½."""
    L = _cholesky(_system(K, np.sqrt(precision)))
    if not len(L):
        return Factor(L, L)
    inverse, _ = dtrtri(L, lower=True)
    return Factor(L, inverse)


def sound_prefix(K: Floats, precision: Floats) -> int:
    """How many leading stages have a Cholesky factor: all of them, if K is a Gram matrix."""
    try:
        _cholesky(_system(K, np.sqrt(precision)))
        return len(K)
    except NumericalError:
        return len(_pivots(K, precision)) - 1


def smallest_pivot(K: Floats, precision: Floats) -> float:
    """The smallest pivot of B, or the first that is not positive; at least 1 if K is a Gram matrix.

    For error texts: it says how far a kernel is from being positive semidefinite.
    """
    return float(np.min(_pivots(K, precision), initial=np.inf))


def _pivots(K: Floats, precision: Floats) -> list[float]:
    """The pivots of B by plain elimination, up to and including the first that is not positive."""
    B = _system(K, np.sqrt(precision))
    pivots: list[float] = []
    for i in range(len(B)):
        pivots.append(float(B[i, i]))
        if not pivots[-1] > 0.0:
            break
        with np.errstate(all="ignore"):  # what is not finite is refused
            B[i + 1 :, i + 1 :] -= np.outer(B[i + 1 :, i], B[i, i + 1 :]) / pivots[-1]
    return pivots


def _system(K: Floats, root: Floats) -> Floats:
    with np.errstate(over="ignore"):  # what is not finite is refused
        B = root[:, None] * K * root
    B.flat[:: len(B) + 1] += 1.0  # the diagonal
    return B


def _cholesky(B: Floats) -> Floats:
    if not np.all(np.isfinite(B)):
        raise NumericalError("the Gram matrix of the basis vectors is not finite")
    L, failed = dpotrf(B, lower=True) if len(B) else (B, 0)
    if failed:
        raise NumericalError(
            "I + Π^½ K Π^½ of the basis vectors has no Cholesky factor: "
            "the kernel is not positive semidefinite"
        )
    return np.asarray(L)
