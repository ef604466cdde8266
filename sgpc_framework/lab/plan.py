"""Which cells each experiment needs, and in which order they are computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from sgpc_framework import datasets
from sgpc_framework.lab.cells import Cell
from sgpc_framework.lab.methods import (
    ENTROPY,
    GAIN,
    GAIN_REVERSED,
    OPTIMISED_SITES,
    PROPOSED,
    REFINED,
    VALIDATION,
    adaptive,
    random,
)
from sgpc_framework.lab.stage_curves import StageCurves
from sgpc_framework.lab.timing import InnerLoops

EXPERIMENTS = ("figure1", "experiment1", "experiment2", "experiment3", "beyond", "timing")
"""What ``--only`` chooses from."""

COMPARED = (ENTROPY, GAIN, GAIN_REVERSED, adaptive(1), adaptive(2), VALIDATION)
"""The methods of Experiment 3; information gain in both directions."""

STAGED = ("waveform", "image")
"""The sets of Experiment 1."""


@attrs.frozen
class Scale:
    """How much is done. The defaults are the paper's, but for the number of partitions."""

    sets: tuple[str, ...] = attrs.Factory(datasets.available)
    sizes: tuple[int, int, int, int] = (40, 80, 160, 320)
    working_sets: tuple[int, ...] = (1, 2, 5, 10, 59)
    partitions: tuple[int, int, int, int] = (10, 10, 10, 6)
    """For each size; six is the least with which Wilcoxon's test can tell anything at 0.05."""

    iterations: tuple[int, int, int, int] = (20, 20, 20, 20)
    """Rounds of the outer loop at most, for each size."""

    rows: int | None = None
    """Training rows, where not all are used."""

    @property
    def small(self) -> tuple[int, int]:
        """The two sizes of Experiment 2."""
        return self.sizes[:2]

    def partitions_at(self, size: int) -> int:
        return self.partitions[self.sizes.index(size)]

    def iterations_at(self, size: int) -> int:
        return self.iterations[self.sizes.index(size)]

    def cell(self, data: str, partition: int, method: str, size: int) -> Cell:
        return Cell(data, partition, method, size, self.iterations_at(size), self.rows)


def quick() -> Scale:
    """Everything in small: few rows, partitions and rounds. Its figures mean little."""
    return Scale(
        sizes=(10, 20, 40, 80),
        working_sets=(1, 2, 5, 59),
        partitions=(3, 3, 3, 3),
        iterations=(4, 4, 4, 4),
        rows=500,
    )


def cells_in_order(scale: Scale, experiments: Iterable[str]) -> list[Cell]:
    """The cells of these experiments, each once, such that stopping early leaves a balance.

    Partition p of P is due when (p + 1) / P of the work is done, so all experiments, sizes and
    sets come on at the same pace.
    """
    due: dict[Cell, float] = {}
    for cell in _cells(scale, experiments):
        due.setdefault(cell, (cell.partition + 1) / scale.partitions_at(cell.size))
    return sorted(due, key=due.__getitem__)


def curves(scale: Scale) -> list[StageCurves]:
    """Experiment 1's pictures, of the first partition at the second size."""
    return [
        StageCurves(scale.cell(data, 0, method, scale.sizes[1]))
        for data in STAGED
        if data in scale.sets
        for method in (PROPOSED, OPTIMISED_SITES)
    ]


def timings(scale: Scale) -> list[InnerLoops]:
    """The timing claim, on every set."""
    return [InnerLoops(data, scale.sizes[1], scale.rows) for data in scale.sets]


def _cells(scale: Scale, experiments: Iterable[str]) -> Iterator[Cell]:
    wanted = set(experiments)
    for size in scale.sizes:
        for partition in range(scale.partitions_at(size)):
            for data in scale.sets:
                for method in _methods(scale, wanted, size, data):
                    yield scale.cell(data, partition, method, size)


def _methods(scale: Scale, wanted: set[str], size: int, data: str) -> Iterator[str]:
    if "experiment3" in wanted:
        yield from COMPARED
    if "experiment2" in wanted and size in scale.small:
        yield from (adaptive(working_set) for working_set in scale.working_sets)
        yield from (random(working_set) for working_set in scale.working_sets)
        yield VALIDATION
    if "experiment1" in wanted and size == scale.sizes[1] and data in STAGED:
        yield from (PROPOSED, OPTIMISED_SITES)
    if "beyond" in wanted and size in scale.small:
        yield from (PROPOSED, *REFINED)
