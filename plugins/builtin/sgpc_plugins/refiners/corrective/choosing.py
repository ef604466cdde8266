"""What held-out rows choose: how bold the refinement of all rows may be.

It begins cautiously. Each step towards boldness, which fits the rows better, must be earned: rows
that were held out have to say that it is better by more than ``STANDARD_ERRORS`` of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add

import attrs
import numpy as np

from sgpc_framework.authors import HeldOut, PairedLosses, State, TrainingRows, paired_losses
from sgpc_plugins.refiners.corrective.search import Search

PENALTIES = (1.0, 0.5, 0.25)
"""What is tried, in this order. With one, a nat of information must pay for itself."""

FIRST, NEXT = 20, 9
"""Iterations of the first trial, and of each that starts where the one before ended."""

STANDARD_ERRORS = 2.0
"""By how many standard errors a bolder step must be better."""

FAR = 0.9
"""A loss is far less than another if it is less than this part of it."""

MOST_GROWTH = 2.0
"""By how much the penalty for all rows may exceed the one that was chosen on some of them."""

SKETCH = 1000
"""The most rows that are tried on: enough to rank a few penalties, and cheap."""

JUDGES = 100
"""How many rows must have judged; when a fifth of all rows is less, several fifths take turns."""

SAMPLE = 5 * SKETCH
"""The most rows that take part at all."""


@attrs.frozen(eq=False)
class Choice:
    """How to search when all rows are fitted."""

    search: Search
    penalty: float
    begin: State


@attrs.frozen(eq=False)
class Split:
    """Rows to try things on, and rows to judge them by."""

    rows: TrainingRows
    judges: TrainingRows


def choose(search: Search, rows: TrainingRows, rng: np.random.Generator) -> Choice:
    """The boldest way to which every step was earned.

    First, the lesser loss says whether features may differ in relevance. Then the penalty is
    halved, and halved again, and at last the share of the evidence lower bound is given up, until a
    step is not clearly better. That share can be too much for a small model of a difficult
    function, which then ends in knowing next to nothing. So the first trial is also made without,
    and if that is far better, it is given up at once.
    """
    splits = _splits(rows, rng)
    if not splits:
        return Choice(search, PENALTIES[0], search.start)
    starts = [search.start] * len(splits)
    ways = [_attempt(way, PENALTIES[0], FIRST, starts, splits) for way in search.ways()]
    best = ways[int(_judged(ways, splits).means.argmin())]
    if search.elbo_share:
        bold = attrs.evolve(best.search, elbo_share=0.0)
        bolder = _attempt(bold, PENALTIES[0], FIRST, starts, splits)
        before = _Attempt(search, PENALTIES[0], starts)
        means = _judged([best, bolder, before], splits).means
        if means[:2].min() > FAR * means[2]:  # neither has got anywhere yet
            best, bolder = (
                _attempt(a.search, a.penalty, 2 * FIRST, a.ends, splits) for a in (best, bolder)
            )
        losses = _judged([bolder, best], splits)
        if losses.means[0] < FAR * losses.means[1] and _earned(losses):
            best = bolder
    for way, penalty in _bolder_and_bolder(best.search):
        bolder = _attempt(way, penalty, NEXT, best.ends, splits)
        if not _earned(_judged([bolder, best], splits)):
            break
        best = bolder
    # What a trial learnt of a kernel is worth keeping. Where features are tied that is little, and
    # a fresh start forgets where basis vectors went for the sake of the trial's rows.
    begin = search.start if best.search.tied else best.ends[-1]
    penalty = min(PENALTIES[0], best.penalty * _growth(len(rows), len(splits[0].rows)))
    return Choice(best.search, penalty, begin)


def _splits(rows: TrainingRows, rng: np.random.Generator) -> list[Split]:
    """As many as it takes for enough judges; none where too few rows differ."""
    held_out = HeldOut(rows, rng, SAMPLE, SKETCH)
    if not held_out.possible:
        return []
    turns = min(held_out.turns, -(-JUDGES // max(1, held_out.judges)))
    pairs = (held_out.split(turn) for turn in range(turns))
    return [Split(rows.subset(some), rows.subset(judges)) for some, judges in pairs]


def _bolder_and_bolder(search: Search) -> Iterator[tuple[Search, float]]:
    for penalty in PENALTIES[1:]:
        yield search, penalty
    if search.elbo_share:
        yield attrs.evolve(search, elbo_share=0.0), PENALTIES[-1]


def _growth(rows: int, tried: int) -> float:
    """How much larger the penalty should be when all rows are fitted, not those of a trial.

    The relative entropy counts neither basis inputs nor hyperparameters, which overfit too, and a
    trial is too short for that to show. A root made the test errors of Ringnorm and Waveform less.
    """
    return float(min(MOST_GROWTH, np.sqrt(rows / tried)))


@attrs.frozen(eq=False)
class _Attempt:
    """Where the runs of a trial ended, one for each split."""

    search: Search
    penalty: float
    ends: Sequence[State]


def _attempt(
    search: Search, penalty: float, iterations: int, starts: Sequence[State], splits: list[Split]
) -> _Attempt:
    what = f"trying penalty {penalty:g}"
    ends = [
        search.run(start, split.rows, penalty, iterations, what)
        for split, start in zip(splits, starts, strict=True)
    ]
    return _Attempt(search, penalty, ends)


def _judged(attempts: Sequence[_Attempt], splits: list[Split]) -> PairedLosses:
    """What the rows that were held out say of where the runs ended."""
    return reduce(
        add,
        (
            paired_losses([attempt.ends[turn] for attempt in attempts], split.judges)
            for turn, split in enumerate(splits)
        ),
    )


def _earned(losses: PairedLosses) -> bool:
    """Whether the first of two is better by more than the noise of the difference explains."""
    return losses.clearly_better(0, 1, STANDARD_ERRORS)
