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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import fmean, median, stdev
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import sgpc_framework as sgpc
from benchmarks import rivals
from benchmarks.peers import WANTED, first_rows, judged
from sgpc_framework import datasets
from sgpc_framework.datasets import Benchmark

Floats = NDArray[np.float64]


@attrs.frozen
class Ours:
    """A design of ours: what ``sgpc.build`` is given, besides ``max_basis``."""

    design: str | Mapping[str, Any]
    sized: bool = True

    def settings(self, size: int | None, steps: int) -> dict[str, Any]:
        return sgpc.build(self.design, max_basis=size).config.to_mapping()

    def fit(self, data: Benchmark, settings: dict[str, Any]) -> Scores:
        few = first_rows(data, 200)
        sgpc.build({**settings, "max_basis": 5}).fit(few.X, few.y)  # loads what a fit needs
        design = sgpc.build(settings)
        began, began_cpu = perf_counter(), process_time()
        model = design.fit(data.X, data.y)
        seconds, cpu_seconds = perf_counter() - began, process_time() - began_cpu
        with TemporaryDirectory() as folder:
            path = Path(folder, "model.sgpc")
            model.save(path)
            size = path.stat().st_size
        return Scores.of(model.predict_proba(data.X_test)[:, 1], data, seconds, cpu_seconds, size)


@attrs.frozen
class Rival:
    """One of ``rivals/worker.py``; ``sized`` if it has inducing points."""

    name: str
    sized: bool

    def settings(self, size: int | None, steps: int) -> dict[str, Any]:
        options = {"inducing": size, "steps": steps} if self.sized else {}
        return {"rival": self.name, **options}

    def fit(self, data: Benchmark, settings: dict[str, Any]) -> Scores:
        options = {name: value for name, value in settings.items() if name != "rival"}
        found = rivals.run(self.name, data, **options)
        return Scores.of(found.probability, data, found.seconds, found.cpu_seconds, found.size)


METHODS: Mapping[str, Ours | Rival] = {
    "paper": Ours("paper"),
    "paper + ep": Ours({"preset": "paper", "refiner": "ep"}),
    "paper + corrective": Ours(
        {"preset": "paper", "refiner": {"name": "corrective", "move_basis": False}}
    ),
    "corrective, moving": Ours({"preset": "paper", "refiner": "corrective"}),
    "fast": Ours("fast"),
    "accurate": Ours("accurate"),
    "svgp": Rival("svgp", sized=True),
    "svgp-pll": Rival("svgp-pll", sized=True),
    "svgp-ard": Rival("svgp-ard", sized=True),
    "gp": Rival("gp", sized=False),
    "svm": Rival("svm", sized=False),
    "boosting": Rival("boosting", sized=False),
}
JUDGED = ("accurate", "fast")
"""Whom the verdict is about,"""
AGAINST = ("svgp", "svgp-pll", "svgp-ard")
"""and beside whom."""


# -- what is measured ------------------------------------------------------------------------------


def expected_calibration_error(probability: Floats, y: Floats, bins: int = 15) -> float:
    """How far confidence is from accuracy, on average over the rows.

        ∑_b |rows in b| / n · |accuracy in b - mean confidence in b|

    where confidence is max(p, 1 - p), which is 0.5 to 1, and the bins b divide that equally.
    """
    confidence = np.maximum(probability, 1.0 - probability)
    right = np.where(y > 0.0, probability, 1.0 - probability) >= 0.5
    place = np.clip(((confidence - 0.5) * 2.0 * bins).astype(int), 0, bins - 1)
    excess = np.bincount(place, weights=right - confidence, minlength=bins)
    return float(np.abs(excess).sum() / len(y))


@attrs.frozen
class Scores:
    """What one fit is judged by, all of it on the test rows, and what it took."""

    nlp: float
    error: float
    ece: float
    seconds: float
    cpu_seconds: float
    bytes: int

    @classmethod
    def of(
        cls, probability: Floats, data: Benchmark, seconds: float, cpu_seconds: float, size: int
    ) -> Scores:
        if not np.all(np.isfinite(probability)):
            raise ArithmeticError("wanted a probability for each test row, found some not finite")
        nlp, error = judged(probability, data.y_test)
        ece = expected_calibration_error(probability, data.y_test)
        return cls(nlp, error, ece, seconds, cpu_seconds, size)


@attrs.frozen
class Task:
    """One fit to be made. Settings and source are in it, so that changed ones are another task."""

    data: str
    source: str
    rows: int
    partition: int
    method: str
    size: int | None
    settings: dict[str, Any]

    def __str__(self) -> str:
        size = "" if self.size is None else f", {self.size}"
        return f"{self.data}, partition {self.partition}: {self.method}{size}"


@attrs.frozen
class Cell:
    """A task that was done: its scores, or the text of what went wrong."""

    task: Task
    scores: Scores | None
    problem: str | None
    took: float
    """Seconds for everything: a subprocess, imports and prediction are not in the scores."""
    commit: str

    @property
    def final(self) -> bool:
        """Whether doing it again is pointless."""
        return self.scores is not None or self.too_large

    @property
    def too_large(self) -> bool:
        return "does not fit" in (self.problem or "")

    @classmethod
    def from_json(cls, line: str) -> Cell:
        found = json.loads(line)
        scores = found.pop("scores")
        task = Task(**found.pop("task"))
        return cls(task=task, scores=Scores(**scores) if scores else None, **found)


