"""Results of others, to be compared with: those of the paper's methods, and any that were given."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path

import attrs

from sgpc_framework.errors import InputError
from sgpc_framework.lab.cells import Cell, Outcome, digest_of
from sgpc_framework.lab.data_sources import Source
from sgpc_framework.lab.plan import COMPARED
from sgpc_framework.lab.result_files import read_results

PAPER = "paper"
RESULTS = "results.csv"


@attrs.frozen(eq=False, slots=False)
class KnownResults:
    """Outcomes that nobody has to compute. They count where the rows are the same ones."""

    outcomes: Mapping[Cell, Outcome] = attrs.Factory(dict)

    @classmethod
    def read(cls, sources: Iterable[str]) -> KnownResults:
        """Of ``"paper"``, the selection methods of its Experiment 3, with the results that come
        with the framework; of CSV files, or the folders of runs, all that they have."""
        outcomes: dict[Cell, Outcome] = {}
        for source in sources:
            outcomes |= paper_results() if source == PAPER else _given(Path(source))
        return cls(outcomes)

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cell.method for cell in self.outcomes))

    def iterations_at(self, size: int) -> int | None:
        """The most rounds that the fits of that size had; of several limits, that of most fits."""
        limits = Counter(cell.iterations for cell in self.outcomes if cell.size == size)
        return limits.most_common(1)[0][0] if limits else None

    @cached_property
    def _places(self) -> frozenset[tuple[str, int]]:
        return frozenset((cell.data, cell.partition) for cell in self.outcomes)

    def on(
        self, source: Source, partitions: int, iterations: Mapping[int, int], rows: int | None
    ) -> dict[Cell, Outcome]:
        """What there is for the partitions of a data set, as far as their rows are the same, and
        the limits of outer iterations, by size."""
        same = {
            partition
            for partition in range(partitions)
            if (source.name, partition) in self._places
            and digest_of(source, partition, rows) in self._digests(source.name, partition)
        }
        return {
            cell: outcome
            for cell, outcome in self.outcomes.items()
            if cell.data == source.name
            and cell.partition in same
            and iterations.get(cell.size) == cell.iterations
        }

    def _digests(self, data: str, partition: int) -> set[str]:
        return {
            outcome.fingerprint
            for cell, outcome in self.outcomes.items()
            if (cell.data, cell.partition) == (data, partition)
        }


def paper_results() -> dict[Cell, Outcome]:
    """The results of Experiment 3 that come with the framework."""
    outcomes: dict[Cell, Outcome] = {}
    for file in sorted(files("sgpc_framework.lab").joinpath("known").iterdir(), key=str):
        if file.name.endswith(".csv"):
            with as_file(file) as path:
                outcomes |= read_results(path)
    return {cell: outcome for cell, outcome in outcomes.items() if cell.method in COMPARED}


def _given(path: Path) -> dict[Cell, Outcome]:
    file = path / RESULTS if os.path.isdir(path) else path
    if not os.path.isfile(file):  # which no name is too long for
        raise InputError(
            f"wanted {PAPER!r}, a {RESULTS} that a run has written, or the folder of a run, found "
            f"{str(path)!r}"
        )
    return read_results(file)
