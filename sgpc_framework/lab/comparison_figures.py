"""The pictures of a comparison: ranks, learning curves, quality against cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sgpc_framework.lab.figures import save
from sgpc_framework.lab.findings import Findings
from sgpc_framework.lab.results import MEASURES, SHORT, Measure
from sgpc_framework.plots.comparisons import quality_by_cost, selector_comparison
from sgpc_framework.plots.rank_diagrams import rank_diagram

ACROSS = 3
"""Panels beside each other."""


def draw_figures(folder: Path, findings: Findings) -> dict[str, Path]:
    """Draw every picture that there is something for, and return their paths by name."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, Path] = {}
    ranked = [each for each in findings.judgements if each.friedman]
    if ranked:
        tall = max(1.9, 1.2 + 0.26 * len(findings.methods))
        lines = math.ceil(len(ranked) / 2)
        drawn["ranks"] = save(
            folder / "ranks.png", (12.0, tall * lines), lambda f: _draw_ranks(f, findings)
        )
    for measure in MEASURES:
        short = SHORT[measure].lower()
        curves = _panels(findings, measure, _curve)
        if len(findings.sizes) > 1 and curves:
            drawn[f"sizes {short}"] = save(
                folder / f"sizes-{short}.png", _extent(curves), partial(_draw, panels=curves)
            )
        costs = _panels(findings, measure, _cost)
        if costs:
            drawn[f"cost {short}"] = save(
                folder / f"cost-{short}.png", _extent(costs), partial(_draw, panels=costs)
            )
    return drawn


def _draw_ranks(figure: Any, findings: Findings) -> None:
    judgements = [each for each in findings.judgements if each.friedman]
    axes = figure.subplots(math.ceil(len(judgements) / 2), 2, squeeze=False)
    for ax, judged in zip(axes.flat, judgements, strict=False):
        assert judged.friedman is not None
        rank_diagram(
            judged.friedman.ranks,
            ax,
            control=judged.control,
            reach=judged.reach,
            groups=judged.groups,
        )
        p = judged.friedman.p_iman_davenport
        title = f"test {SHORT[judged.measure]}, {judged.size} basis vectors, p = {p:.2g}"
        ax.set_title(title, fontsize=10)
    for ax in list(axes.flat)[len(judgements) :]:
        ax.set_axis_off()


Panel = tuple[str, Callable[[Any], object]]


def _panels(
    findings: Findings, measure: Measure, panel: Callable[[Findings, Measure, str], Panel | None]
) -> list[Panel]:
    each = (panel(findings, measure, data) for data in findings.outcomes.sets)
    return [one for one in each if one is not None]


def _means(
    findings: Findings, measure: Measure, data: str, methods: Sequence[str]
) -> Iterator[tuple[str, int, float, float]]:
    for method in methods:
        for size in findings.sizes:
            if findings.outcomes.has(data, [method], size):
                mean = findings.outcomes.mean(data, method, size, measure)
                noise = 0.0 if math.isnan(mean.error) else mean.error
                yield method, size, mean.value, noise


def _curve(findings: Findings, measure: Measure, data: str) -> Panel | None:
    points = list(_means(findings, measure, data, findings.methods))
    quantity = f"test {SHORT[measure]}"
    return data, lambda ax: selector_comparison(points, ax, quantity=quantity)


def _cost(findings: Findings, measure: Measure, data: str) -> Panel | None:
    """Over the seconds of a fit; where some fits were made elsewhere, over those of a stage."""
    points = list(_by_stage(findings, measure, data) if findings.known else ())
    cost = "milliseconds of a stage"
    if not findings.known:
        cost = "processor seconds of a fit"
        points = [
            (method, seconds, mean, noise)
            for method, size, mean, noise in _means(findings, measure, data, findings.methods)
            if (seconds := findings.fit_seconds(data, method, size))
        ]
    if len({method for method, *_ in points}) < 2:
        return None
    return data, lambda ax: quality_by_cost(
        points, ax, cost=cost, quantity=f"test {SHORT[measure]}"
    )


def _by_stage(
    findings: Findings, measure: Measure, data: str
) -> Iterator[tuple[str, float, float, float]]:
    for method, size, mean, noise in _means(findings, measure, data, findings.methods):
        cost = findings.stage_cost(data, method)
        if size == findings.sizes[-1] and cost is not None:
            yield method, 1000.0 * cost.seconds, mean, noise


def _extent(panels: Sequence[Panel]) -> tuple[float, float]:
    return 12.0, 0.5 + 2.9 * math.ceil(len(panels) / ACROSS)


def _draw(figure: Any, panels: Sequence[Panel]) -> None:
    """Panels with one legend for all of them."""
    axes = figure.subplots(math.ceil(len(panels) / ACROSS), ACROSS, squeeze=False)
    legend: dict[str, Any] = {}
    for ax, (title, draw) in zip(axes.flat, panels, strict=False):
        draw(ax)
        handles, labels = ax.get_legend_handles_labels()
        legend |= dict(zip(labels, handles, strict=True))
        ax.get_legend().remove()
        ax.set_title(title, fontsize=10)
        ax.tick_params(labelsize=8)
    for ax in list(axes.flat)[len(panels) :]:
        ax.set_axis_off()
    figure.legend(
        legend.values(), legend.keys(), loc="outside upper center", ncols=4, frameon=False
    )
