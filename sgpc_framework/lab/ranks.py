"""Friedman's test as the paper makes it, with its critical-difference diagrams."""

from __future__ import annotations

from typing import Any

from sgpc_framework.lab.methods import ENTROPY, GAIN, PROPOSED, VALIDATION
from sgpc_framework.lab.results import MEASURES, SHORT, Measure, Results
from sgpc_framework.metrics.rank_tests import critical_difference
from sgpc_framework.plots.rank_diagrams import rank_diagram

RANKED = (PROPOSED, VALIDATION, ENTROPY, GAIN)
"""The four methods of the paper's test; the first is the one that the others are compared with."""

POST_HOC_LEVEL = 0.1
"""The level of the paper's Bonferroni-Dunn test."""

PAPER_P: dict[Measure, tuple[float, float, float, float]] = {
    "test_error": (0.02, 0.04, 0.04, 0.39),
    "test_nlp": (0.002, 0.002, 0.01, 0.09),
}
"""The p-values that the paper gives for 40, 80, 160 and 320 basis vectors."""


def draw_ranks(figure: Any, results: Results) -> None:
    """Mean ranks, one panel for each size and measure. The bar is the critical difference around
    the proposed method: who is outside of it differs from that at the 0.1 level."""
    axes = figure.subplots(len(results.scale.sizes), 2, squeeze=False)
    for row, size in zip(axes, results.scale.sizes, strict=True):
        for ax, measure in zip(row, MEASURES, strict=True):
            test = results.friedman(RANKED, size, measure)
            if test is None:
                ax.set_axis_off()
                continue
            reach = critical_difference(len(RANKED), test.sets, POST_HOC_LEVEL)
            rank_diagram(test.ranks, ax, control=PROPOSED, reach=reach)
            title = f"test {SHORT[measure]}, {size} basis vectors, Friedman p = {test.p:.2g}"
            ax.set_title(title, fontsize=10)
