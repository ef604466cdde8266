"""The marginal likelihood of the sites: the objective of the informative vector machine."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from sgpc_framework.authors import Floats, Loss, Trial, additive_form, positive_number
from sgpc_plugins.objectives.prior import with_prior


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

    def loss(self, trial: Trial) -> Loss:
        return with_prior(trial.of_gram(_gram_loss), trial, self.prior_width)


def _gram_loss(K: Floats, precision: Floats, mean: Floats) -> tuple[float, Floats]:
    """-log N(m; 0, K + Π⁻¹) and its derivative by K."""
    # Stage by stage: mₜ given the sites before it is N(meanₜ, 1/ηₜ), and mₜ - meanₜ = α̃ₜ/ηₜ.
    form = additive_form(K, precision, mean)
    surprise = form.coefficient**2 / form.shrinkage - np.log(form.shrinkage)
    value = 0.5 * float(np.sum(surprise + np.log(2.0 * np.pi)))
    weights = np.atleast_2d(form.weights)  # (K + Π⁻¹)⁻¹ m of each latent function
    return value, 0.5 * (len(weights) * (form.T.T @ form.T) - weights.T @ weights)
