"""The paper's figures, drawn from what was found. They need the extra ``experiments``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from sgpc_framework.lab.bayes import Floor
from sgpc_framework.lab.evidence import Evidence
from sgpc_framework.lab.methods import (
    OPTIMISED_SITES,
    PROPOSED,
    VALIDATION,
    adaptive,
    random,
)
from sgpc_framework.lab.plan import COMPARED
from sgpc_framework.lab.ranks import draw_ranks
from sgpc_framework.lab.results import MEASURES, SHORT, Results
from sgpc_framework.lab.stage_curves import StageCurves
from sgpc_framework.metrics.statistics import Mean
from sgpc_framework.plots.style import BLACK, BLUE, GREEN, ORANGE, RED, SKY, YELLOW

GREY = "#777777"
SHADES = ("#999999", ORANGE, YELLOW, SKY, BLUE, BLACK)
"""One for each method of Experiment 3."""

DPI = 80


def draw_all(folder: Path, evidence: Evidence, floors: dict[str, Floor]) -> dict[str, Path]:
    """Draw every figure that there is evidence for, and return their paths by name."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {"losses": save(folder / "losses.png", (6.4, 4.0), draw_losses)}
    results = evidence.results
    if evidence.stages:
        drawn["stages"] = save(
            folder / "experiment1.png", (10.0, 5.2), lambda f: draw_stages(f, evidence.stages)
        )
    smallest = results.scale.working_sets[0]
    pair = [random(smallest), adaptive(smallest)]
    sets = [s for s in results.scale.sets if results.has(s, pair, results.scale.sizes[0])]
    if sets:
        drawn["working sets"] = save(
            folder / "experiment2.png",
            (12.0, 2.1 * len(sets) + 0.6),
            lambda f: draw_working_sets(f, results, sets),
        )
    sets = [s for s in results.scale.sets if results.has(s, COMPARED, results.scale.sizes[0])]
    if sets:
        drawn["sizes"] = save(
            folder / "experiment3.png",
            (11.0, 2.1 * len(sets) + 0.6),
            lambda f: draw_sizes(f, results, sets, floors),
        )
    if len(sets) > 1:
        drawn["ranks"] = save(folder / "ranks.png", (11.0, 8.0), lambda f: draw_ranks(f, results))
    return drawn


def draw_losses(figure: Any) -> None:
    """Figure 1: losses of boosting beside the predictive loss, over the margin z."""
    ax = figure.subplots()
    z = np.linspace(-2.5, 2.5, 301)
    moderated = z / np.sqrt(1.5)
    curves = {
        "exponential, exp(-z)": (np.exp(-z), BLUE, "-"),
        "binomial, log(1 + exp(-2z))": (np.logaddexp(0.0, -2.0 * z), GREEN, "--"),
        "-log Φ(z) / log 2": (-log_ndtr(z) / np.log(2.0), RED, "-"),
        "the same, moderated (variance 0.5)": (-log_ndtr(moderated) / np.log(2.0), RED, ":"),
        "misclassification": (np.where(z <= 0.0, 1.0, 0.0), GREY, "-"),
    }
    for label, (values, colour, style) in curves.items():
        ax.plot(z, values, style, color=colour, label=label)
    ax.axhline(1.0, color=GREY, lw=0.6, ls="--")
    ax.set(xlabel="z = y (f + b)", ylabel="loss", ylim=(0.0, 6.0), xlim=(-2.5, 2.5))
    _dress(ax).legend(frameon=False)


def draw_stages(figure: Any, stages: dict[StageCurves, dict[str, list[float]]]) -> None:
    """Figure 2: error and NLP as basis vectors are added, for two ways to estimate sites."""
    sets = list(dict.fromkeys(job.cell.data for job in stages))
    axes = figure.subplots(2, 2 * len(sets), squeeze=False)
    lines = {
        PROPOSED: ("-", RED, "moment matching"),
        OPTIMISED_SITES: ("--", BLUE, "predictive loss"),
    }
    for job, curves in stages.items():
        style, colour, label = lines[job.cell.method]
        for i, measure in enumerate(("error", "nlp")):
            for j, part in enumerate(("training", "test")):
                ax = axes[i, 2 * sets.index(job.cell.data) + j]
                values = curves[f"{part}_{measure}"]
                ax.plot(np.arange(1, len(values) + 1), values, style, color=colour, label=label)
                title = "NLP" if measure == "nlp" else "error"
                ax.set(title=f"{job.cell.data.title()}, {part} {title}", xlabel="basis vectors")
                ax.title.set_fontsize(10)
                _dress(ax)
    axes[0, 0].legend(frameon=False)


