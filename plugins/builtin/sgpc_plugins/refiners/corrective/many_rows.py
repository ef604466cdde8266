"""Refining on very many rows: by batches alone, and only as long as it pays.

Rounds of steps by batches follow each other, each twice as long as the one before and from where
that ended. Rows that no batch sees judge every round; the first that is not clearly better than the
one before it is the last. So the cost depends on how much there is to learn, and hardly on how many
rows there are.
"""

from __future__ import annotations

import numpy as np

from sgpc_framework.authors import State, TrainingRows, paired_losses
from sgpc_plugins.refiners.corrective.search import Effort, Search

MANY = 10_000
"""With more rows than this, a pass over all of them is not worth its time."""

FIRST, MOST = 500, 16_000
"""Steps of the first round, and of the longest that there may be."""

SHARE, JUDGES = 20, 20_000
"""One row in so many judges, but no more than these."""

STANDARD_ERRORS = 1.0
"""By how many standard errors a round must be better for another to follow."""


def refine_by_batches(
    search: Search, begin: State, rows: TrainingRows, rng: np.random.Generator
) -> State:
    """Where the last round that was better ended."""
    numbers = rows.draw(min(JUDGES, len(rows) // SHARE), rng)
    judges = rows.subset(numbers)
    steps, best = FIRST, begin
    while steps <= MOST:
        what = f"round of {steps} batches"
        end = search.run(best, rows, Effort(batches=steps), rng, what, without=numbers)
        losses = paired_losses([end, best], judges)
        if losses.means[0] < losses.means[1]:
            best = end
        if not losses.clearly_better(0, 1, STANDARD_ERRORS):
            break
        steps *= 2
    return best
