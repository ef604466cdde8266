"""The refiner of the paper, which never revisits a site."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from sgpc_framework.engine.refinement import Refinable


@attrs.frozen
class NoRefiner:
    """The fitted state as it is."""

    name: ClassVar[str] = "none"

    def loss(self, fitted: Refinable) -> float:
        """NLP over all rows (eq. 5)."""
        return fitted.predictive_loss()

    def refine(self, fitted: Refinable, rng: np.random.Generator) -> Refinable:
        return fitted