def tasks(
    partitions: Iterable[int], sets: Sequence[str], sizes: Sequence[int], plan: Plan
) -> Iterator[Task]:
    """All fits, those that take turns next to each other."""
    for partition in partitions:
        for name in sets:
            data = plan.data(name, partition)
            for size in (None, *sizes):
                for title in plan.methods:
                    method = METHODS[title]
                    if method.sized == (size is not None):
                        # To JSON and back, so that it equals what a file gives
                        settings = json.loads(json.dumps(method.settings(size, plan.steps)))
                        about = data.source, len(data.y), partition, title, size
                        yield Task(name, *about, settings)


@attrs.frozen
class Plan:
    """How much is done."""

    methods: Sequence[str]
    rows: int | None = None
    steps: int = 500

    def data(self, name: str, partition: int) -> Benchmark:
        return first_rows(datasets.benchmark(name, partition), self.rows)


def done(task: Task, data: Benchmark, commit: str) -> Cell:
    """Do it. Whatever goes wrong is written down, so that the others get their turn."""
    began, scores, problem = perf_counter(), None, None
    try:
        scores = METHODS[task.method].fit(data, task.settings)
    except (ArithmeticError, rivals.RivalError, sgpc.SgpcError) as error:
        problem = str(error)
    return Cell(task, scores, problem, perf_counter() - began, commit)


# -- several partitions ----------------------------------------------------------------------------


@attrs.frozen
class Mean:
    """A mean and its standard error, which one value alone does not have."""

    mean: float
    error: float | None
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Mean:
        count = len(values)
        return cls(fmean(values), stdev(values) / count**0.5 if count > 1 else None, count)

    def text(self, digits: int, sign: str = "") -> str:
        error = "" if self.error is None else f" ± {self.error:.{digits}f}"
        return f"{self.mean:{sign}.{digits}f}{error}"


def scored(cells: Iterable[Cell], data: str, method: str, size: int) -> dict[int, Scores]:
    """By partition, the scores of a method; one without a size has the same at every size."""
    return {
        cell.task.partition: cell.scores
        for cell in cells
        if (cell.task.data, cell.task.method) == (data, method)
        and cell.task.size in (size, None)
        and cell.scores is not None
    }


@attrs.frozen
class Duel:
    """A preset beside a rival on one set: differences (preset - rival) on the same partitions."""

    data: str
    nlp: Mean
    error: Mean
    cpu_ratio: float
    """Median CPU seconds, rival / preset."""

    @property
    def nlp_no_worse(self) -> bool:
        return self.nlp.mean <= 0.0

    @property
    def error_worse(self) -> bool:
        """Significantly: by more than two standard errors."""
        return self.error.error is not None and self.error.mean > 2.0 * self.error.error

    def line(self) -> str:
        verdict = "**significantly worse**" if self.error_worse else "no"
        verdict = "one partition" if self.error.error is None else verdict
        error = attrs.evolve(
            self.error,
            mean=100 * self.error.mean,
            error=None if self.error.error is None else 100 * self.error.error,
        )
        return (
            f"| {self.data} | {self.nlp.text(3, '+')} | {'yes' if self.nlp_no_worse else '**no**'} "
            f"| {error.text(2, '+')} | {verdict} | {self.cpu_ratio:.1f} |"
        )


def duels(cells: Sequence[Cell], ours: str, rival: str, size: int) -> list[Duel]:
    """One for each set where both finished at least one partition."""
    found = []
    for data in dict.fromkeys(cell.task.data for cell in cells):
        mine, others = (scored(cells, data, method, size) for method in (ours, rival))
        pairs = [(mine[partition], others[partition]) for partition in mine if partition in others]
        if pairs:
            cpu = [median(one.cpu_seconds for one in side) for side in zip(*pairs, strict=True)]
            nlp = Mean.of([a.nlp - b.nlp for a, b in pairs])
            error = Mean.of([a.error - b.error for a, b in pairs])
            found.append(Duel(data, nlp, error, cpu[1] / cpu[0]))
    return found


# -- the report ------------------------------------------------------------------------------------


@attrs.frozen
class Measure:
    """One table: what it is called, and how its numbers are printed."""

    title: str
    field: str
    digits: int
    factor: float = 1.0
    best: bool = False
    """Whether the least of each column is printed bold."""


MEASURES = (
    Measure("NLP: mean of -log p(true label)", "nlp", 3, best=True),
    Measure("Test error, %", "error", 2, 100.0, best=True),
    Measure("Expected calibration error, %", "ece", 2, 100.0, best=True),
    Measure("Fit, CPU seconds", "cpu_seconds", 2),
    Measure("Fit, seconds by the clock", "seconds", 2),
    Measure("Saved model, kilobytes (rivals: pickled)", "bytes", 1, 1e-3),
)


