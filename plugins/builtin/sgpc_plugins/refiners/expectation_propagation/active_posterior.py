"""The posterior of the basis vectors' own latent values, whose sites can be exchanged one by one.

Sites with precisions p and shifts h = p m on basis vectors with Gram matrix K give

    q(f_u) = N(mean, Σ),   Σ = (K⁻¹ + Π)⁻¹ = K - K Π^½ B⁻¹ Π^½ K,   mean = Σ h

with B = I + Π^½ K Π^½. Taking site j away again leaves the cavity of row j (its leave-one-out
prediction), whose variance is Σⱼⱼ / (1 - pⱼ Σⱼⱼ). The denominator is the diagonal of B⁻¹. It is
kept as such, because the difference has lost its digits where a site decides nearly alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.authors import ROUNDING, Floats, additive_form


class ActivePosterior:
    """N(mean, covariance) of the latent values of the basis vectors, under given sites.

    ========== ==================================================================
    precision  pⱼ of every site
    shift      hⱼ = pⱼ mⱼ, the site's other natural parameter
    mean       the posterior mean
    covariance Σ
    left       1 - pⱼ Σⱼⱼ: the share of row j's information that is not its own site's
    ========== ==================================================================

    Several latent functions have a row of shifts and of means each, and share the rest. Made by one
    Cholesky factorisation, O(d³). ``exchange`` changes it in place, O(d²).
    """

    def __init__(self, K: Floats, precision: Floats, shift: Floats) -> None:
        form = additive_form(K, precision, shift / precision)
        T = form.T
        M = T @ K
        self._prior = np.diag(K)
        self.precision, self.shift = precision.copy(), shift.copy()
        self.covariance = K - M.T @ M
        self.mean = (form.coefficient / np.sqrt(form.shrinkage)) @ M
        self.left = np.sum((T / np.sqrt(precision)) ** 2, axis=0)  # L⁻¹ = T Π^-½

    def __len__(self) -> int:
        return len(self.precision)

    @property
    def variance(self) -> Floats:
        """The diagonal of Σ."""
        return np.diag(self.covariance)

    def is_proper(self) -> NDArray[np.bool_]:
        """Whether row j has a cavity: some variance, and no more of it than the prior.

        Precisions above zero leave no other way, so what is improper is so by rounding: a row that
        has no variance left, or a site so sharp that nothing is known of the others.
        """
        rounding = ROUNDING["float64"]
        narrowest = rounding.spent * self._prior
        widest = (1.0 + rounding.below_zero) * self.left * self._prior
        proper: NDArray[np.bool_] = (narrowest < self.variance) & (self.variance <= widest)
        return proper

    def cavity(self, j: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Mean and variance of rows j, each without its own site."""
        variance = self.variance[j] / self.left[j]
        mean = self.mean[..., j]
        pull = self.shift[..., j] - self.precision[j] * mean
        return mean - variance * pull, variance

    def exchange(self, j: int, precision: float, shift: Floats | float) -> None:
        """Give row j another site. With δp and δh the changes of its parameters and s = Σ[:, j],

        Σ -= δp s sᵀ / (1 + δp Σⱼⱼ)        mean += (δh - δp meanⱼ) s / (1 + δp Σⱼⱼ)
        """
        s, left = self.covariance[:, j].copy(), self.left[j]
        total = left + precision * s[j]  # 1 + δp Σⱼⱼ, without a difference
        change = precision - self.precision[j]
        moved = (shift - self.shift[..., j] - change * self.mean[..., j]) / total
        self.mean += np.multiply.outer(moved, s)
        self.covariance -= np.outer(change / total * s, s)
        self.left += self.precision * (change / total * s**2)
        self.left[j] = left / total
        self.precision[j], self.shift[..., j] = precision, shift
