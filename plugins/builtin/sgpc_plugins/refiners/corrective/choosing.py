"""What held-out rows choose: how bold the refinement of all rows may be.

It begins cautiously. Each step towards boldness, which fits the rows better, must be earned: rows
that were held out have to find it better by more than ``CLEARLY`` standard errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.refinement import Refinable
from sgpc_plugins.refiners.corrective.held_out import Numbers, splits
from sgpc_plugins.refiners.corrective.search import Search

Floats = NDArray[np.float64]

PENALTIES = (1.0, 0.5, 0.25)
"""What is tried, in this order. With one, a nat of information must pay for itself."""

FIRST, NEXT = 20, 9
"""Iterations of the first trial, and of each that starts where the one before ended."""

CLEARLY = 2.0
"""By how many standard errors a bolder step must be better."""

FAR = 0.9
"""A loss is far less than another if it is less than this part of it."""

MOST_GROWTH = 2.0
"""By how much the penalty for all rows may exceed the one that was chosen on some of them."""


@attrs.frozen(eq=False)
class Choice:
    """How to search when all rows are fitted."""

    search: Search
    penalty: float
    begin: Refinable


def chosen(search: Search, rng: np.random.Generator) -> Choice:
    """The boldest way to which every step was earned.

    First, the lesser loss says whether features may differ in relevance. Then the penalty is
    halved, and halved again, and at last caution is given up, until a step is not clearly better.
    Caution can be too much for a small model of a difficult function, which then ends in knowing
    next to nothing. So the first trial is also made without, and if that is far better, caution is
    given up at once.
    """
    trials = list(splits(search.start.sites.X, rng))
    if not trials:
        return Choice(search, PENALTIES[0], search.start)
    starts = [search.start] * len(trials)
    ways = [_tried(way, PENALTIES[0], FIRST, starts, trials) for way in search.ways()]
    best = min(ways, key=lambda attempt: attempt.loss)
    if search.caution:
        incautious = attrs.evolve(best.search, caution=0.0)
        bolder = _tried(incautious, PENALTIES[0], FIRST, starts, trials)
        before = _judged(search, PENALTIES[0], starts, trials)
        if min(best.loss, bolder.loss) > FAR * before.loss:  # neither has got anywhere yet
            best, bolder = (
                _tried(a.search, a.penalty, 2 * FIRST, a.ends, trials) for a in (best, bolder)
            )
        if bolder.loss < FAR * best.loss and bolder.is_clearly_better_than(best):
            best = bolder
    for way, penalty in _bolder_and_bolder(best.search):
        bolder = _tried(way, penalty, NEXT, best.ends, trials)
        if not bolder.is_clearly_better_than(best):
            break
        best = bolder
    # What a trial found of a kernel is worth keeping. Where features are alike that is little, and
    # a fresh start forgets where basis vectors went for the sake of the trial's rows.
    begin = search.start if best.search.alike else best.ends[-1]
    return Choice(best.search, min(PENALTIES[0], best.penalty * _growth(search, trials)), begin)


def _bolder_and_bolder(search: Search) -> Iterator[tuple[Search, float]]:
    for penalty in PENALTIES[1:]:
        yield search, penalty
    if search.caution:
        yield attrs.evolve(search, caution=0.0), PENALTIES[-1]


def _growth(search: Search, trials: Sequence[tuple[Numbers, Numbers]]) -> float:
    """How much larger the penalty should be when all rows are fitted, not those of a trial.

    The relative entropy counts neither basis inputs nor hyperparameters, which overfit too, and a
    trial is too short for that to show. A root made the test errors of Ringnorm and Waveform less.
    """
    return float(min(MOST_GROWTH, np.sqrt(len(search.start.sites.y) / len(trials[0][0]))))


@attrs.frozen(eq=False)
class _Attempt:
    """Where the runs of a trial ended, and the loss of each row that was held out."""

    search: Search
    penalty: float
    ends: Sequence[Refinable]
    row_losses: Floats

    @property
    def loss(self) -> float:
        """NLP over the rows held out."""
        return float(np.mean(self.row_losses))

    def is_clearly_better_than(self, other: _Attempt) -> bool:
        """Whether its loss is less by more than the noise of the difference explains."""
        gain = other.row_losses - self.row_losses
        return bool(np.mean(gain) > CLEARLY * np.std(gain) / np.sqrt(len(gain)))


def _tried(
    search: Search,
    penalty: float,
    iterations: int,
    starts: Sequence[Refinable],
    trials: Sequence[tuple[Numbers, Numbers]],
) -> _Attempt:
    ends = [
        search.run(start, penalty, iterations, rows)
        for (rows, _), start in zip(trials, starts, strict=True)
    ]
    return _judged(search, penalty, ends, trials)


def _judged(
    search: Search,
    penalty: float,
    ends: Sequence[Refinable],
    trials: Sequence[tuple[Numbers, Numbers]],
) -> _Attempt:
    """What the rows that were held out say of where the runs ended."""
    losses = [
        end.sites.judged_by(judges).row_losses(end.kernel, end.likelihood)
        for (_, judges), end in zip(trials, ends, strict=True)
    ]
    return _Attempt(search, penalty, ends, np.concatenate(losses))
