"""The marginal likelihood of the sites: the objective of the informative vector machine."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.additive import additive_form
from sgpc_framework.parts.options import positive_number
from sgpc_plugins.objectives.prior import normal_prior

Floats = NDArray[np.float64]


@attrs.frozen
class MarginalLikelihood:
    """Minus the log marginal likelihood of the site means, with a weak prior.

        -log N(m_u; 0, K_uu + Π⁻¹) + ½ Σ (log θ - log θ₀)² / prior_width²

    Sites that moment matching made under a wrong scale confirm that scale: for uncorrelated basis
    vectors m² equals variance + 1/p whatever the kernel's variance is. Without the prior, the outer
    loop therefore drifts where the noise drives it, often to a kernel that predicts log 2. The
    prior is log-normal around the values that the fit started from; ``prior_width`` is its standard
    deviation in free coordinates (one is a factor of e).
    """

    name: ClassVar[str] = "marginal-likelihood"

    prior_width: float = positive_number(0.5)

    def gram_loss(self, K: Floats, precision: Floats, mean: Floats) -> tuple[float, Floats]:
        # Stage by stage: mₜ given the sites before it is N(meanₜ, 1/ηₜ), and mₜ - meanₜ = α̃ₜ/ηₜ.
        form = additive_form(K, precision, mean)
        surprise = form.coefficient**2 / form.shrinkage - np.log(form.shrinkage)
        value = 0.5 * float(np.sum(surprise + np.log(2.0 * np.pi)))
        weights = form.functions.T @ form.coefficient  # (K + Π⁻¹)⁻¹ m
        return value, 0.5 * (form.T.T @ form.T - np.outer(weights, weights))

    def penalty(self, displacement: Floats) -> tuple[float, Floats]:
        return normal_prior(displacement, self.prior_width)
