"""The refiner of the paper, which never revisits a site."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from sgpc_framework.authors import Refined, State, Tell, TrainingRows, predictive_loss


@attrs.frozen
class NoRefiner:
    """The fitted state as it is."""

    name: ClassVar[str] = "none"

    def loss(self, state: State, rows: TrainingRows) -> float:
        """NLP over all rows (eq. 5)."""
        return predictive_loss(state, rows)

    def refine(
        self, state: State, rows: TrainingRows, rng: np.random.Generator, tell: Tell
    ) -> Refined:
        return Refined(state)
