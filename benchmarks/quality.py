"""How good the models are, ours and others' side by side: ``python -m benchmarks.quality``.

Four parts, each with sets, methods, sizes and a number of partitions (``cells.parts``): two classes
on the six benchmark sets and the development sets, many classes, Friedman's function, and many
rows of which the true probabilities are known. ``problems`` says where the sets come from; those
that are not on this machine are left out, with a word. All methods are fitted to the same rows,
one after the other, on one thread, each after a small fit that is not timed. Methods without a
size are fitted once for each partition. A rival that takes steps is looked at after several
numbers of them, with the clock stopped; its rate is the better of two.

A finished run is a line of ``.rivals/quality.jsonl``; ``--resume`` does only what is missing there
or was done with other settings, and ``--again METHODS`` also what another commit has done of these.
Partitions are the outermost loop, so ``--partitions 2 --resume`` reports on the first two of an
interrupted run. ``--markdown FILE`` writes the report and, beside it, pictures of NLP against
processor time. ``--quick`` tries the command with few rows and steps: its figures mean nothing.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import fmean

import attrs

from benchmarks import rivals
from benchmarks.cells import Cell, Part, Task, carry_out, parts, rows_of, tasks
from benchmarks.curves import Curves
from benchmarks.methods import METHODS, RIVALS
from benchmarks.verdicts import report


def read_cells(path: Path) -> list[Cell]:
    """The finished cells of a file; a line that an interruption cut off is left out."""
    cells = []
    for line in path.read_text().splitlines() if path.exists() else ():
        with suppress(json.JSONDecodeError):
            cells.append(Cell.from_json(line))
    return cells


def time_left(todo: Sequence[Task], cells: Iterable[Cell]) -> float:
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


def known_cells(path: Path, again: Sequence[str] = (), version: str = "") -> dict[str, Cell]:
    """By the keys of their tasks, the last that were finished.

    Methods named in ``again`` are known only by what this very commit has done.
    """
    certain = not version.endswith("-dirty")
    finished = [
        cell
        for cell in read_cells(path)
        if cell.final and (cell.task.method not in again or (certain and cell.commit == version))
    ]
    single = {look.task.key: look for cell in finished for look in cell.single_looks()}
    return {**single, **{cell.task.key: cell for cell in finished}}


def run(
    wanted: Sequence[Task], path: Path, quick: bool = False, again: Sequence[str] = ()
) -> dict[str, Cell]:
    """Do what the file does not have yet, and return the cells of all by the keys of tasks."""
    version = commit()
    known = known_cells(path, again, version)
    cells = {task.key: known[task.key] for task in wanted if task.key in known}
    todo = [task for task in wanted if task.key not in known]
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        if path.stat().st_size and not path.read_text().endswith("\n"):
            file.write("\n")  # a line that was cut off must not spoil the next
        for i, task in enumerate(todo):
            cell = carry_out(task, rows_of(task.data, task.partition, quick), version)
            cells[task.key] = cell
            file.write(json.dumps(attrs.asdict(cell)) + "\n")
            file.flush()
            nlp = f"NLP {cell.scores[-1].nlp:.3f}" if cell.scores else "failed"
            nlp = "does not fit" if cell.too_large else nlp
            left = time_left(todo[i + 1 :], cells.values()) / 60
            print(
                f"[{i + 1}/{len(todo)}] {task}: {nlp}, {cell.took:.1f} s; {left:.0f} min left",
                file=sys.stderr,
                flush=True,
            )
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", help="names of sets or of parts")
    parser.add_argument("--methods", nargs="+", choices=METHODS)
    parser.add_argument("--sizes", type=int, nargs="+", help="basis vectors or inducing points")
    parser.add_argument("--steps", type=int, nargs="+", help="look at rivals after these only")
    parser.add_argument("--partitions", type=int, help="how many of each set")
    parser.add_argument("--first-partition", type=int, default=0, help="number of the first")
    parser.add_argument("--quick", action="store_true", help="few rows and steps, to try it")
    parser.add_argument("--markdown", type=Path, help="write the report and its pictures there")
    parser.add_argument("--json", type=Path, help="one finished run a line")
    parser.add_argument("--resume", action="store_true", help="go on with what that file has")
    parser.add_argument("--report", action="store_true", help="what that file has, and no fits")
    parser.add_argument("--again", nargs="+", choices=METHODS, help="done anew at another commit")
    given = parser.parse_args()
    path = given.json or rivals.FOLDER / ("quality-quick.jsonl" if given.quick else "quality.jsonl")
    if read_cells(path) and not (given.resume or given.report):
        if not given.quick:  # hours of work are not lost by a slip
            parser.error(f"{path} has finished runs: --resume, or take another file by --json")
        path.unlink()
    known = {name for part in parts() for name in (part.title, *part.sets)}
    if not {*(given.sets or ())} <= known:
        parser.error(f"wanted sets of {', '.join(sorted(known))}, found {' '.join(given.sets)}")
    print(what_is_there(), file=sys.stderr)
    planned: list[tuple[Part, list[Task]]] = []
    for part in parts():
        count = 1 if given.quick else given.partitions or part.partitions
        numbers = range(given.first_partition, given.first_partition + count)
        part = part.only(given.sets, given.methods, given.sizes)
        planned.append((part, list(tasks(part, numbers, given.quick, given.steps))))
    wanted = [task for _, some in planned for task in some]
    if given.report:
        cells = known_cells(path)
    else:
        if any(task.method in RIVALS for task in wanted):
            rivals.environment()
        cells = run(wanted, path, given.quick, given.again or ())
    found = [(part, [cells[t.key] for t in some if t.key in cells]) for part, some in planned]
    text = report([(part, done) for part, done in found if done], Curves(given.markdown))
    if given.quick:
        text = f"**Quick, with few rows and steps: these figures mean nothing.**\n\n{text}"
    print(text)
    if given.markdown:
        given.markdown.write_text(text)


def what_is_there() -> str:
    """Which sets this machine has, in words."""
    there = (f"{part.title}: {', '.join(part.sets) or 'no set here'}" for part in parts())
    return f"{'; '.join(there)} (SGPC_DATA_DIR names the folder of the others)"


if __name__ == "__main__":
    main()
