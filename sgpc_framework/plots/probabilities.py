"""Which probabilities are predicted."""

from __future__ import annotations

from typing import Any

import numpy as np

from sgpc_framework.metrics.predictions import Predictions
from sgpc_framework.model.classes import Classifier, label_text
from sgpc_framework.plots.style import (
    SERIES,
    TRAINING,
    colour,
    dress,
    legend_above,
    literal,
    new_axes,
)


def probability_histogram(
    model: Classifier, X: Any, y: Any, ax: Any = None, *, bins: int = 20
) -> Any:
    """Draw how many rows have which predicted probability, and return the axes.

    It is the probability of the second of two classes, and of many classes that of each row's own.
    The colours are the true classes, stacked, up to ten of them. A good classifier has its rows
    at the ends.
    """
    return draw_histogram(Predictions.of(model, X, y), ax, bins)


def draw_histogram(predictions: Predictions, ax: Any = None, bins: int = 20) -> Any:
    """The same of predictions that are known."""
    proba, truth = predictions.proba, predictions.truth
    names = [literal(label_text(label)) for label in predictions.classes.tolist()]
    if len(names) == 2:
        predicted, what = proba[:, 1], f"predicted probability of {names[1]}"
    else:
        predicted, what = proba[np.arange(len(truth)), truth], "probability of the row's own class"
    ax = new_axes(4.6, 3.6) if ax is None else ax
    bottom, edges = np.zeros(bins), np.linspace(0.0, 1.0, bins + 1)
    middle, width = (edges[1:] + edges[:-1]) / 2.0, 0.9 / bins
    if len(names) > len(SERIES):
        ax.bar(middle, np.histogram(predicted, edges)[0], width, color=TRAINING)
    else:
        for position, name in enumerate(names):
            counts = np.histogram(predicted[truth == position], edges)[0]
            ax.bar(middle, counts, width, bottom, color=colour(position), label=name)
            bottom = bottom + counts
        legend_above(ax, columns=2 if len("".join(names)) > 30 else 4)
    dress(ax, what, "rows")
    ax.set_xlim(0.0, 1.0)
    ax.yaxis.get_major_locator().set_params(integer=True)  # there are no halves of rows
    return ax
