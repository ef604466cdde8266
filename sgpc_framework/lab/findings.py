"""Everything that a comparison found, and the numbers that its page shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import combinations
from statistics import fmean, median

import attrs
import numpy as np

from sgpc_framework.lab.cells import Cell, data_of
from sgpc_framework.lab.comparison_plan import Plan
from sgpc_framework.lab.judgement import Judgement, judge
from sgpc_framework.lab.picks import Picks, order_agreement, overlap
from sgpc_framework.lab.results import MEASURES, SHORT, Outcomes


@attrs.frozen
class StageCost:
    """What one stage of a method takes on a data set."""

    seconds: float
    kernel_values: float | None


@attrs.frozen
class Picked:
    """What a method picks, means over partitions and sets at one size."""

    wrong: float | None
    wrong_rows: float | None
    distance: float | None


@attrs.frozen(eq=False, slots=False)
class Findings:
    """The outcomes of a plan, what its stages cost, and what could not be computed."""

    plan: Plan
    outcomes: Outcomes
    wanted: frozenset[Cell]
    """The fits of the plan; other outcomes were given."""

    seconds: Mapping[tuple[str, str], Mapping[str, list[float]]]
    """By set and method, the seconds of inner loops,"""
    counts: Mapping[tuple[str, str], Mapping[str, float]]
    """and the values of the kernel in one of them."""
    problems: Mapping[str, str]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that have any outcome, the control first."""
        there = {cell.method for cell in self.outcomes.outcomes}
        first = self.plan.compared_with
        return tuple(m for m in dict.fromkeys([first, *self.plan.names]) if m in there)

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.outcomes.sizes

    @property
    def known(self) -> tuple[str, ...]:
        """The methods that have outcomes which were given, not computed."""
        given = {cell.method for cell in self.outcomes.outcomes if cell not in self.wanted}
        return tuple(method for method in self.methods if method in given)

    @cached_property
    def judgements(self) -> list[Judgement]:
        """One for each size and measure that can be judged."""
        each = (
            judge(self.outcomes, self.methods, self.plan.compared_with, size, measure)
            for size in self.sizes
            for measure in MEASURES
        )
        return [judgement for judgement in each if judgement is not None]

    def judgement_table(self) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        """A row a duel, for a CSV file."""
        header = (
            *("measure", "size", "data", "method", "control", "partitions", "difference"),
            *("standard_error", "effect", "standardised", "p", "p_holm", "p_corrected", "verdict"),
        )
        rows: list[tuple[object, ...]] = [
            (
                *(SHORT[j.measure], j.size, duel.data, duel.method, j.control, c.count),
                *(c.difference, c.error, c.effect, c.standardised, c.p, duel.p_holm),
                *(c.p_corrected, duel.verdict),
            )
            for j in self.judgements
            for duel in j.duels
            for c in [duel.comparison]
        ]
        return header, rows

    def stage_cost(self, data: str, method: str) -> StageCost | None:
        """The median seconds of a stage on that set, and the kernel values that it asks for."""
        took = self.seconds.get((data, method), {}).get(method)
        if not took:
            return None
        counted = self.counts.get((data, method))
        values = counted["values"] / max(counted["stages"], 1.0) if counted else None
        return StageCost(median(took) / self.sizes[-1], values)

    def fit_seconds(self, data: str, method: str, size: int) -> float | None:
        """Processor seconds of a fit on average; None where any was made elsewhere."""
        took = self.outcomes.of(data, method, size)
        if not took or method in self.known:
            return None
        return fmean(outcome.cpu_seconds for outcome in took.values())

    # -- what is picked ------------------------------------------------------------------------

    def _picks(self, method: str, size: int) -> Iterator[tuple[tuple[str, int], Picks]]:
        for data in self.outcomes.sets:
            for partition, outcome in self.outcomes.of(data, method, size).items():
                if outcome.picks is not None and outcome.picks.rows:
                    yield (data, partition), outcome.picks

    def picked(self, method: str, size: int) -> Picked | None:
        """How many picks have wrong labels, and how well they cover the data."""
        picks = [each for _, each in self._picks(method, size)]
        if not picks:
            return None
        return Picked(
            mean_of(each.wrong for each in picks),
            mean_of(each.wrong_rows for each in picks),
            mean_of(each.distance for each in picks),
        )

    def agreement(self, size: int) -> dict[tuple[str, str], tuple[float, float | None]]:
        """For each two methods, the share of rows that both pick, and how alike their order is."""
        chosen = {method: dict(self._picks(method, size)) for method in self.methods}
        found: dict[tuple[str, str], tuple[float, float | None]] = {}
        for first, second in combinations([m for m in self.methods if chosen[m]], 2):
            both = [
                (chosen[first][place].rows, chosen[second][place].rows)
                for place in chosen[first]
                if place in chosen[second]
            ]
            if both:
                orders = mean_of(order_agreement(*pair) for pair in both)
                found[first, second] = fmean(overlap(*pair) for pair in both), orders
        return found

    def chance_overlap(self, size: int) -> float:
        """The share of rows that two methods would both pick if they picked at random: that of the
        rows which are picked, on average over the sets."""
        rows = {s.name: len(data_of(s, 0, self.plan.rows).y) for s in self.plan.sources}
        return fmean(
            len(picks.rows) / rows[data]
            for method in self.methods
            for (data, _), picks in self._picks(method, size)
        )


def mean_of(values: Iterable[float | None]) -> float | None:
    """Of those that are known; None if none is."""
    numbers = [value for value in values if value is not None and not np.isnan(value)]
    return fmean(numbers) if numbers else None
