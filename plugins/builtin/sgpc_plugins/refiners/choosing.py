"""What held-out rows choose: the penalty, and whether features are to differ in relevance."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.refinement import Refinable
from sgpc_plugins.refiners.held_out import Numbers, splits
from sgpc_plugins.refiners.search import Search

Floats = NDArray[np.float64]

PENALTIES = (8.0, 4.0, 2.0, 1.0, 0.5, 0.25)
"""What is tried, in this order: one, and what lies around it."""

FIRST, NEXT = 20, 9
"""Iterations for the first penalty tried, and for each that starts where the one before ended."""

MOST_GROWTH = 2.0
"""By how much the penalty for all rows may exceed the one that was best for some of them."""


@attrs.frozen(eq=False)
class Choice:
    """A search, its penalty, and where the run on all rows begins."""

    search: Search
    penalty: float
    begin: Refinable


def chosen(search: Search, rng: np.random.Generator) -> Choice:
    """What the rows that were held out like best; the more cautious of what they cannot tell apart.

    The ways to search are compared at the first penalty, and the better one goes on through the
    others. Of those within the noise of the least loss, the largest penalty is chosen.
    """
    trials = list(splits(search.start.sites.X, rng))
    if not trials:
        return Choice(search, 1.0, search.start)
    starts = [search.start] * len(trials)
    ways = [_tried(way, PENALTIES[0], FIRST, starts, trials) for way in search.ways()]
    attempts = [min(ways, key=_loss)]
    for penalty in PENALTIES[1:]:
        last = attempts[-1]
        attempts.append(_tried(last.search, penalty, NEXT, last.ends, trials))
    least = min(attempts, key=_loss)
    best = next(a for a in attempts if a.loss - least.loss <= a.noise(least))
    return Choice(best.search, best.penalty * _growth(search, trials), best.ends[-1])


def _growth(search: Search, trials: Sequence[tuple[Numbers, Numbers]]) -> float:
    """How much larger the penalty should be when all rows are fitted, not those of a trial.

    The relative entropy does not count basis inputs and hyperparameters, which do their part in
    overfitting. With four times the rows the best penalty was two to four times as large on
    Twonorm, twice on Ringnorm and Banana, the same on Waveform: a root is a fair guess.
    """
    return float(min(MOST_GROWTH, np.sqrt(len(search.start.sites.y) / len(trials[0][0]))))


@attrs.frozen(eq=False)
class _Attempt:
    """Where the runs with one penalty ended, and the loss of each row that was held out."""

    search: Search
    penalty: float
    ends: Sequence[Refinable]
    row_losses: Floats

    @property
    def loss(self) -> float:
        """NLP over the rows held out."""
        return float(np.mean(self.row_losses))

    def noise(self, other: _Attempt) -> float:
        """The standard error of the difference between two losses."""
        difference = self.row_losses - other.row_losses
        return float(np.std(difference) / np.sqrt(len(difference)))


def _loss(attempt: _Attempt) -> float:
    return attempt.loss


def _tried(
    search: Search,
    penalty: float,
    iterations: int,
    starts: Sequence[Refinable],
    trials: Sequence[tuple[Numbers, Numbers]],
) -> _Attempt:
    ends, losses = [], []
    for (rows, judges), start in zip(trials, starts, strict=True):
        end = search.run(start, penalty, iterations, rows)
        losses.append(end.sites.judged_by(judges).row_losses(end.kernel, end.likelihood))
        ends.append(end)
    return _Attempt(search, penalty, ends, np.concatenate(losses))
