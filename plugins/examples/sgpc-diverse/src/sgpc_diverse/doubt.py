"""Selectors that go by what the model makes of labels: one reads in passes, one trades off."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np
from numpy.typing import NDArray
from sgpc_framework.authors import Floats, Posterior, Rows, positive_number, whole_number


@attrs.define(eq=False)
class Pass:
    """The order in which rows are read, where the next batch begins, and how many were fine."""

    rows: NDArray[np.intp]
    next: int = 0
    fine: int = 0


@final
@attrs.frozen
class ActiveSet:
    """Of the next batch of rows, the one that is predicted worst, if it is predicted badly.

        include j = argmin Zⱼ over ``batch`` rows, if Zⱼ < ``threshold``; otherwise read on

    Zⱼ is the predictive probability of the row's own label. Rows are read in an order that is drawn
    once, in as many passes as it takes; when a whole pass finds nothing, the stages end. (The
    original also forgets basis vectors, which is a refiner's business here: ``prune``.)

    Henao & Winther (2012), "Predictive active set selection methods for Gaussian processes".
    """

    name: ClassVar[str] = "active-set"

    batch: int = whole_number(100)
    threshold: float = positive_number(0.6)

    def begun(self, posterior: Posterior, rng: np.random.Generator) -> Pass:
        return Pass(rng.permutation(len(posterior)))

    def propose(self, posterior: Posterior, rng: np.random.Generator, memory: Pass) -> int | None:
        while memory.fine < len(memory.rows):
            batch = memory.rows[memory.next : memory.next + self.batch]
            memory.next = (memory.next + len(batch)) % len(memory.rows)
            candidates = posterior.candidates(batch)
            log_z = np.where(candidates.eligible, candidates.at.log_z, np.inf)
            worst = int(np.argmin(log_z))
            if log_z[worst] < np.log(self.threshold):
                memory.fine = 0
                return int(candidates.index[worst])
            memory.fine += len(batch)
        return None if posterior.size else posterior.argmin(_log_z)


@final
@attrs.frozen
class QualityDiversity:
    """The next point of the greedy mode of a determinantal point process with qualities.

        j = argmax qⱼ² Aⱼⱼ,   qⱼ = (1 - Zⱼ)^``quality``

    The kernel qᵢ k(xᵢ, xⱼ) qⱼ makes sets likely whose members are good and unlike each other; Aⱼⱼ,
    the posterior variance, is what the set so far leaves of k(xⱼ, xⱼ). Good is here what the model
    still gets wrong. With ``quality`` near zero it is ``conditional-variance``.

    Moss, Ober & Picheny (2023), "Inducing point allocation for sparse Gaussian processes in
    high-throughput Bayesian optimisation".
    """

    name: ClassVar[str] = "quality-diversity"

    quality: float = positive_number(0.5)

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> int:
        def loss(rows: Rows) -> Floats:
            wrong = np.maximum(-np.expm1(rows.log_z), 1e-300)
            return rows.weighed(-(wrong ** (2.0 * self.quality)) * rows.variance)

        return posterior.argmin(loss)


def _log_z(rows: Rows) -> Floats:
    return rows.log_z
