"""What held-out rows choose: kernel, noise, relevance, and how boldly to fit.

Ways of refining are tried on a part of the rows and judged by others. The first champion is bold:
who begins with caution does not find what there is to find. Each challenger differs from it in one
thing and starts where it has arrived, or afresh, and takes its place if the judges say that it is
better by more than a standard error, or two where there is doubt: where rows are few, or the
champion is hardly better than nothing. So a trial costs a few iterations, and what was learnt is
kept. In doubt the safest way is preferred unless the judges contradict.

Trials are short. So the last question is whether it pays to go on: what is good after twenty
iterations may have learnt noise by heart after two hundred.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add

import attrs
import numpy as np

from sgpc_framework.authors import (
    HeldOut,
    PairedLosses,
    Split,
    State,
    TrainingRows,
    paired_losses,
)
from sgpc_plugins.refiners.corrective.challengers import Challenger, Doubt, adapted
from sgpc_plugins.refiners.corrective.search import Effort, Search

FEW = 500
"""With fewer rows than this there is always doubt: noise is learnt by heart easily."""

SKETCH = 4000
"""The most rows that are tried on."""

SAMPLE = 2 * SKETCH
"""The most rows that take part at all."""

SHORT = 20
"""Iterations of a challenger that begins where the champion has arrived."""

CONTRADICTED = -1.0
"""Going on must be worse by a standard error to be given up: most often it pays in the end."""


@attrs.frozen
class Trial:
    """A challenger, and what the judges said: how much less it lost than the champion, the
    standard error of that, and whether it took its place."""

    name: str
    gain: float
    noise: float
    won: bool

    def __str__(self) -> str:
        return f"{self.name} {'yes' if self.won else 'no'} ({self.gain:+.2g} ± {self.noise:.1g})"


@attrs.frozen(eq=False)
class Choice:
    """The champion, where it arrived on the rows of the trial, and how it came about."""

    search: Search
    state: State
    trials: tuple[Trial, ...] = ()
    goes_on: bool = True
    """Whether a long run from there pays."""


def choose(
    search: Search,
    start: State,
    challengers: Iterable[Challenger],
    rows: TrainingRows,
    judges: int,
    further: int,
    rng: np.random.Generator,
) -> Choice:
    """The champion over all challengers, who come in their order, by so many judges.

    When a fifth of all rows is less than that, several fifths take turns. Where too few rows differ
    nobody can judge, and nothing is tried. Whether it pays to go on is tried by so many iterations
    ``further``, if any.
    """
    splits = HeldOut(rows, rng, SAMPLE, SKETCH).splits(judges)
    if not splits:
        return Choice(search, start)
    fresh = [start] * len(splits)
    efforts = _efforts(len(splits[0].rows))
    champion = _attempt(search, fresh, efforts["fresh"], splits, rng, "trying")
    doubt = _doubt(champion, len(rows), splits)
    trials: list[Trial] = []
    for challenger in challengers:
        other = challenger.change(champion.search)
        if other is None:
            continue
        ends = fresh if challenger.begins in ("fresh", "settled") else champion.ends
        begins = [adapted(end, other) for end in ends]
        effort = efforts[challenger.begins]
        attempt = _attempt(other, begins, effort, splits, rng, f"trying {challenger.name}")
        trials.append(_trial(challenger.name, attempt, champion, challenger.bars[doubt], splits))
        if trials[-1].won:
            champion = attempt
    goes_on = True
    if further:
        effort = Effort(iterations=further)
        attempt = _attempt(champion.search, champion.ends, effort, splits, rng, "going on")
        trials.append(_trial("going on", attempt, champion, CONTRADICTED, splits))
        goes_on = trials[-1].won
        champion = attempt if goes_on else champion
    return Choice(champion.search, champion.ends[0], tuple(trials), goes_on)


def _trial(
    name: str, attempt: _Attempt, champion: _Attempt, bar: float, splits: Sequence[Split]
) -> Trial:
    losses = _judged([attempt, champion], splits)
    gain = float(losses.means[1] - losses.means[0])
    return Trial(name, gain, losses.noise(0, 1), losses.clearly_better(0, 1, bar))


def _doubt(champion: _Attempt, rows: int, splits: Sequence[Split]) -> Doubt:
    zero = [attrs.evolve(end, mean=np.zeros_like(end.mean)) for end in champion.ends]
    nothing = _Attempt(champion.search, zero)
    if not _judged([champion, nothing], splits).clearly_better(0, 1, 2.0):
        return Doubt.NOTHING_LEARNT
    return Doubt.FEW_ROWS if rows < FEW else Doubt.NONE


def _efforts(rows: int) -> dict[str, Effort]:
    """How long who begins somewhere may run on so many rows."""
    fresh = Effort.fresh(rows, iterations=50)
    return {
        "fresh": fresh,
        "settled": fresh.settled(),
        "near": Effort(batches=min(100, rows // 20), iterations=SHORT),
        "there": Effort(iterations=SHORT),
    }


@attrs.frozen(eq=False)
class _Attempt:
    """A search, and where its runs ended, one for each split."""

    search: Search
    ends: Sequence[State]


def _attempt(
    search: Search,
    begins: Sequence[State],
    effort: Effort,
    splits: Sequence[Split],
    rng: np.random.Generator,
    what: str,
) -> _Attempt:
    pairs = zip(begins, splits, strict=True)
    return _Attempt(
        search, [search.run(begin, split.rows, effort, rng, what) for begin, split in pairs]
    )


def _judged(attempts: Sequence[_Attempt], splits: Sequence[Split]) -> PairedLosses:
    """What the rows that were held out say of where the runs ended."""
    return reduce(
        add,
        (
            paired_losses([attempt.ends[turn] for attempt in attempts], split.judges)
            for turn, split in enumerate(splits)
        ),
    )
