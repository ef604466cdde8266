"""What many cells say together: means, paired comparisons, tables and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, median, stdev

import attrs

from benchmarks.cells import AGAINST, JUDGED, METHODS, Cell, Scores
from benchmarks.peers import WANTED


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
        """Significantly: a paired t-test, two-sided at 0.05. With five partitions that takes 2.8
        standard errors, of which two would call one in nine comparisons of equals significant."""
        if self.error.error is None:
            return False
        from scipy.stats import t  # slow to import

        limit = float(t.ppf(0.975, self.error.count - 1))
        return self.error.mean > limit * self.error.error

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
