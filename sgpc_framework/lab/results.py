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
from sgpc_framework.metrics.statistics import Comparison, Friedman, Mean, compare, friedman

Measure = Literal["test_error", "test_nlp"]
MEASURES: tuple[Measure, Measure] = ("test_error", "test_nlp")
SHORT: Mapping[Measure, str] = {"test_error": "error", "test_nlp": "NLP"}


@attrs.frozen(slots=False)
class Results:
    """What is finished, at which scale; the measures are such that less is better."""

    scale: Scale
    outcomes: dict[Cell, Outcome]

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
        """Wilcoxon's test on the partitions that both have; None if there are none."""
        both = self.common(data, [first, second], size)
        if not both:
            return None
        return compare(
            self.values(data, first, size, measure, both),
            self.values(data, second, size, measure, both),
        )

    def friedman(self, methods: Sequence[str], size: int, measure: Measure) -> Friedman | None:
        """Over the sets, by means of the partitions that all methods have; None below two sets."""
        shared = {data: self.common(data, methods, size) for data in self.scale.sets}
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
