"""Sites by moment matching: assumed density filtering."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from sgpc_framework.authors import Candidates, Posterior, Steps

LEAST_SHARE = 1e-6
"""The share of its variance that a site takes when matching would take none or add some."""


@attrs.frozen
class MomentMatching:
    """The site that gives the new posterior the mean and variance of the exact one (eq. 2).

        coefficient = αⱼ        shrinkage = νⱼ

    Several latent functions have one variance, and the closest to the exact posterior (in relative
    entropy, as for one function) has the mean of theirs: the shrinkage is the mean of νⱼ.

    Equivalently pⱼ = νⱼ / (1 - νⱼ Aⱼⱼ) and mⱼ = f̂ⱼ + αⱼ / νⱼ. Where a likelihood is not log-concave
    ν may be negative, which asks for a larger variance; such a site keeps its coefficient and
    takes a millionth of the variance, so that every precision is positive.
    """

    name: ClassVar[str] = "moment-matching"

    def estimate(self, posterior: Posterior, candidates: Candidates) -> Steps:
        at = candidates.at
        shrinkage = at.shrinkage
        if not min(shrinkage.ravel().tolist()) > 0.0:
            shrinkage = np.where(shrinkage > 0.0, shrinkage, LEAST_SHARE / at.variance)
        return Steps(at.alpha, shrinkage)
