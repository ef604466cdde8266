"""The selector ``lazy-entropy``: the informative vector machine without a look at every row."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np
from numpy.typing import NDArray
from sgpc_framework.authors import Floats, Posterior, Rows, positive_number, whole_number


@attrs.define(eq=False)
class Bounds:
    """What each of the drawn rows gained at most when somebody last looked."""

    rows: NDArray[np.intp]
    gains: Floats


@final
@attrs.frozen
class LazyEntropy:
    """The row of a fixed sample whose inclusion reduces the entropy of the posterior most.

        gainⱼ = -½ log(1 - νⱼ Aⱼⱼ)

    ``pool`` rows are drawn once. A gain seldom grows from stage to stage, because a variance never
    does. So what a row would have gained earlier serves as a bound: the ``batch`` rows with the
    largest bounds are looked at again, and if the best of them beats every other bound, it is taken
    and nobody else has to be asked. The stages end when nothing gains ``least_gain`` nats any more.

    Minoux (1978), "Accelerated greedy algorithms for maximizing submodular set functions";
    Lawrence, Seeger & Herbrich (2003), "Fast sparse Gaussian process methods: the informative
    vector machine".
    """

    name: ClassVar[str] = "lazy-entropy"

    pool: int = whole_number(500)
    batch: int = whole_number(10)
    least_gain: float = positive_number(1e-3)

    def begun(self, posterior: Posterior, rng: np.random.Generator) -> Bounds:
        rows = np.sort(posterior.sample(_equal, self.pool, rng))  # ties go to the lowest
        return Bounds(rows, np.full(len(rows), np.inf))

    def propose(self, posterior: Posterior, rng: np.random.Generator, memory: Bounds) -> int | None:
        while True:
            first = np.sort(np.argsort(-memory.gains, kind="stable")[: self.batch])
            candidates = posterior.candidates(memory.rows[first])
            taken = np.clip(candidates.at.shrinkage * candidates.at.variance, 0.0, 1.0 - 1e-12)
            fresh = np.where(candidates.eligible, -0.5 * np.log1p(-taken), -np.inf)
            memory.gains[first] = fresh
            best = int(memory.gains.argmax())
            if memory.gains[best] < self.least_gain:
                return None
            if best in first:
                return int(memory.rows[best])


def _equal(rows: Rows) -> Floats:
    return np.ones(len(rows))
