"""All of it: run what is wanted and not finished, then write tables, figures and the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

from sgpc_framework import datasets
from sgpc_framework.errors import InputError, suggestion
from sgpc_framework.files.whole_file import check_writable
from sgpc_framework.lab import plan
from sgpc_framework.lab.cells import Outcome
from sgpc_framework.lab.evidence import Evidence, write_csv
from sgpc_framework.lab.paper_page import COMMAND, write_page
from sgpc_framework.lab.plan import EXPERIMENTS, Scale
from sgpc_framework.lab.results import Results
from sgpc_framework.lab.running import Progress, run, stored_results
from sgpc_framework.lab.store import Store

Watcher = Callable[[Progress], object]


def reproduce(
    folder: Path,
    scale: Scale | None = None,
    experiments: Iterable[str] = EXPERIMENTS,
    *,
    cells: Path | None = None,
    workers: int | None = None,
    watch: Watcher = lambda _: None,
    compute: bool = True,
    command: str = COMMAND,
) -> Path:
    """Run experiments, and write ``reproduction.md`` with figures and CSV files into a folder.

    The fits go to joblib: inside ``joblib.parallel_config("dask")`` a cluster does them. Timings
    are made last, one at a time. With ``compute = False`` the page is made of what is finished.
    Returns the path of the page, which names ``command``.
    """
    scale, wanted = scale or Scale(), tuple(experiments)
    _refuse_unknown(scale.sets)
    need("matplotlib", *(() if workers == 1 else ("joblib",)))
    store = Store(cells or folder / "cells")
    for place in (folder, store.folder):
        place.mkdir(parents=True, exist_ok=True)
        check_writable(place / "a result")  # before the work, not after it
    fits = plan.cells_in_order(scale, wanted)
    stages = plan.curves(scale) if "experiment1" in wanted else []
    loops = plan.timings(scale) if "timing" in wanted else []
    if compute:
        run([*fits, *stages], store, workers, watch)
        run(loops, store, 1, watch)  # alone, or they would measure each other
    outcomes = {cell: Outcome(**outcome) for cell, outcome in stored_results(fits, store).items()}
    evidence = Evidence(
        Results(outcomes, scale), stored_results(stages, store), stored_results(loops, store)
    )
    write_csv(folder, evidence)
    return write_page(folder, evidence, command)


def need(*modules: str) -> None:
    """An ``ImportError`` before the work rather than after it."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise ImportError(
            f"{' and '.join(missing)} must be installed: pip install 'sgpc-framework[experiments]'"
        )


def _refuse_unknown(sets: Iterable[str]) -> None:
    for name in sets:
        if name not in datasets.BENCHMARKS:
            raise InputError(f"no benchmark set {name!r}; {suggestion(name, datasets.BENCHMARKS)}")
