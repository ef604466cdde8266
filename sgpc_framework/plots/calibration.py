"""Whether probabilities mean what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.metrics.merits import Reliability, reliability
from sgpc_framework.metrics.predictions import Predictions
from sgpc_framework.model.classes import Classifier, label_text
from sgpc_framework.plots.style import QUIET, STAGES, TRAINING, dress, literal, new_axes


def calibration_curve(model: Classifier, X: Any, y: Any, ax: Any = None, *, bins: int = 10) -> Any:
    """Draw what was observed against what was predicted, and return the axes.

    Rows are put into ``bins`` bins by their predicted probability: that of the second class, or, of
    many classes, that of the most probable one. A calibrated model is on the diagonal; the band
    is where nineteen of twenty bins of such a model would be, given how many rows they have. The
    strip above counts the rows. The calibration error is the mean distance to the diagonal in bins
    of equal count, as ``sgpc evaluate`` has it; those that are drawn are of equal width.
    """
    return draw_calibration(Predictions.of(model, X, y), ax, bins)


def draw_calibration(predictions: Predictions, ax: Any = None, bins: int = 10) -> Any:
    """The same of predictions that are known."""
    observed = reliability(predictions.proba, predictions.truth, bins)
    ax = new_axes(4.4, 4.6) if ax is None else ax
    _draw_curve(ax, observed, predictions.merits.calibration_error)
    _draw_counts(ax, observed)
    names = [literal(label_text(label)) for label in predictions.classes.tolist()]
    if len(names) == 2:
        dress(ax, f"predicted probability of {names[1]}", f"observed share of {names[1]}")
    else:
        dress(ax, "probability of the predicted class", "observed share of right predictions")
    ax.legend(frameon=False, loc="upper left", fontsize="small")
    return ax


def _draw_curve(ax: Any, bins: Reliability, error: float) -> None:
    ax.plot([0, 1], [0, 1], color=QUIET, lw=1.0, ls=":", zorder=1)
    low = np.clip(bins.predicted - 2.0 * bins.noise, 0.0, 1.0)
    high = np.clip(bins.predicted + 2.0 * bins.noise, 0.0, 1.0)
    label = f"calibration error {100.0 * error:.1f} %"
    ax.fill_between(
        bins.predicted, low, high, color=STAGES, alpha=0.25, lw=0, label="calibrated, by chance"
    )
    ax.plot(bins.predicted, bins.observed, "o-", color=TRAINING, lw=1.6, ms=5, label=label)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    for line in ax.get_lines():
        line.set_clip_on(False)


def _draw_counts(ax: Any, bins: Reliability) -> None:
    strip = ax.inset_axes([0.0, 1.03, 1.0, 0.16], sharex=ax)
    counts = np.zeros(len(bins.edges) - 1, dtype=np.intp)
    place = np.searchsorted(bins.edges, bins.predicted, side="right") - 1
    counts[np.clip(place, 0, len(counts) - 1)] = bins.counts
    middle = (bins.edges[1:] + bins.edges[:-1]) / 2.0
    width = 0.85 * np.diff(bins.edges)
    strip.bar(middle, counts, width=width, color=STAGES)
    _label_counts(strip, middle, counts)
    strip.set_ylim(0, 1.5 * max(counts.max(), 1))
    strip.tick_params(bottom=False, labelbottom=False, left=False, labelleft=False)
    strip.spines[["top", "right", "left"]].set_visible(False)
    strip.set_ylabel("rows", rotation=0, ha="right", va="center", fontsize="small")


def _label_counts(strip: Any, middle: NDArray[np.float64], counts: NDArray[np.intp]) -> None:
    small = "xx-small" if counts.max() >= 10_000 or len(counts) > 12 else "x-small"
    for x, count in zip(middle, counts, strict=True):
        if count and len(counts) <= 20:
            strip.annotate(
                f"{count}",
                (x, count),
                (0, 1),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=small,
            )
