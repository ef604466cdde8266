"""Selectors that draw a working set and include the best of it, each row tried with its site."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.authors import Candidates, Floats, Posterior, Rows, Steps, whole_number


@attrs.frozen
class AdaptiveSampling:
    """The paper's proposal: a small working set of rows that the model still gets wrong.

    ``working_set`` inactive rows are drawn without replacement with weights (eq. 11)

        χⱼ ∝ 1 - Zⱼ,   Zⱼ = the predictive probability of the row's own label,

    and the one whose inclusion gives the least NLP over all rows is taken (eqs. 5 and 10).
    """

    name: ClassVar[str] = "adaptive-sampling"

    working_set: int = whole_number(2)

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> NDArray[np.intp]:
        return posterior.sample(_chance_of_error, self.working_set, rng)


@attrs.frozen
class RandomSampling:
    """A working set drawn uniformly; the row with the least NLP over all rows (eqs. 5, 10)."""

    name: ClassVar[str] = "random-sampling"

    working_set: int = whole_number(59)

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> NDArray[np.intp]:
        return posterior.sample(equal_weight, self.working_set, rng)


@attrs.frozen
class Validation:
    """A working set drawn uniformly; the row with the least NLP over the inactive rows (eq. 4).

    Fifty-nine uniform draws contain one of the best 5 % of the rows with probability 0.95.
    """

    name: ClassVar[str] = "validation"

    working_set: int = whole_number(59)

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> NDArray[np.intp]:
        return posterior.sample(equal_weight, self.working_set, rng)

    def score(self, posterior: Posterior, candidates: Candidates, steps: Steps) -> Floats:
        # One row more is active for every candidate alike, so the sums rank as the means do.
        return -posterior.total(_evidence_of_inactive, candidates, steps)


def _chance_of_error(rows: Rows) -> Floats:
    # 1 - Z, but -log Z where Z is so near one that the difference would lose its digits: expm1
    # does the same at many times the price, and this is done for every row at every stage.
    chance = np.exp(rows.log_z)
    np.subtract(1.0, chance, out=chance)
    if chance.min() < 1e-8:
        tiny = chance < 1e-8
        chance[tiny] = -rows.log_z[tiny]
    return chance


def equal_weight(rows: Rows) -> Floats:
    """One for every row: a uniform draw."""
    return np.ones(len(rows))


def _evidence_of_inactive(rows: Rows) -> Floats:
    return np.where(rows.active, 0.0, rows.log_z)
