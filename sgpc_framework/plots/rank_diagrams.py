"""Critical-difference diagrams: mean ranks on a line, and who cannot be told from whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sgpc_framework.errors import InputError
from sgpc_framework.plots.style import BLACK, BLUE, RED, literal, new_axes

STEP = 0.4
"""From one name to the next below it."""


def rank_diagram(
    ranks: Mapping[str, float],
    ax: Any = None,
    *,
    control: str | None = None,
    reach: float = 0.0,
    groups: Iterable[Sequence[str]] = (),
) -> Any:
    """Draw mean ranks, 1 is the best, and return the axes; after Demsar (2006).

    The red bar reaches as far from the ``control`` as the critical difference of Bonferroni and
    Dunn; who is outside of it is starred. A blue line joins the methods of a group, which Nemenyi's
    test cannot tell apart.
    """
    if len(ranks) < 2:
        raise InputError(f"wanted the ranks of two methods or more, found {len(ranks)}")
    lines = list(groups)
    last, half = len(ranks), (len(ranks) + 1) // 2
    ax = new_axes(7.0, 1.4 + 0.3 * (half + len(lines) / 2)) if ax is None else ax
    below = -0.2 - 0.14 * len(lines)
    room = 0.45 * (last - 1) + 0.4  # for names, on either side
    ax.set(xlim=(1.0 - room, last + room), ylim=(below - STEP * half - 0.1, 0.4))
    ax.set_axis_off()
    ax.plot([1, last], [0, 0], color=BLACK, lw=1.0)
    for tick in range(1, last + 1):
        ax.plot([tick, tick], [0, 0.08], color=BLACK, lw=1.0)
        if last <= 12 or tick % 2:  # or the numbers would run into each other
            ax.text(tick, 0.14, str(tick), fontsize=8, ha="center", va="bottom")
    if control is not None:
        ends = max(ranks[control] - reach, 1.0), min(ranks[control] + reach, float(last))
        ax.plot(ends, [-0.1, -0.1], color=RED, lw=4, solid_capstyle="butt")
    for place, group in enumerate(lines):
        ends = min(ranks[name] for name in group), max(ranks[name] for name in group)
        level = -0.24 - 0.14 * place
        ax.plot(
            [ends[0] - 0.03, ends[1] + 0.03], [level] * 2, color=BLUE, lw=3, solid_capstyle="butt"
        )
    for place, (name, rank) in enumerate(sorted(ranks.items(), key=lambda item: item[1])):
        better = place < half
        level = below - STEP * ((place if better else last - 1 - place) + 0.5)
        edge = 0.9 if better else last + 0.1
        ax.plot([rank, rank, edge], [0, level, level], color=BLACK, lw=0.9)
        apart = control is not None and abs(rank - ranks[control]) > reach
        ax.text(
            edge + (-0.05 if better else 0.05),
            level,
            f"{literal(name)} ({rank:.2f}){' *' if apart else ''}",
            fontsize=9,
            va="center",
            ha="right" if better else "left",
            fontweight="bold" if name == control else "normal",
        )
    return ax
