"""The page: what was found, beside what the paper says."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from sgpc_framework.lab import paper_sections as sections
from sgpc_framework.lab import paper_tables as tables
from sgpc_framework.lab.bayes import LOG_ODDS, Floor, floor
from sgpc_framework.lab.evidence import Evidence
from sgpc_framework.lab.figures import draw_all
from sgpc_framework.lab.plan import COMPARED
from sgpc_framework.lab.results import Results

NAME = "reproduction.md"
COMMAND = "sgpc reproduce"


def write_page(folder: Path, evidence: Evidence, command: str = COMMAND) -> Path:
    """Draw the figures, write the page beside them, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in LOG_ODDS if name in evidence.results.scale.sets]
    floors = {name: floor(name) for name in wanted}
    figures = draw_all(folder / "figures", evidence, floors)
    pictures = {name: path.relative_to(folder).as_posix() for name, path in figures.items()}
    path = folder / NAME
    path.write_text(text(evidence, floors, pictures, command), encoding="utf-8")
    return path


def text(
    evidence: Evidence, floors: dict[str, Floor], pictures: dict[str, str], command: str
) -> str:
    """The page as Markdown; a section without evidence is left out."""
    results = evidence.results
    sizes, small = results.scale.sizes, results.scale.small
    parts = [
        "# The paper, reproduced",
        _introduction(evidence, command),
        "## What holds",
        sections.verdicts(evidence),
        sections.claims(evidence),
        "## Data",
        sections.data(evidence),
        "## Figure 1: losses",
        "A moderated margin is z / √(1 + variance). Where -log Φ(z) / log 2 is above the step, its "
        "mean bounds the training error (eq. 6).",
        _picture("losses", "Losses over the margin", pictures),
    ]
    if evidence.stages or sections.sites(results):
        parts += [
            "## Experiment 1: sites",
            f"Working set 2, {sizes[1]} basis vectors. The curves are the returned model along its "
            "stages, on the first partition; the table has all partitions.",
            _picture("stages", "Error and NLP along the stages", pictures),
            sections.sites(results),
        ]
    if "working sets" in pictures:
        parts += [
            "## Experiment 2: adaptive and random sampling",
            "Means and standard errors over the partitions; the dash-dotted line is validation.",
            _picture("working sets", "Error and NLP over the size of the working set", pictures),
        ]
    if "sizes" in pictures:
        parts += ["## Experiment 3: selection methods", *_selection(evidence, pictures)]
    if evidence.seconds:
        parts += [
            "## Time",
            f"One inner loop with {sizes[1]} stages, median of several turns in which all methods "
            "were timed one after the other, in one process.",
            sections.seconds(evidence),
        ]
    beyond = sections.refiners(results, floors)
    if beyond:
        parts += [
            "## Beyond the paper",
            "The same partitions with what the paper does not have: its method with the "
            f"`corrective` refiner, and the presets, at {small[0]} and {small[1]} basis vectors.",
            beyond,
        ]
    parts += ["## Files", _files(evidence)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _introduction(evidence: Evidence, command: str) -> str:
    results, scale = evidence.results, evidence.results.scale
    outcomes = results.outcomes.values()
    seconds = sum(outcome.cpu_seconds for outcome in outcomes)
    lines = [
        "The experiments of Sundararajan and Shevade, *An Additive Model View to Sparse Gaussian "
        "Process Classifier Design*, section 5, run again by one command:",
        f"```console\npip install 'sgpc-framework[experiments]'\n{command}\n```",
        f"{len(outcomes)} fits, {seconds:.0f} s of processor time ({_machine()}). "
        + _settings(results),
    ]
    if scale.rows:
        lines.append("**With few rows, partitions and rounds: these figures mean little.**")
    return "\n\n".join(lines)


def _settings(results: Results) -> str:
    scale = results.scale

    def numbers(values: Iterable[int]) -> str:
        return ", ".join(map(str, values))

    finished = (
        min(len(results.common(data, COMPARED, size)) for data in scale.sets)
        for size in scale.sizes
    )
    return (
        f"With {numbers(scale.sizes)} basis vectors there were at most {numbers(scale.iterations)} "
        "outer iterations (the paper: 20), the same for all methods, and Experiment 3 has "
        f"{numbers(finished)} partitions (the paper: 25 or 20). As in the paper: squared "
        "exponential with one lengthscale, probit, moment matching, hyperparameters by NLP (log "
        "loss, the mean of -log p(true label), lower is better) and conjugate gradients, the "
        "best outer iteration by NLP. The lengthscale starts at the "
        "median distance; the paper does not say where it starts. The seed of a fit is its "
        "partition's number."
    )


def _machine() -> str:
    return (
        f"{platform.machine()}, Python {platform.python_version()}, NumPy {version('numpy')}, "
        "one BLAS thread"
    )


def _selection(evidence: Evidence, pictures: dict[str, str]) -> list[str]:
    results = evidence.results
    parts = [
        "Bars are means over the partitions with standard errors, the dashed line is the Bayes "
        "error or the Bayes NLP where it is known.",
        _picture("sizes", "Error and NLP of the methods at each size", pictures),
        "### Test error in percent, mean ± standard error",
        tables.means(results, COMPARED, results.scale.sizes, "test_error"),
        "### Test NLP (log loss), mean ± standard error",
        tables.means(results, COMPARED, results.scale.sizes, "test_nlp"),
        "### Which information gain",
        "The paper's printed criterion is no relative entropy, so both directions were run: "
        "new-old is KL(new‖old), the selector's default, old-new the other. Wilcoxon's tests "
        "at 0.05, beside what the paper remarks:",
        tables.directions(results),
        "### Wilcoxon's tests, adaptive 2 beside the others",
        "Better, worse or the same at 0.05, with p.",
        "Test error:",
        tables.wilcoxon(results, "test_error"),
        "Test NLP:",
        tables.wilcoxon(results, "test_nlp"),
    ]
    if "ranks" in pictures:
        parts += [
            "### Friedman's test over the sets",
            "Mean ranks over the sets, by means over the partitions. A star: beyond the critical "
            "difference of Bonferroni and Dunn at 0.1 from the proposed method.",
            tables.friedman(results),
            _picture("ranks", "Critical-difference diagrams", pictures),
        ]
    return parts


def _files(evidence: Evidence) -> str:
    files = {
        "results.csv": ("one fit a row", evidence.results.outcomes),
        "stages.csv": ("the curves of Experiment 1", evidence.stages),
        "seconds.csv": ("every timed inner loop", evidence.seconds),
    }
    return "\n".join(
        f"- [{name}]({name}): {what}" for name, (what, there) in files.items() if there
    )


def _picture(name: str, caption: str, pictures: dict[str, str]) -> str:
    return f"![{caption}]({pictures[name]})" if name in pictures else ""
