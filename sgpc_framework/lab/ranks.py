"""Friedman's test as the paper makes it, and critical-difference diagrams."""

from __future__ import annotations

from typing import Any

from sgpc_framework.lab.methods import ENTROPY, GAIN, PROPOSED, VALIDATION
from sgpc_framework.lab.results import MEASURES, SHORT, Measure, Results
from sgpc_framework.metrics.statistics import Friedman, critical_difference
from sgpc_framework.plots.style import BLACK, RED

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
            _diagram(ax, test)
            title = f"test {SHORT[measure]}, {size} basis vectors, Friedman p = {test.p:.2g}"
            ax.set_title(title, fontsize=10)


def _diagram(ax: Any, test: Friedman) -> None:
    """An axis of ranks; the better half is named on its left, the other on its right."""
    reach, last = critical_difference(len(RANKED), test.sets, POST_HOC_LEVEL), len(RANKED)
    own = test.ranks[PROPOSED]
    ax.set(xlim=(-0.6, last + 1.6), ylim=(-1.3, 0.4))
    ax.set_axis_off()
    ax.plot([1, last], [0, 0], color=BLACK, lw=1.0)
    for tick in range(1, last + 1):
        ax.plot([tick, tick], [0, 0.08], color=BLACK, lw=1.0)
        ax.text(tick, 0.14, str(tick), fontsize=8, ha="center", va="bottom")
    left, right = max(own - reach, 1.0), min(own + reach, float(last))
    ax.plot([left, right], [-0.12, -0.12], color=RED, lw=4, solid_capstyle="butt")
    in_order = sorted(test.ranks.items(), key=lambda item: item[1])
    for place, (method, rank) in enumerate(in_order):
        better = place < last // 2
        level = -0.5 - 0.4 * (place if better else last - 1 - place)
        edge = 0.9 if better else last + 0.1
        ax.plot([rank, rank, edge], [0, level, level], color=BLACK, lw=0.9)
        star = " *" if abs(rank - own) > reach else ""
        ax.text(
            edge + (-0.05 if better else 0.05),
            level,
            f"{method} ({rank:.2f}){star}",
            fontsize=9,
            va="center",
            ha="right" if better else "left",
            fontweight="bold" if method == PROPOSED else "normal",
        )
