"""How good the models are, ours and others' side by side: ``python -m benchmarks.quality``.

Six benchmark sets (``SGPC_DATA_DIR``; the three generated ones otherwise) in the paper's sizes, 20
and 80 basis vectors or inducing points, several partitions, BLAS and PyTorch on one thread. All
methods are fitted to the same rows, one after the other, each after a small fit that is not timed.
SVM, boosting and the full GP have no such size, so they are fitted once for each partition.

A finished fit is a line of ``.rivals/quality.jsonl``; ``--resume`` does only what is missing there
or was done with other settings. Partitions are the outermost loop, so ``--partitions 2 --resume``
reports on the first two of an interrupted run. ``--quick`` tries the command with few rows and
steps: its figures mean nothing.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import fmean

import attrs

from benchmarks import rivals
from benchmarks.cells import METHODS, Cell, Plan, Task, carry_out, tasks
from benchmarks.verdicts import report
from sgpc_framework import datasets


def read_cells(path: Path) -> list[Cell]:
    """The finished cells of a file; a line that an interruption cut off is left out."""
    cells = []
    for line in path.read_text().splitlines() if path.exists() else ():
        with suppress(json.JSONDecodeError):
            cells.append(Cell.from_json(line))
    return cells


def time_left(todo: Sequence[Task], cells: Sequence[Cell]) -> float:
    """Seconds, from what the most similar cells took; a fit of another set is better than none."""
    likenesses: tuple[Callable[[Task], object], ...] = (
        lambda t: (t.method, t.size, t.data),
        lambda t: (t.method, t.size),
        lambda t: t.method,
        lambda t: None,
    )
    seen: dict[object, list[float]] = {}
    for cell in cells:
        for i, likeness in enumerate(likenesses):
            seen.setdefault((i, likeness(cell.task)), []).append(cell.took)
    total = 0.0
    for task in todo:
        keys = ((i, likeness(task)) for i, likeness in enumerate(likenesses))
        total += fmean(next((seen[key] for key in keys if key in seen), [0.0]))
    return total


def commit() -> str:
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
    )
    return described.stdout.strip() or "unknown"


def run(wanted: Sequence[Task], plan: Plan, path: Path) -> list[Cell]:
    """Do what the file does not have yet, and return the cells of all."""
    known = {
        str(cell.task): cell for cell in read_cells(path) if cell.final and cell.task in wanted
    }
    cells = list(known.values())  # the last, where one was done twice
    todo = [task for task in wanted if all(task != cell.task for cell in cells)]
    version = commit()
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        if path.stat().st_size and not path.read_text().endswith("\n"):
            file.write("\n")  # a line that was cut off must not spoil the next
        for i, task in enumerate(todo):
            cell = carry_out(task, plan.data(task.data, task.partition), version)
            cells.append(cell)
            file.write(json.dumps(attrs.asdict(cell)) + "\n")
            file.flush()
            nlp = f"NLP {cell.scores.nlp:.3f}" if cell.scores else "failed"
            nlp = "does not fit" if cell.too_large else nlp
            left = time_left(todo[i + 1 :], cells) / 60
            print(
                f"[{i + 1}/{len(todo)}] {task}: {nlp}, {cell.took:.1f} s; {left:.0f} min left",
                file=sys.stderr,
                flush=True,
            )
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 80], help="basis vectors")
    parser.add_argument("--partitions", type=int, default=5, help="how many")
    parser.add_argument("--first-partition", type=int, default=10, help="number of the first")
    parser.add_argument("--sets", nargs="+", default=list(datasets.available()), help="by names")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--quick", action="store_true", help="few rows, steps and sets, to try it")
    parser.add_argument("--markdown", type=Path, help="write the report to this file, too")
    parser.add_argument("--json", type=Path, help="one finished fit a line")
    parser.add_argument("--resume", action="store_true", help="go on with what that file has")
    given = parser.parse_args()
    plan = Plan(given.methods)
    if given.quick:
        plan = Plan(given.methods, rows=500, steps=20)
        given.sets, given.partitions = given.sets[:2], 1
    path = given.json or rivals.FOLDER / ("quality-quick.jsonl" if given.quick else "quality.jsonl")
    if read_cells(path) and not given.resume:
        if not given.quick:  # hours of work are not lost by a slip
            parser.error(f"{path} has finished fits: --resume, or take another file by --json")
        path.unlink()
    rivals.environment()
    partitions = range(given.first_partition, given.first_partition + given.partitions)
    cells = run(list(tasks(partitions, given.sets, given.sizes, plan)), plan, path)
    text = report(cells, given.sizes)
    if given.quick:
        text = f"**Quick, with few rows and steps: these figures mean nothing.**\n\n{text}"
    print(text)
    if given.markdown:
        given.markdown.write_text(text)


if __name__ == "__main__":
    main()
