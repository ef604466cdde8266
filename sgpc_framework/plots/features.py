"""The lengthscale of each feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.metrics.relevance import name_features, relevances
from sgpc_framework.model.classes import Classifier, label_text, models_of
from sgpc_framework.plots.style import (
    QUIET,
    SERIES,
    STAGES,
    TRAINING,
    colour,
    dress,
    legend_beside,
    literal,
    marker,
    new_axes,
)

Floats = NDArray[np.float64]


def feature_relevance(
    model: Classifier,
    X: Any = None,
    ax: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    most: int = 20,
) -> Any:
    """Draw the inverse lengthscale of each feature, the greatest first, and return the axes.

    With ``X`` each is multiplied by the standard deviation of its feature, so that features in
    different units can be compared. That says how fast the function changes along a feature, and
    not what the feature is worth, which ``feature_importance`` says. The kernel must have one
    lengthscale for each feature. Where there are several sets of them, of the terms of a sum or of
    a model for each class, the bar is their greatest, and up to eight have markers. ``most``
    features are shown at most.
    """
    series = _series(model, None if X is None else np.std(np.asarray(X, dtype=np.float64), axis=0))
    values = np.array(list(series.values()))
    greatest = values.max(axis=0)
    names = name_features(feature_names, len(greatest))
    order = np.argsort(-greatest, kind="stable")[:most]
    ax = new_axes(6.0, 1.0 + 0.26 * len(order)) if ax is None else ax
    place = np.arange(len(order))
    marked = 1 < len(series) <= len(SERIES)
    ax.barh(
        place,
        greatest[order],
        height=0.66,
        color=STAGES if marked else TRAINING,
        alpha=0.35 if marked else 1.0,
    )
    if marked:
        for position, (label, own) in enumerate(series.items()):
            ax.plot(
                own[order],
                place,
                marker(position),
                color=colour(position),
                mec="white",
                mew=0.6,
                ms=6,
                label=label,
            )
        legend_beside(ax)
    scale = "1 / lengthscale" if X is None else "standard deviation / lengthscale"
    dress(ax, scale, "")
    ax.set_yticks(place, labels=[literal(names[feature]) for feature in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(left=0.0)
    _mention_others(ax, np.delete(greatest, order), len(order))
    return ax


def _series(model: Classifier, spread: Floats | None) -> dict[str, Floats]:
    """Relevances by what they belong to: nothing in particular, a term, a class, or both."""
    models = models_of(model)
    series: dict[str, Floats] = {}
    for label, one in models.items():
        for part, values in relevances(one.kernel, spread).items():
            whose = [literal(label_text(label))] if len(models) > 1 else []
            series[", ".join([*whose, *([part] if part else [])])] = values
    if len({len(values) for values in series.values()}) != 1:
        raise InputError("the parts of the kernel have lengthscales of different numbers")
    return series


def _mention_others(ax: Any, others: Floats, place: int) -> None:
    if len(others):
        count = "1 other" if len(others) == 1 else f"{len(others)} others"
        text = f" and {count}, at most {others.max():.2g}"
        ax.text(0.0, place, text, fontsize="small", color=QUIET, va="center")
        ax.set_ylim(bottom=place + 0.6)
