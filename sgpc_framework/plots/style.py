"""What pictures share: colours, axes, and the absence of matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, RED, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
"""Okabe and Ito's colours, which colour-blind readers can tell apart."""

INDIGO, WINE, OLIVE = "#332288", "#882255", "#999933"
"""Three more of Tol's, for those that have ten classes."""

QUIET, FAINT = "#555555", "#aeb6bf"
"""Greys."""

HELD_OUT, TRAINING, STAGES = BLACK, QUIET, FAINT
"""What is drawn in which of them. Colours are for classes, and for the methods of a comparison."""

SERIES = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, YELLOW, WINE, INDIGO, OLIVE)
"""The palette in the order in which classes and methods take from it."""

MARKERS = "os^DvPXp"
"""For print in black and white."""

LONGEST = 32
"""How many letters of a name are drawn."""


def colour(position: int) -> str:
    """The colour of a class or a line; there are ten, then they repeat."""
    return SERIES[position % len(SERIES)]


def marker(position: int) -> str:
    """The marker of a class or a line; after the colours have repeated it is another one."""
    return MARKERS[(position + position // len(SERIES)) % len(MARKERS)]


def new_axes(width: float = 6.0, height: float = 3.6) -> Any:
    """Axes of a new figure, in inches."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib, which is not installed: pip install 'sgpc-framework[plots]'"
        ) from error
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def literal(text: str) -> str:
    """A name as matplotlib draws it letter by letter.

    Dollars would begin a formula, and legends leave out what begins with an underscore. Very long
    names are cut.

    >>> literal("US$ per m$")
    'US\\\\$ per m\\\\$'
    """
    line = " ".join(text.split())
    escaped = (line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…").replace("$", r"\$")
    return f"\N{HAIR SPACE}{escaped}" if escaped.startswith("_") else escaped


def dress(ax: Any, xlabel: str, ylabel: str) -> None:
    """Labels, and no more lines than needed."""
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)


def legend_above(ax: Any, columns: int = 2) -> None:
    """A legend between the axes and whatever is above them, where it covers no line."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(
            frameon=False,
            ncols=columns,
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            borderaxespad=0.2,
            fontsize="small",
        )


def legend_beside(ax: Any, **options: Any) -> None:
    """A legend to the right of the axes."""
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), **options)


def size_axis(ax: Any, ticks: Sequence[int]) -> None:
    """Numbers of basis vectors along x: twice as many are one step further."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, labels=[str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel("number of basis vectors")


def log_axis(ax: Any) -> None:
    """Ratios along x, at round numbers that are written out."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    ax.set_xscale("log")
    few, many = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if many > 3 * few else range(1, 10)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())


def and_powers_of_two(sizes: Sequence[int]) -> list[int]:
    """These sizes, and 1, 2, 4, ... where there is room between them.

    >>> and_powers_of_two([5, 10, 20]), and_powers_of_two([30])
    ([1, 2, 5, 10, 20], [1, 2, 4, 8, 16, 30])
    """
    kept: list[int] = []
    for size in (*sizes, *(2**power for power in range(max(sizes).bit_length()))):
        if size and all(max(size, near) >= 1.5 * min(size, near) for near in kept):
            kept.append(size)
    return sorted(kept)
