"""What many cells say together: the best run of each method, paired means, wins and losses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from statistics import fmean, geometric_mean

import attrs

from benchmarks.cells import Cell
from benchmarks.methods import METHODS, Scores
from sgpc_framework.metrics.statistics import Mean

TIE = 0.01
"""Two NLP are alike if one is within this share of the other."""


@attrs.frozen
class Entrant:
    """A method at one of the budgets that it was looked at."""

    method: str
    budget: int | None = None

    def __str__(self) -> str:
        return self.method if self.budget is None else f"{self.method}, {self.budget} steps"

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands in a table."""
        return list(METHODS).index(self.method), self.budget or 0


@attrs.frozen
class Duel:
    """One of ours beside a rival: for each set, our mean NLP over theirs on the same partitions."""

    ours: Entrant
    rival: Entrant
    ratios: Mapping[str, float]

    @property
    def losses(self) -> list[str]:
        """Sets, the worst first."""
        lost = [data for data, ratio in self.ratios.items() if ratio > 1.0 + TIE]
        return sorted(lost, key=lambda data: -self.ratios[data])

    @property
    def wins(self) -> int:
        return sum(ratio < 1.0 - TIE for ratio in self.ratios.values())

    @property
    def ties(self) -> int:
        return len(self.ratios) - len(self.losses) - self.wins

    def lower(self, sets: Iterable[str]) -> str:
        """On how many of these sets ours is lower, by however little."""
        found = [self.ratios[data] for data in sets if data in self.ratios]
        return f"{sum(ratio < 1.0 for ratio in found)} of {len(found)}" if found else ""


@attrs.frozen(eq=False)
class Standings:
    """All finished cells of some sets at one size; methods without a size are in all of them."""

    cells: Sequence[Cell]
    size: int

    @cached_property
    def scores(self) -> Mapping[str, Mapping[Entrant, Mapping[int, Scores]]]:
        """By set, entrant and partition, those of the best run."""
        runs: dict[str, dict[Entrant, dict[str, dict[int, Scores]]]] = {}
        for cell in self.cells:
            task = cell.task
            if task.size in (self.size, None):
                options = {k: v for k, v in task.settings.items() if k != "steps"}
                run = json.dumps(options, sort_keys=True)
                entrants = runs.setdefault(task.data, {})
                for one in cell.scores:
                    mine = entrants.setdefault(Entrant(task.method, one.budget), {})
                    mine.setdefault(run, {})[task.partition] = one
        return {
            data: {entrant: best_run(list(found.values())) for entrant, found in entrants.items()}
            for data, entrants in runs.items()
        }

    @property
    def sets(self) -> list[str]:
        return list(self.scores)

    @property
    def entrants(self) -> list[Entrant]:
        """All that have finished anything."""
        every = {entrant for entrants in self.scores.values() for entrant in entrants}
        return sorted(every, key=lambda entrant: entrant.place)

    def mean(self, data: str, entrant: Entrant, field: str) -> Mean | None:
        """The mean over the partitions, if there is any."""
        found = self.scores[data].get(entrant, {})
        return Mean.of([getattr(one, field) for one in found.values()]) if found else None

    def duel(self, ours: Entrant, rival: Entrant) -> Duel:
        ratios = {}
        for data, entrants in self.scores.items():
            mine, theirs = entrants.get(ours, {}), entrants.get(rival, {})
            both = [partition for partition in mine if partition in theirs]
            if both:
                mean = fmean(mine[p].nlp for p in both), fmean(theirs[p].nlp for p in both)
                ratios[data] = mean[0] / mean[1]
        return Duel(ours, rival, ratios)

    def shared(self, entrants: Sequence[Entrant]) -> dict[str, list[int]]:
        """The sets that all of them have finished, and the partitions that all have of each."""
        shared = {}
        for data, found in self.scores.items():
            partitions = [set(found.get(entrant, {})) for entrant in entrants]
            if partitions and set.intersection(*partitions):
                shared[data] = sorted(set.intersection(*partitions))
        return shared

    def geometric_mean(self, entrant: Entrant, field: str, over: Mapping[str, list[int]]) -> float:
        """Over sets, of the means over partitions."""
        return geometric_mean(
            fmean(getattr(self.scores[data][entrant][p], field) for p in partitions)
            for data, partitions in over.items()
        )


def best_run(runs: Sequence[Mapping[int, Scores]]) -> Mapping[int, Scores]:
    """The least mean NLP, among the runs that were made on most partitions."""
    most = max(map(len, runs))
    complete = [run for run in runs if len(run) == most]
    return min(complete, key=lambda run: fmean(one.nlp for one in run.values()))
