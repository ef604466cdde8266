"""Decision regions of two features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.metrics.relevance import name_features
from sgpc_framework.model.classes import Classifier, label_text, models_of, positions
from sgpc_framework.model.costs import most_probable
from sgpc_framework.model.model import Model
from sgpc_framework.plots.style import (
    QUIET,
    colour,
    dress,
    legend_beside,
    literal,
    marker,
    new_axes,
)

Floats = NDArray[np.float64]

MOST_NUMBERS = 60
"""How many basis vectors there is room to number."""

DEEPEST = 0.62
"""How much of a class's colour there is where it is certain; points must stand out."""


@attrs.frozen
class Frame:
    """The part of the plane that is drawn."""

    left: float
    right: float
    bottom: float
    top: float

    @classmethod
    def around(cls, rows: Floats, basis: Floats) -> Frame:
        """What holds all rows and the basis vectors, with a margin.

        A refiner may have moved a basis vector far away from all rows. The frame follows it half
        as far again as the rows extend, and no further.
        """
        if not len(rows) and not len(basis):
            raise InputError(
                "there is nothing to draw: the model has no basis vector; give X and y"
            )
        some = basis if len(basis) else rows
        low, high = some.min(axis=0), some.max(axis=0)
        if len(rows):
            least, most = rows.min(axis=0), rows.max(axis=0)
            reach = 0.5 * (most - least)
            low = np.clip(low, least - reach, least)
            high = np.clip(high, most, most + reach)
        room = 0.06 * np.where(high > low, high - low, 1.0)
        (left, bottom), (right, top) = (low - room).tolist(), (high + room).tolist()
        return cls(left, right, bottom, top)

    def holds(self, points: Floats) -> NDArray[np.bool_]:
        """Which of the points are inside."""
        x, y = points.T
        inside: NDArray[np.bool_] = (self.left <= x) & (x <= self.right)
        inside &= (self.bottom <= y) & (y <= self.top)
        return inside

    def grid(self, columns: int, rows: int) -> tuple[Floats, Floats, Floats]:
        """Coordinates along both sides, and all points, row by row from the bottom."""
        x = np.linspace(self.left, self.right, columns)
        y = np.linspace(self.bottom, self.top, rows)
        points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        return x, y, points


def decision_regions(
    model: Classifier,
    X: Any = None,
    y: Any = None,
    ax: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    resolution: int = 160,
) -> Any:
    """Draw the predicted classes over the plane with the basis vectors, and return the axes.

    The stronger the colour, the further the predicted class leads the others; the lines are where
    the prediction changes. Basis vectors are numbered in the order in which they came, up to 60 of
    them. ``X`` and ``y``, if they are given, are drawn as points. The model must have two features.
    """
    models = models_of(model)
    for one in models.values():
        _two_features(one)
    rows = np.empty((0, 2)) if X is None else np.asarray(X, dtype=np.float64)
    basis = np.concatenate([one.inputs for one in models.values()])
    frame = Frame.around(rows, basis)
    ax = new_axes(5.6, 4.6) if ax is None else ax
    across, up, points = frame.grid(resolution, resolution)
    lead = leads(model.predict_proba(points)).reshape(resolution, resolution, -1)
    _draw_colours(ax, frame, lead)
    _draw_boundaries(ax, across, up, lead)
    names = [literal(label_text(label)) for label in model.classes.tolist()]
    if X is not None:
        _draw_rows(ax, rows, positions(model.classes, y), names)
    for position, one in enumerate(models.values()):
        ink = colour(position) if len(models) > 1 else "black"
        _draw_basis(ax, one, ink, numbered=MOST_NUMBERS // len(models))
    dress(ax, *map(literal, name_features(feature_names, 2)))
    ax.set(xlim=(frame.left, frame.right), ylim=(frame.bottom, frame.top))
    _mention_outside(ax, int(np.count_nonzero(~frame.holds(basis))))
    if X is not None:
        legend_beside(ax, markerscale=np.sqrt(30.0 / _area(len(rows))))
    return ax


def _two_features(model: Model) -> None:
    if model.inputs.ndim != 2 or model.inputs.shape[1] != 2:
        features = model.inputs.shape[1] if model.inputs.ndim == 2 else "inputs that are no vectors"
        raise InputError(f"decision regions are drawn of two features, this model has {features}")


def leads(proba: Floats) -> Floats:
    """By how much each class is more probable than the best of the others; below zero if less.

    >>> leads(np.array([[0.75, 0.25]])), leads(np.array([[0.25, 0.25, 0.5]]))
    (array([[ 0.5, -0.5]]), array([[-0.25, -0.25,  0.25]]))
    """
    best = np.partition(proba, -2, axis=-1)
    first, second = best[..., -1:], best[..., -2:-1]
    lead: Floats = proba - np.where(proba == first, second, first)
    return lead


def shades(lead: Floats) -> Floats:
    """The colour of each point: that of its class, the paler the less it leads."""
    from matplotlib.colors import to_rgb

    own = np.array([to_rgb(colour(position)) for position in range(lead.shape[-1])])
    strength = DEEPEST * lead.max(axis=-1)[..., None]
    mixed: Floats = 1.0 - strength + strength * own[most_probable(lead)]
    return mixed


def _draw_colours(ax: Any, frame: Frame, lead: Floats) -> None:
    extent = (frame.left, frame.right, frame.bottom, frame.top)
    options = {"origin": "lower", "aspect": "auto", "interpolation": "bilinear", "zorder": 0}
    ax.imshow(shades(lead), extent=extent, **options)


def _draw_boundaries(ax: Any, across: Floats, up: Floats, lead: Floats) -> None:
    classes = lead.shape[-1]
    for position in range(1 if classes == 2 else 0, classes):
        own = lead[..., position]
        if own.min() < 0.0 < own.max():
            ax.contour(across, up, own, levels=[0.0], colors="black", linewidths=1.2, zorder=2)


def _area(rows: int) -> float:
    """Of the marker of one of so many rows, in square points."""
    return float(np.clip(4000.0 / max(rows, 1), 3.0, 18.0))


def _draw_rows(ax: Any, rows: Floats, truth: NDArray[np.intp], names: list[str]) -> None:
    for position, name in enumerate(names):
        x, y = rows[truth == position].T
        ax.scatter(
            x,
            y,
            s=_area(len(rows)),
            color=colour(position),
            marker=marker(position),
            linewidths=0.3,
            edgecolors="white",
            alpha=0.85,
            zorder=1,
            label=name,
        )


def _draw_basis(ax: Any, model: Model, ink: str, numbered: int) -> None:
    """The first ones as numbered circles on top, and those that there is no room for as dots."""
    small = numbered > 30
    ring = {"fc": "white", "ec": ink, "lw": 0.8}
    ax.plot(*model.inputs[numbered:].T, "o", mfc="white", mec=ink, mew=0.8, ms=3.5, zorder=3)
    for number, place in reversed(list(enumerate(model.inputs[:numbered], start=1))):
        ax.annotate(
            str(number),
            place,
            ha="center",
            va="center",
            fontsize=5.5 if small else 7,
            color=ink,
            zorder=4,
            annotation_clip=True,
            bbox={"boxstyle": f"circle,pad={0.18 if number < 10 else 0.1}", **ring},
        )


def _mention_outside(ax: Any, outside: int) -> None:
    if outside:
        what = "1 basis vector is" if outside == 1 else f"{outside} basis vectors are"
        ax.set_title(f"{what} outside the frame", fontsize="small", color=QUIET, loc="left")