def table(cells: Sequence[Cell], size: int, measure: Measure) -> str:
    """Methods as rows, sets as columns, mean ± standard error."""
    sets = list(dict.fromkeys(cell.task.data for cell in cells))
    methods = [method for method in METHODS if any(c.task.method == method for c in cells)]
    found: dict[tuple[str, str], Mean] = {}
    for method in methods:
        for data in sets:
            scores = scored(cells, data, method, size).values()
            values = [measure.factor * getattr(one, measure.field) for one in scores]
            if values:
                found[method, data] = Mean.of(values)
    least = {
        data: f"{min(means):.{measure.digits}f}"
        for data in sets
        if (means := [m.mean for (_, other), m in found.items() if other == data])
    }

    def entry(method: str, data: str) -> str:
        mine = [c for c in cells if (c.task.data, c.task.method) == (data, method)]
        mine = [c for c in mine if c.task.size in (size, None)]
        if (method, data) not in found:
            return "does not fit" if any(c.too_large for c in mine) else "failed" if mine else ""
        mean = found[method, data]
        text = mean.text(measure.digits)
        bold = measure.best and f"{mean.mean:.{measure.digits}f}" == least[data]
        part = f" ({mean.count} of {len(mine)})" if mean.count < len(mine) else ""
        return (f"**{text}**" if bold else text) + part

    lines = ["| method | " + " | ".join(sets) + " |", "|---" * (len(sets) + 1) + "|"]
    lines += [f"| {m} | {' | '.join(entry(m, data) for data in sets)} |" for m in methods]
    return f"### {measure.title}\n\n" + "\n".join(lines)


def verdict(cells: Sequence[Cell], size: int) -> str:
    """What the figures say of our presets beside the sparse rivals."""
    lines = [
        "| preset | rival | sets with NLP no worse | sets with error significantly worse "
        "| CPU ratio, least | CPU ratio, median | wanted |",
        "|---|---|---|---|---|---|---|",
    ]
    details = []
    for ours in JUDGED:
        for rival in AGAINST:
            found = duels(cells, ours, rival, size)
            if not found:
                continue
            no_worse, worse = sum(d.nlp_no_worse for d in found), sum(d.error_worse for d in found)
            ratios = [duel.cpu_ratio for duel in found]
            lines.append(
                f"| {ours} | {rival} | {no_worse} of {len(found)} | {worse} of {len(found)} "
                f"| {min(ratios):.1f} | {median(ratios):.1f} | {WANTED:g} |"
            )
            if rival in ("svgp", "svgp-ard"):
                details.append(
                    f"{ours} - {rival}:\n\n| set | NLP difference | no worse | error difference, % "
                    "| worse | CPU ratio |\n|---|---|---|---|---|---|\n"
                    + "\n".join(duel.line() for duel in found)
                )
    if not details:
        return "No preset and rival to compare."
    return "\n\n".join(["\n".join(lines), *details])


def report(cells: Sequence[Cell], sizes: Sequence[int]) -> str:
    """Everything, in Markdown."""
    partitions = sorted({cell.task.partition for cell in cells})
    commits = sorted({cell.commit for cell in cells})
    sources = {f"{c.task.data} {c.task.rows} rows ({c.task.source})": None for c in cells}
    parts = [
        "# Quality, ours and others'",
        f"Mean ± standard error over the partitions "
        f"{', '.join(map(str, partitions))}, one thread. Commit {', '.join(commits)}. "
        "The least of each column is bold.",
        f"Training rows: {'; '.join(sources)}.",
    ]
    for size in sizes:
        parts.append(f"## {size} basis vectors or inducing points")
        parts += [table(cells, size, measure) for measure in MEASURES]
    parts.append("## Verdict")
    parts.append(
        "Differences are preset - rival on the same partitions, worse is above two standard "
        "errors, and a CPU ratio is the rival's median CPU seconds over the preset's."
    )
    for size in sizes:
        parts += [f"### {size} basis vectors or inducing points", verdict(cells, size)]
    failed = [cell for cell in cells if not cell.final]
    if failed:
        texts = ((cell.problem or "").strip().splitlines() or [""] for cell in failed)
        lines = [f"- {cell.task}: {text[-1]}" for cell, text in zip(failed, texts, strict=True)]
        parts.append("## Failed\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


# -- the run ---------------------------------------------------------------------------------------


def recorded(path: Path) -> list[Cell]:
    """The finished cells of a file; a line that an interruption cut off is left out."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else ():
        with suppress(json.JSONDecodeError):
            found.append(Cell.from_json(line))
    return found


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
    known = {str(cell.task): cell for cell in recorded(path) if cell.final and cell.task in wanted}
    cells = list(known.values())  # the last, where one was done twice
    todo = [task for task in wanted if all(task != cell.task for cell in cells)]
    version = commit()
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        if path.stat().st_size and not path.read_text().endswith("\n"):
            file.write("\n")  # a line that was cut off must not spoil the next
        for i, task in enumerate(todo):
            cell = done(task, plan.data(task.data, task.partition), version)
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
    if recorded(path) and not given.resume:
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
