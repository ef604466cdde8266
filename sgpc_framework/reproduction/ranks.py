"""Friedman's test as the paper makes it, and critical-difference diagrams."""

from __future__ import annotations

from typing import Any

from sgpc_framework.reproduction.methods import ENTROPY, GAIN, PROPOSED, VALIDATION
from sgpc_framework.reproduction.results import MEASURES, Measure, Results
from sgpc_framework.reproduction.statistics import Friedman, critical_difference

RANKED = (PROPOSED, VALIDATION, ENTROPY, GAIN)
"""The four methods of the paper's test; the first is the one that the others are compared with."""

LEVEL = 0.1
"""The level of the paper's Bonferroni-Dunn test."""

PAPER_P: dict[Measure, tuple[float, float, float, float]] = {
    "test_error": (0.02, 0.04, 0.04, 0.39),
    "test_nlp": (0.002, 0.002, 0.01, 0.09),
}
"""The p-values that the paper gives for 40, 80, 160 and 320 basis vectors."""

NAMES = {"test_error": "test error", "test_nlp": "test NLP"}


def draw_ranks(figure: Any, results: Results) -> None:
    """Mean ranks, one panel for each size and measure. The bar is the critical difference around
    the proposed method: who is outside of it differs from that at the 0.1 level."""
    axes = figure.subplots(len(results.scale.sizes), 2, squeeze=False)
    for row, size in zip(axes, results.scale.sizes, strict=True):
        for ax, measure in zip(row, MEASURES, strict=True):
            found = results.friedman(RANKED, size, measure)
            if found is None:
                ax.set_axis_off()
                continue
            _diagram(ax, found)
            title = f"{NAMES[measure]}, {size} basis vectors, Friedman p = {found.p:.2g}"
            ax.set_title(title, fontsize=10)


def _diagram(ax: Any, found: Friedman) -> None:
    reach = critical_difference(len(RANKED), found.sets, LEVEL)
    own = found.ranks[PROPOSED]
    ax.set(xlim=(0.8, len(RANKED) + 0.2), ylim=(-1.6, 0.6))
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.xaxis.tick_top()
    ax.set_xticks(range(1, len(RANKED) + 1))
    ax.set_yticks([])
    ax.spines["top"].set_position(("data", 0.0))
    ax.tick_params(labelsize=8)
    left, right = max(own - reach, 0.8), min(own + reach, len(RANKED) + 0.2)
    ax.plot([left, right], [-0.12, -0.12], color="#D55E00", lw=4, solid_capstyle="butt")
    in_order = sorted(found.ranks.items(), key=lambda item: item[1])
    for place, (method, rank) in enumerate(in_order):
        level = -0.5 - 0.3 * place
        ax.plot([rank, rank], [0.0, level], color="#000000", lw=0.9)
        outside = abs(rank - own) > reach
        ax.text(
            rank + 0.03,
            level,
            f"{method} ({rank:.2f})" + (" *" if outside else ""),
            fontsize=9,
            va="center",
            ha="left" if rank < 3.2 else "right",
            fontweight="bold" if method == PROPOSED else "normal",
        )
