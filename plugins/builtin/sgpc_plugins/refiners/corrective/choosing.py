"""What held-out rows choose: kernel, noise, relevance, and how boldly to fit.

Ways of refining are tried on a part of the rows and judged by others. The first champion is bold:
who begins with caution does not find what there is to find. Each challenger differs from it in one
thing and starts where it has arrived, or afresh, and takes its place if the judges say that it is
better by more than a standard error, or two where there is doubt: where rows are few, or the
champion is hardly better than nothing. So a trial costs a few iterations, and what was learnt is
kept. In doubt the safest way is preferred unless the judges contradict.
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


def choose(
    search: Search,
    start: State,
    challengers: Iterable[Challenger],
    rows: TrainingRows,
    judges: int,
    rng: np.random.Generator,
) -> Choice:
    """The champion over all challengers, who come in their order, by so many judges.

    When a fifth of all rows is less than that, several fifths take turns. Where too few rows differ
    nobody can judge, and nothing is tried.
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
        losses = _judged([attempt, champion], splits)
        won = losses.clearly_better(0, 1, challenger.bars[doubt])
        gain = float(losses.means[1] - losses.means[0])
        trials.append(Trial(challenger.name, gain, losses.noise(0, 1), won))
        if won:
            champion = attempt
    return Choice(champion.search, champion.ends[0], tuple(trials))


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
        "near": Effort(batches=min(100, rows // 20), iterations=20),
        "there": Effort(iterations=20),
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
