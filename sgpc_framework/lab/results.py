"""The outcomes of all cells, and the questions that tables, figures and claims ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.lab.cells import Cell, Outcome
from sgpc_framework.lab.plan import Scale
from sgpc_framework.metrics.rank_tests import Friedman, friedman
from sgpc_framework.metrics.statistics import Comparison, Mean, compare

Measure = Literal["test_error", "test_nlp"]
MEASURES: tuple[Measure, Measure] = ("test_error", "test_nlp")
SHORT: Mapping[Measure, str] = {"test_error": "error", "test_nlp": "NLP"}


@attrs.frozen(slots=False)
class Outcomes:
    """What is finished; the measures are such that less is better."""

    outcomes: dict[Cell, Outcome]

    @property
    def sets(self) -> tuple[str, ...]:
        """The data sets, in the order in which they come."""
        return tuple(dict.fromkeys(cell.data for cell in self.outcomes))

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of basis vectors, the least first."""
        return tuple(sorted({cell.size for cell in self.outcomes}))

    @cached_property
    def _by_place(self) -> dict[tuple[str, str, int], dict[int, Outcome]]:
        outcomes: dict[tuple[str, str, int], dict[int, Outcome]] = {}
        for cell, outcome in self.outcomes.items():
            outcomes.setdefault((cell.data, cell.method, cell.size), {})[cell.partition] = outcome
        return outcomes

    def of(self, data: str, method: str, size: int) -> dict[int, Outcome]:
        """By partition, what a method came to."""
        return self._by_place.get((data, method, size), {})

    def has(self, data: str, methods: Iterable[str], size: int) -> bool:
        return bool(self.common(data, methods, size))

    def common(self, data: str, methods: Iterable[str], size: int) -> list[int]:
        """The partitions that all these methods have finished."""
        return sorted(set.intersection(*({*self.of(data, method, size)} for method in methods)))

    def sources(self, data: str) -> dict[int, str]:
        """By partition, where the rows came from."""
        cells = (cell for cell in self.outcomes if cell.data == data)
        return {cell.partition: self.outcomes[cell].source for cell in cells}

    def values(
        self, data: str, method: str, size: int, measure: Measure, partitions: Sequence[int]
    ) -> NDArray[np.float64]:
        outcomes = self.of(data, method, size)
        return np.array([getattr(outcomes[partition], measure) for partition in partitions])

    def mean(
        self,
        data: str,
        method: str,
        size: int,
        measure: Measure,
        partitions: Sequence[int] | None = None,
    ) -> Mean:
        """Over some partitions, or all that the method has finished."""
        chosen = self.common(data, [method], size) if partitions is None else partitions
        return Mean.of(self.values(data, method, size, measure, chosen))

    def comparison(
        self, data: str, first: str, second: str, size: int, measure: Measure
    ) -> Comparison | None:
        """Paired differences on the partitions that both have; None if there are none."""
        both = self.common(data, [first, second], size)
        if not both:
            return None
        return compare(
            self.values(data, first, size, measure, both),
            self.values(data, second, size, measure, both),
            max(self.of(data, first, size)[partition].test_share for partition in both),
        )

    def friedman(self, methods: Sequence[str], size: int, measure: Measure) -> Friedman | None:
        """Over the sets, by means of the partitions that all methods have; None below two sets."""
        shared = {data: self.common(data, methods, size) for data in self.sets}
        sets = [data for data, partitions in shared.items() if partitions]
        if len(sets) < 2:
            return None
        return friedman(
            {
                method: [
                    float(self.values(data, method, size, measure, shared[data]).mean())
                    for data in sets
                ]
                for method in methods
            }
        )


def counted_kinds(sources: Mapping[int, str]) -> str:
    """Sources in words, with the number of partitions of each kind.

    >>> counted_kinds({0: "Raetsch's split 1", 1: "Raetsch's split 2", 2: "random partition 2"})
    "2 Raetsch's, 1 random"
    """
    kinds = [source.split()[0].rstrip(",") for source in sources.values() if source]
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))


@attrs.frozen(slots=False)
class Results(Outcomes):
    """The outcomes of the paper's experiments, at some scale."""

    scale: Scale

    @property
    def sets(self) -> tuple[str, ...]:
        return self.scale.sets

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.scale.sizes