def draw_working_sets(figure: Any, results: Results, sets: Sequence[str]) -> None:
    """Figure 3, left: random against adaptive sampling over the size of the working set."""
    sizes = results.scale.small
    axes = figure.subplots(len(sets), 4, squeeze=False)
    lines = ((random, "s--", RED, "random"), (adaptive, "o-", BLUE, "adaptive"))
    for row, data in zip(axes, sets, strict=True):
        panels = [(size, measure) for size in sizes for measure in MEASURES]
        for ax, (size, measure) in zip(row, panels, strict=True):
            ticks = results.scale.working_sets
            methods = [named(k) for named in (random, adaptive) for k in ticks]
            shared = results.common(data, [*methods, VALIDATION], size)
            if not shared:
                ax.set_axis_off()
                continue
            for named, style, colour, label in lines:
                means = [results.mean(data, named(k), size, measure, shared) for k in ticks]
                _curve(ax, ticks, means, style, colour, label)
            level = results.mean(data, VALIDATION, size, measure, shared).value
            ax.axhline(level, color=BLACK, ls="-.", lw=1.0, label=VALIDATION)
            ax.set_xscale("log")
            ax.set_xticks(ticks, labels=[str(k) for k in ticks])
            ax.minorticks_off()
            ax.set_title(f"{data.title()}, test {SHORT[measure]}, {size}", fontsize=9)
            _dress(ax)
    for ax in axes[-1]:
        ax.set_xlabel("working set κ")
    axes[0, 0].legend(frameon=False, fontsize=8)


def _curve(
    ax: Any, ks: Sequence[int], means: Sequence[Mean], style: str, colour: str, label: str
) -> None:
    values, errors = [m.value for m in means], [m.error for m in means]
    ax.errorbar(ks, values, errors, fmt=style, color=colour, ms=4, lw=1.2, capsize=2, label=label)


def draw_sizes(
    figure: Any, results: Results, sets: Sequence[str], floors: dict[str, Floor]
) -> None:
    """Figure 3, right: the methods side by side at each size, with Bayes errors where known."""
    axes = figure.subplots(len(sets), 2, squeeze=False)
    width = 0.8 / len(COMPARED)
    for row, data in zip(axes, sets, strict=True):
        shared = {size: results.common(data, COMPARED, size) for size in results.scale.sizes}
        sizes = [size for size, partitions in shared.items() if partitions]
        for ax, measure in zip(row, MEASURES, strict=True):
            for i, (method, colour) in enumerate(zip(COMPARED, SHADES, strict=True)):
                means = [results.mean(data, method, s, measure, shared[s]) for s in sizes]
                ax.bar(
                    np.arange(len(sizes)) + (i - (len(COMPARED) - 1) / 2) * width,
                    [m.value for m in means],
                    width,
                    yerr=[m.error for m in means],
                    color=colour,
                    edgecolor=BLACK,
                    linewidth=0.3,
                    error_kw={"lw": 0.8, "ecolor": GREY},
                    label=method,
                )
            if data in floors:
                floor = floors[data].error if measure == "test_error" else floors[data].nlp
                ax.axhline(floor.value, color=RED, lw=1.2, ls="--", label="Bayes")
            ax.set_xticks(np.arange(len(sizes)), labels=[str(size) for size in sizes])
            ax.set_title(f"{data.title()}, test {SHORT[measure]}", fontsize=10)
            _dress(ax)
    for ax in axes[-1]:
        ax.set_xlabel("basis vectors")
    handles = {label: h for ax in axes.flat for h, label in zip(*_legend(ax), strict=True)}
    figure.legend(
        handles.values(), handles.keys(), loc="outside upper center", ncols=4, frameon=False
    )


def _legend(ax: Any) -> tuple[list[Any], list[str]]:
    handles, labels = ax.get_legend_handles_labels()
    return handles, labels


def _dress(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)
    return ax


def save(path: Path, size: tuple[float, float], draw: Callable[[Any], None]) -> Path:
    """What ``draw`` draws on a figure of that size in inches, as a file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    draw(figure)
    figure.savefig(path, dpi=DPI, metadata={"Software": None})
    return path
