"""What many cells say together: means, paired comparisons, tables and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

import attrs

from benchmarks.cells import AGAINST, JUDGED, METHODS, Cell, Scores
from benchmarks.peers import WANTED
from sgpc_framework.lab.markdown import markdown_table
from sgpc_framework.metrics.statistics import Mean


def scores_by_partition(
    cells: Iterable[Cell], data: str, method: str, size: int
) -> dict[int, Scores]:
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
        return self.nlp.value <= 0.0

    @property
    def error_worse(self) -> bool:
        """Significantly, by a paired t-test."""
        return self.error.above_zero

    def cells(self) -> tuple[str, ...]:
        verdict = "**significantly worse**" if self.error_worse else "no"
        return (
            self.data,
            self.nlp.text(3, "+"),
            "yes" if self.nlp_no_worse else "**no**",
            self.error.text(2, "+", factor=100.0),
            "one partition" if self.error.count < 2 else verdict,
            f"{self.cpu_ratio:.1f}",
        )


def duels(cells: Sequence[Cell], ours: str, rival: str, size: int) -> list[Duel]:
    """One for each set where both finished at least one partition."""
    comparisons = []
    for data in dict.fromkeys(cell.task.data for cell in cells):
        mine, others = (scores_by_partition(cells, data, method, size) for method in (ours, rival))
        pairs = [(mine[partition], others[partition]) for partition in mine if partition in others]
        if pairs:
            cpu = [median(one.cpu_seconds for one in side) for side in zip(*pairs, strict=True)]
            nlp = Mean.of([a.nlp - b.nlp for a, b in pairs])
            error = Mean.of([a.error - b.error for a, b in pairs])
            comparisons.append(Duel(data, nlp, error, cpu[1] / cpu[0]))
    return comparisons


@attrs.frozen
class Measure:
    """One table: what it is called, and how its numbers are printed."""

    title: str
    field: str
    digits: int
    factor: float = 1.0
    best: bool = False
    """Whether the least of each column is printed bold."""


DUEL_HEADER = ("set", "NLP difference", "no worse", "error difference, %", "worse", "CPU ratio")
VERDICT_HEADER = (
    "preset",
    "rival",
    "sets with NLP no worse",
    "sets with error significantly worse",
    "CPU ratio, least",
    "CPU ratio, median",
    "wanted",
)

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
    means: dict[tuple[str, str], Mean] = {}
    for method in methods:
        for data in sets:
            scores = scores_by_partition(cells, data, method, size).values()
            values = [measure.factor * getattr(one, measure.field) for one in scores]
            if values:
                means[method, data] = Mean.of(values)
    least = {
        data: f"{min(column):.{measure.digits}f}"
        for data in sets
        if (column := [mean.value for (_, other), mean in means.items() if other == data])
    }

    def entry(method: str, data: str) -> str:
        mine = [c for c in cells if (c.task.data, c.task.method) == (data, method)]
        mine = [c for c in mine if c.task.size in (size, None)]
        if (method, data) not in means:
            return "does not fit" if any(c.too_large for c in mine) else "failed" if mine else ""
        mean = means[method, data]
        text = mean.text(measure.digits)
        bold = measure.best and f"{mean.value:.{measure.digits}f}" == least[data]
        part = f" ({mean.count} of {len(mine)})" if mean.count < len(mine) else ""
        return (f"**{text}**" if bold else text) + part

    rows = [(method, *(entry(method, data) for data in sets)) for method in methods]
    return f"### {measure.title}\n\n{markdown_table(('method', *sets), rows)}"


def verdict(cells: Sequence[Cell], size: int) -> str:
    """What the figures say of our presets beside the sparse rivals."""
    summary, details = [], []
    for ours in JUDGED:
        for rival in AGAINST:
            pairs = duels(cells, ours, rival, size)
            if not pairs:
                continue
            no_worse, worse = sum(d.nlp_no_worse for d in pairs), sum(d.error_worse for d in pairs)
            ratios = [duel.cpu_ratio for duel in pairs]
            counts = f"{no_worse} of {len(pairs)}", f"{worse} of {len(pairs)}"
            speed = f"{min(ratios):.1f}", f"{median(ratios):.1f}", f"{WANTED:g}"
            summary.append((ours, rival, *counts, *speed))
            if rival in ("svgp", "svgp-ard"):
                lines = markdown_table(DUEL_HEADER, (duel.cells() for duel in pairs))
                details.append(f"{ours} - {rival}:\n\n{lines}")
    if not details:
        return "No preset and rival to compare."
    return "\n\n".join([markdown_table(VERDICT_HEADER, summary), *details])


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
        "Differences are preset - rival on the same partitions, worse is by a paired t-test at "
        "0.05, and a CPU ratio is the rival's median CPU seconds over the preset's."
    )
    for size in sizes:
        parts += [f"### {size} basis vectors or inducing points", verdict(cells, size)]
    failed = [cell for cell in cells if not cell.final]
    if failed:
        texts = ((cell.problem or "").strip().splitlines() or [""] for cell in failed)
        lines = [f"- {cell.task}: {text[-1]}" for cell, text in zip(failed, texts, strict=True)]
        parts.append("## Failed\n\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"
