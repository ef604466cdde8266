"""Everything that a run found, for those who report it; and the same as tidy CSV files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

from sgpc_framework.lab.result_files import write_results, write_table
from sgpc_framework.lab.results import Results
from sgpc_framework.lab.stage_curves import COLUMNS, StageCurves
from sgpc_framework.lab.timing import InnerLoops


@attrs.frozen
class Evidence:
    """The outcomes of cells, the curves of Experiment 1, and the seconds of inner loops."""

    results: Results
    stages: dict[StageCurves, dict[str, list[float]]]
    seconds: dict[InnerLoops, dict[str, list[float]]]


def write_csv(folder: Path, evidence: Evidence) -> list[Path]:
    """``results.csv`` has a row a fit, ``stages.csv`` a stage, ``seconds.csv`` a turn."""
    folder.mkdir(parents=True, exist_ok=True)
    write_results(folder / "results.csv", evidence.results.outcomes)
    tables: dict[str, tuple[Sequence[str], Iterable[Sequence[object]]]] = {
        "stages.csv": (
            ("data", "partition", "method", "stage", *COLUMNS),
            (
                (job.cell.data, job.cell.partition, job.cell.method, stage, *values)
                for job, curves in evidence.stages.items()
                for stage, values in enumerate(
                    zip(*(curves[name] for name in COLUMNS), strict=True), start=1
                )
            ),
        ),
        "seconds.csv": (
            ("data", "size", "method", "turn", "seconds"),
            (
                (job.data, job.size, method, turn, took)
                for job, by_method in evidence.seconds.items()
                for method, seconds in by_method.items()
                for turn, took in enumerate(seconds, start=1)
            ),
        ),
    }
    return [
        folder / "results.csv",
        *(write_table(folder / name, *table) for name, table in tables.items()),
    ]
