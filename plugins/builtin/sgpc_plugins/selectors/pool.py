"""A working set with memory: good candidates that did not win are tried again."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.authors import (
    Candidates,
    Floats,
    Posterior,
    Rows,
    Steps,
    positive_number,
    whole_number,
)
from sgpc_plugins.selectors.sampling import equal_weight

Numbers = NDArray[np.intp]


@attrs.define(eq=False)
class Memory:
    """The best candidates so far that are not in the basis, and what the last inclusion gained."""

    kept: Numbers
    loss: float
    enough: bool = False


@attrs.frozen
class Pool:
    """``fresh`` rows drawn uniformly and the ``keep`` best of the stages before, tried together.

    The row that gives the least NLP over all rows is taken (eqs. 5 and 10), and the next best are
    kept: a stage then looks at ``keep + fresh`` rows, most of them chosen with care. The stages end
    when the best candidate lowers NLP by less than ``least_gain``.

    After Smola & Bartlett (2001), "Sparse greedy Gaussian process regression", whose candidates are
    all fresh at every stage.
    """

    name: ClassVar[str] = "pool"

    keep: int = whole_number(10, at_least=0)
    fresh: int = whole_number(10)
    least_gain: float = positive_number(1e-12)

    def begun(self, posterior: Posterior, rng: np.random.Generator) -> Memory:
        loss = -float(posterior.total(_log_z)) / posterior.total_weight
        return Memory(np.empty(0, dtype=np.intp), loss)

    def propose(
        self, posterior: Posterior, rng: np.random.Generator, memory: Memory
    ) -> Numbers | None:
        if memory.enough:
            return None
        fresh = posterior.sample(equal_weight, self.fresh, rng)
        known = memory.kept[~np.isin(memory.kept, fresh)]
        candidates = posterior.candidates(np.concatenate([fresh, known]))
        return candidates.index[candidates.eligible]

    def score(
        self, posterior: Posterior, candidates: Candidates, steps: Steps, memory: Memory
    ) -> Floats:
        losses = -posterior.total(_log_z, candidates, steps) / posterior.total_weight
        order = np.argsort(losses, kind="stable")
        memory.kept = candidates.index[order[1 : 1 + self.keep]]
        gain, memory.loss = memory.loss - losses[order[0]], float(losses[order[0]])
        memory.enough = bool(gain < self.least_gain)
        return losses


def _log_z(rows: Rows) -> Floats:
    return rows.log_z
