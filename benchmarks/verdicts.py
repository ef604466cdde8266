"""The report of the quality benchmark, in Markdown: what is worse comes first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import filterfalse
from math import inf
from statistics import fmean

import attrs

from benchmarks.cells import Cell, Part
from benchmarks.curves import Curves
from benchmarks.methods import METHODS, OURS, Ours
from benchmarks.problems import development
from benchmarks.standings import TIE, Entrant, Standings
from sgpc_framework.datasets import BENCHMARKS
from sgpc_framework.lab.markdown import markdown_table

SHOWN_STEPS = 500
"""At how many steps tables of single sets have a rival that has steps."""


@attrs.frozen
class Measure:
    """One table: what it is called, and how its numbers are printed."""

    title: str
    field: str
    digits: int
    factor: float = 1.0
    best: bool = False
    """Whether the least of each line is printed bold."""


NLP = Measure("NLP: mean of -log p(true label)", "nlp", 3, best=True)
MEASURES = (
    NLP,
    Measure("Test error, %", "error", 2, 100.0, best=True),
    Measure("Expected calibration error, %", "ece", 2, 100.0, best=True),
    Measure("Fit, processor seconds", "cpu_seconds", 2),
    Measure("Saved model, kilobytes (rivals: pickled)", "bytes", 1, 1e-3),
)


def is_ours(entrant: Entrant) -> bool:
    return isinstance(METHODS[entrant.method], Ours)


def table(standings: Standings, entrants: Sequence[Entrant], measure: Measure) -> str:
    """Sets as lines, entrants as columns, mean ± standard error."""
    problems = {(c.task.data, c.task.method): c for c in standings.cells if not c.scores}

    def line(data: str) -> list[str]:
        means = [standings.mean(data, entrant, measure.field) for entrant in entrants]
        values = [measure.factor * mean.value for mean in means if mean]
        least = f"{min(values, default=0.0):.{measure.digits}f}"
        most = max((mean.count for mean in means if mean), default=0)
        texts = []
        for entrant, mean in zip(entrants, means, strict=True):
            problem = problems.get((data, entrant.method))
            if mean is None:
                reason = "does not fit" if problem and problem.too_large else "failed"
                texts.append(reason if problem else "")
                continue
            text = mean.text(measure.digits, factor=measure.factor)
            same = f"{measure.factor * mean.value:.{measure.digits}f}" == least
            text = f"**{text}**" if measure.best and same else text
            texts.append(text if mean.count == most else f"{text} ({mean.count} of {most})")
        return texts

    header = "set", *map(str, entrants)
    return markdown_table(header, ((data, *line(data)) for data in standings.sets))


def single_sets(standings: Standings) -> str:
    """Each measure of each set, methods with steps at one number of them."""
    entrants = [e for e in standings.entrants if e.budget in (None, SHOWN_STEPS)]
    tables = [f"#### {m.title}\n\n{table(standings, entrants, m)}" for m in MEASURES]
    stepping = [e for e in standings.entrants if e.budget is not None]
    if len(stepping) > 1:
        tables.append(f"#### NLP by steps\n\n{table(standings, stepping, NLP)}")
    return "\n\n".join(tables)


def losses_first(standings: Standings) -> str:
    """Each of ours beside each rival: where it loses and by how much, and how often it does not."""
    families = {"development": development(), "the six": tuple(BENCHMARKS)}
    there = [name for name, sets in families.items() if {*sets} & {*standings.sets}]
    rows = []
    for ours in filter(is_ours, standings.entrants):
        for rival in filterfalse(is_ours, standings.entrants):
            duel = standings.duel(ours, rival)
            if duel.ratios:
                lost = (f"{data} +{100 * duel.ratios[data] - 100:.0f} %" for data in duel.losses)
                counts = map(str, (len(duel.losses), duel.ties, duel.wins))
                lower = (duel.lower(families[name]) for name in there)
                rows.append((str(ours), str(rival), *counts, *lower, ", ".join(lost)))
    lower_on = (f"lower, {name}" for name in there)
    header = "ours", "rival", "losses", "ties", "wins", *lower_on, "lost on"
    return markdown_table(header, rows) or "No preset and rival to compare."


def budgets(standings: Standings) -> str:
    """Geometric means of NLP and time, and what ours has in no more time than a rival takes."""
    entrants = standings.entrants
    over = standings.shared(entrants)
    if not over:
        return "No set that all have finished."
    means = {
        entrant: tuple(standings.geometric_mean(entrant, f, over) for f in ("cpu_seconds", "nlp"))
        for entrant in entrants
    }
    rows = []
    for entrant, (seconds, nlp) in means.items():
        quick = [(n, str(e)) for e, (s, n) in means.items() if is_ours(e) and s <= seconds]
        least, name = min(quick, default=(inf, ""))
        beside = f"{least:.4f} ({name})" if quick else "none is as quick"
        if least > nlp:
            beside = f"**{beside}**"
        beside = "" if is_ours(entrant) else beside
        rows.append((str(entrant), f"{seconds:.2f}", f"{nlp:.4f}", beside))
    left_out = [data for data in standings.sets if data not in over]
    words = f"Over the {len(over)} sets that all have finished"
    words += f" (without {', '.join(left_out)})" if left_out else ""
    header = "method", "processor seconds", "NLP", "least NLP of ours in no more time"
    words += ". Bold: nothing of ours is as good in no more time."
    return f"{words}\n\n{markdown_table(header, rows)}"


def of_sets(title: str, part: Part, cells: Sequence[Cell], curves: Curves) -> str:
    """A part with several sets: verdict, curve, tables."""
    text = []
    for size in part.sizes:
        standings = Standings(cells, size)
        if not standings.scores:
            continue
        partitions = sorted({cell.task.partition for cell in cells if cell.scores})
        text += [
            f"## {title}, {size} basis vectors or inducing points",
            f"Partitions {', '.join(map(str, partitions))}.",
            "### Losses, ties and wins in NLP",
            losses_first(standings),
            "### Geometric means",
            budgets(standings),
        ]
        picture = curves.of_sets(standings, f"{part.title}-{size}")
        if picture:
            text.append(f"![NLP against processor seconds, {size}]({picture})")
        text += ["### Single sets", single_sets(standings)]
    return "\n\n".join(text)


def of_seeds(title: str, part: Part, cells: Sequence[Cell], bar: float) -> str:
    """One generated set: the NLP of each seed, and how many are at most the bar."""
    text = []
    for size in part.sizes:
        standings = Standings(cells, size)
        for data, scores in standings.scores.items():
            entrants = standings.entrants
            seeds = sorted({partition for found in scores.values() for partition in found})
            rows = [
                (
                    str(seed),
                    *(f"{scores[e][seed].nlp:.3f}" if seed in scores[e] else "" for e in entrants),
                )
                for seed in seeds
            ]
            counts = [
                f"{sum(one.nlp <= bar for one in scores[e].values())} of {len(scores[e])}"
                for e in entrants
            ]
            means = [fmean(one.cpu_seconds for one in scores[e].values()) for e in entrants]
            rows.append((f"at most {bar:g}", *counts))
            rows.append(("processor seconds", *(f"{mean:.2f}" for mean in means)))
            header = "seed", *map(str, entrants)
            text += [f"## {title}, {size}", f"NLP on {data}.", markdown_table(header, rows)]
    return "\n\n".join(text)


def of_many_rows(title: str, part: Part, cells: Sequence[Cell], curves: Curves) -> str:
    """What is lost beside the true probabilities, and in which time."""
    text = []
    for size in part.sizes:
        standings = Standings(cells, size)
        if not standings.scores:
            continue
        least = excess_floor(cells)
        rows = []
        for entrant in standings.entrants:
            found = []
            for data in standings.sets:
                scores = standings.scores[data].get(entrant, {})
                excess = [one.nlp - least[data, p] for p, one in scores.items()]
                took = [one.cpu_seconds for one in scores.values()]
                found.append(f"{fmean(excess):.4f} @ {fmean(took):.1f}" if scores else "")
            rows.append((str(entrant), *found))
        text += [
            f"## {title}, {size}",
            "NLP beyond that of the true probabilities on the same test rows @ processor seconds.",
            markdown_table(("method", *standings.sets), rows),
        ]
        picture = curves.of_many_rows(standings, least, f"{part.title}-{size}")
        if picture:
            text.append(f"![Excess NLP against processor seconds]({picture})")
    return "\n\n".join(text)


def excess_floor(cells: Sequence[Cell]) -> Mapping[tuple[str, int], float]:
    """The NLP of the true probabilities, by set and partition."""
    return {(cell.task.data, cell.task.partition): cell.bayes for cell in cells}


FRIEDMAN_BAR = 0.16


def report(found: Sequence[tuple[Part, Sequence[Cell]]], curves: Curves) -> str:
    """Everything, in Markdown; pictures are drawn by the way."""
    every = [cell for _, cells in found for cell in cells]
    commits = sorted({cell.commit for cell in every if cell.task.method in OURS})
    sources = dict.fromkeys(f"{c.task.data} {c.task.rows}" for c in every)
    text = [
        "# Quality, ours and others'",
        "Means over partitions (± standard error), paired; all on one thread, in turns. A tie is "
        f"within {100 * TIE:g} %. A rival with steps is looked at after several numbers of them, "
        "and has the better of two rates, set by set and number by number, *by test NLP*: no user "
        "could choose so well. The least of each line is bold. "
        f"Ours are of commit {', '.join(commits) or 'none'}.",
        f"Training rows: {', '.join(sources)}.",
    ]
    for part, cells in found:
        if part.title == "friedman":
            text.append(of_seeds("Friedman's function", part, cells, FRIEDMAN_BAR))
        elif part.title == "many-rows":
            text.append(of_many_rows("Many rows", part, cells, curves))
        else:
            text.append(of_sets(part.title.replace("-", " ").capitalize(), part, cells, curves))
    failed = [cell for cell in every if not cell.final]
    if failed:
        texts = ((cell.problem or "").strip().splitlines() or [""] for cell in failed)
        lines = [f"- {cell.task}: {text[-1]}" for cell, text in zip(failed, texts, strict=True)]
        text.append("## Failed\n\n" + "\n".join(lines))
    return "\n\n".join(filter(None, text)) + "\n"
