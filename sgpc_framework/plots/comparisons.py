"""Selectors, or any designs, compared over basis sizes and by what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

Score = tuple[str, float, float, float]
"""A name, a number of basis vectors or a cost, a mean over repetitions, its standard error."""


def selector_comparison(
    scores: Iterable[Score], ax: Any = None, *, quantity: str = "test log loss (nats)"
) -> Any:
    """Draw one line a selector over the numbers of basis vectors, and return the axes.

    ``scores`` are (selector, size, mean, standard error), in any order; the whiskers are one
    standard error long to either side. ``quantity`` says what was averaged.
    """
    lines = _lines(scores)
    ax = new_axes(6.6, 4.0) if ax is None else ax
    for position, (selector, line) in enumerate(lines.items()):
        aside = 1.035 ** (position - (len(lines) - 1) / 2)  # so that whiskers do not hide others
        _whiskers(ax, position, selector, [(size * aside, *rest) for size, *rest in sorted(line)])
    dress(ax, "number of basis vectors", quantity)
    size_axis(ax, sorted({int(size) for line in lines.values() for size, _, _ in line}))
    legend_beside(ax)
    return ax


def quality_by_cost(
    points: Iterable[Score],
    ax: Any = None,
    *,
    cost: str = "seconds of a fit",
    quantity: str = "test log loss (nats)",
) -> Any:
    """Draw what is gained over what is paid, and return the axes; below and to the left is best.

    ``points`` are (method, cost, mean, standard error); those of one method are joined in the order
    in which they come.
    """
    lines = _lines(points)
    ax = new_axes(6.6, 4.0) if ax is None else ax
    for position, (method, line) in enumerate(lines.items()):
        _whiskers(ax, position, method, line)
    log_axis(ax)
    dress(ax, cost, quantity)
    legend_beside(ax)
    return ax


def _lines(points: Iterable[Score]) -> dict[str, list[tuple[float, float, float]]]:
    """(place, mean, standard error) of the points of each name."""
    lines: dict[str, list[tuple[float, float, float]]] = {}
    for name, place, mean, noise in points:
        lines.setdefault(name, []).append((place, mean, noise))
    if not lines:
        raise InputError("wanted scores to compare, found none")
    return lines


def _whiskers(ax: Any, position: int, name: str, line: Sequence[Sequence[float]]) -> None:
    """A line through points with their standard errors, in the colour of its position."""
    place, mean, noise = np.array(line, dtype=np.float64).T
    ax.errorbar(
        place,
        mean,
        yerr=noise,
        fmt=f"{marker(position)}-",
        color=colour(position),
        ms=6,
        mec="white",
        mew=0.5,
        lw=1.4,
        elinewidth=1.0,
        label=literal(name),
    )
