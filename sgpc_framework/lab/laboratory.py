"""A plan, carried out: cells that are not finished are computed, then all of it is judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attrs

from sgpc_framework.errors import InputError
from sgpc_framework.lab.cells import Outcome
from sgpc_framework.lab.comparison_page import write_pages
from sgpc_framework.lab.comparison_plan import Plan
from sgpc_framework.lab.findings import Findings
from sgpc_framework.lab.kernel_counts import KernelCount
from sgpc_framework.lab.reproduction import need
from sgpc_framework.lab.result_files import write_results, write_table
from sgpc_framework.lab.results import Outcomes
from sgpc_framework.lab.running import Progress, run, stored_results
from sgpc_framework.lab.store import Store
from sgpc_framework.lab.timing import InnerLoops

CELLS = "cells"
TURNS = 3


@attrs.frozen
class Report:
    """What a run has written, and what it found."""

    html: Path
    markdown: Path
    results: Path
    findings: Findings


def run_plan(
    plan: Plan,
    folder: str | Path,
    *,
    cells: str | Path | None = None,
    workers: int | None = None,
    watch: Callable[[Progress], object] = lambda _: None,
    compute: bool = True,
    command: str = "",
) -> Report:
    """Compute what a folder does not have yet, and write the page and the CSV files into it.

    The fits go to joblib: inside ``joblib.parallel_config("dask")`` a cluster does them; with
    ``workers = 1`` they are made here. Costs of stages are measured last, one at a time. With
    ``compute = False`` the page is made of what is finished. The page names ``command``.
    """
    folder = Path(folder)
    need("matplotlib", *(() if workers == 1 else ("joblib",)))
    store = Store(Path(cells) if cells is not None else folder / CELLS)
    fits, loops, counts = plan.cells, *_costs(plan)
    problems: dict[str, str] = {}
    if compute:
        for jobs, where in ((fits, workers), (counts, workers), (loops, 1)):
            problems |= {str(job): why for job, why in run(jobs, store, where, watch).items()}
    finished = stored_results(fits, store)
    outcomes = {cell: Outcome(**outcome) for cell, outcome in finished.items()}
    if not outcomes:
        first = next(iter(problems.values()), "nothing is computed yet")
        raise InputError(f"wanted results to judge, found none: {first}")
    outcomes = {**plan.given, **outcomes}
    findings = Findings(
        plan,
        Outcomes(outcomes),
        frozenset(fits),
        {
            (job.data, job.recipes[0].name): took
            for job, took in stored_results(loops, store).items()
        },
        {(job.data, job.recipe.name): had for job, had in stored_results(counts, store).items()},
        problems,
    )
    results = write_results(folder / "results.csv", outcomes)
    write_table(folder / "judgement.csv", *findings.judgement_table())
    html, markdown = write_pages(folder, findings, command)
    return Report(html, markdown, results, findings)


def _costs(plan: Plan) -> tuple[list[InnerLoops], list[KernelCount]]:
    """What measures the stages of each method on each set: in seconds, and in kernel values."""
    size, rows = plan.sizes[-1], plan.rows
    pairs = [(source, method) for source in plan.sources for method in plan.computed]
    loops = [
        InnerLoops(source.name, size, rows, TURNS, (method,), origin=source)
        for source, method in pairs
    ]
    return loops, [KernelCount(s.name, size, rows, method, s) for s, method in pairs]
