"""Selectors, or any designs, compared over basis sizes and by what they cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.plots.style import (
    colour,
    dress,
    legend_beside,
    literal,
    log_axis,
    marker,
    new_axes,
    size_axis,
)

Score = tuple[str, int, float, float]
"""The selector, the number of basis vectors, a mean over repetitions, its standard error."""


def selector_comparison(
    scores: Iterable[Score], ax: Any = None, *, quantity: str = "test log loss (nats)"
) -> Any:
    """Draw one line a selector over the numbers of basis vectors, and return the axes.

    ``scores`` are (selector, size, mean, standard error), in any order; the whiskers are one
    standard error long to either side. ``quantity`` says what was averaged.
    """
    lines: dict[str, list[tuple[int, float, float]]] = {}
    for selector, size, mean, noise in scores:
        lines.setdefault(selector, []).append((size, mean, noise))
    if not lines:
        raise InputError("wanted scores to compare, found none")
    ax = new_axes(6.6, 4.0) if ax is None else ax
    for position, (selector, line) in enumerate(lines.items()):
        size, mean, noise = np.array(sorted(line), dtype=np.float64).T
        aside = 1.035 ** (position - (len(lines) - 1) / 2)  # so that whiskers do not hide others
        ax.errorbar(
            size * aside,
            mean,
            yerr=noise,
            fmt=f"{marker(position)}-",
            color=colour(position),
            ms=6,
            mec="white",
            mew=0.5,
            lw=1.4,
            elinewidth=1.0,
            label=literal(selector),
        )
    dress(ax, "number of basis vectors", quantity)
    size_axis(ax, sorted({size for line in lines.values() for size, _, _ in line}))
    legend_beside(ax)
    return ax


def quality_by_cost(
    points: Iterable[tuple[str, float, float, float]],
    ax: Any = None,
    *,
    cost: str = "seconds of a fit",
    quantity: str = "test log loss (nats)",
) -> Any:
    """Draw what is gained over what is paid, and return the axes; below and to the left is best.

    ``points`` are (method, cost, mean, standard error); those of one method are joined in the order
    in which they come.
    """
    lines: dict[str, list[tuple[float, float, float]]] = {}
    for method, paid, mean, noise in points:
        lines.setdefault(method, []).append((paid, mean, noise))
    if not lines:
        raise InputError("wanted points to compare, found none")
    ax = new_axes(6.6, 4.0) if ax is None else ax
    for position, (method, line) in enumerate(lines.items()):
        paid, mean, noise = np.array(line, dtype=np.float64).T
        ax.errorbar(
            paid,
            mean,
            yerr=noise,
            fmt=f"{marker(position)}-",
            color=colour(position),
            ms=6,
            mec="white",
            mew=0.5,
            lw=1.0,
            elinewidth=1.0,
            label=literal(method),
        )
    log_axis(ax)
    dress(ax, cost, quantity)
    legend_beside(ax)
    return ax
