"""Loss and error along the stages, with the bound that ties them together."""

from __future__ import annotations

from typing import Any

import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.metrics.staged_merits import StagedMerits
from sgpc_framework.model.classes import Classifier, label_text, models_of
from sgpc_framework.model.model import Model
from sgpc_framework.model.trace import LOG_2, Trace
from sgpc_framework.plots.style import (
    HELD_OUT,
    QUIET,
    SERIES,
    STAGES,
    TRAINING,
    colour,
    dress,
    legend_above,
    literal,
    new_axes,
)


def along_stages(fitted: Classifier | Trace, X: Any = None, y: Any = None, ax: Any = None) -> Any:
    """Draw the training error and its bound against the stages, and return the axes.

    The training error never exceeds NLP / log 2 (eq. 6), so that the loss, read on the axis of the
    error, is the bound on it; the axis on the right has the loss in nats. ``X`` and ``y`` are rows
    that the fit has not seen: loss and error of each size of the model are then drawn too, from
    ``staged_predict_log_proba``. Of a refined model the stages are the path before it was refined.

    A classifier with a model for each class has a loss for each, that of telling it from the rest.
    """
    if X is not None and isinstance(fitted, Trace):
        raise InputError("wanted a model beside X and y, found a trace, which cannot predict")
    if X is None or isinstance(fitted, Trace):
        return draw_stages(fitted, None, ax)
    return draw_stages(fitted, StagedMerits.of(fitted, X, y), ax)


def draw_stages(
    fitted: Classifier | Trace, held_out: StagedMerits | None = None, ax: Any = None
) -> Any:
    """The same with the merits on held-out rows, where they are known."""
    ax = new_axes() if ax is None else ax
    if isinstance(fitted, (Model, Trace)):
        _draw_path(ax, fitted)
    else:
        _draw_paths(ax, models_of(fitted))
    if held_out is not None:
        _draw_held_out(ax, held_out, HELD_OUT if isinstance(fitted, Model) else "black")
    dress(ax, "stage (number of basis vectors)", "error, and the bound on it")
    ax.set_ylim(bottom=0.0)
    ax.set_xlim(left=0.0)
    nats = ax.secondary_yaxis("right", functions=(lambda e: e * LOG_2, lambda loss: loss / LOG_2))
    nats.set_ylabel("log loss (nats)")
    legend_above(ax)
    return ax


def _draw_path(ax: Any, fitted: Model | Trace) -> None:
    refined = isinstance(fitted, Model) and fitted.smaller is not None
    trace = fitted.trace if isinstance(fitted, Model) else fitted
    own = len(fitted) if isinstance(fitted, Model) else len(trace.stages)
    kept = slice(own)
    after = np.arange(1, len(trace.stages) + 1)[kept]
    when = "training, before refining" if refined else "training"
    bound, wrong = trace.column("error_bound")[kept], trace.column("training_error")[kept]
    ax.plot(after, bound, color=STAGES, lw=1.6, label=f"{when}: loss, the bound")
    ax.fill_between(after, wrong, bound, color=STAGES, alpha=0.15, lw=0)
    ax.plot(after, wrong, color=TRAINING, lw=1.6, label=f"{when}: error")


def _draw_paths(ax: Any, models: dict[Any, Model]) -> None:
    few = len(models) <= len(SERIES)
    for position, (label, model) in enumerate(models.items()):
        bound = model.trace.column("error_bound")[: len(model)]
        after = np.arange(1, len(bound) + 1)
        if few:
            name = f"training: loss of {literal(label_text(label))}"
            ax.plot(after, bound, color=colour(position), lw=1.2, label=name)
        else:
            name = "" if position else f"training: loss of each of {len(models)} classes"
            ax.plot(after, bound, color=QUIET, lw=0.6, alpha=0.6, label=name or None)


def _draw_held_out(ax: Any, merits: StagedMerits, ink: str) -> None:
    marked = len(merits.sizes) <= 12
    style: dict[str, Any] = {"color": ink, "lw": 1.6, "ms": 4}
    bits = merits.loss / LOG_2
    ax.plot(merits.sizes, bits, "s--" if marked else "--", label="held out: loss", **style)
    ax.plot(merits.sizes, merits.error, "o-" if marked else "-", label="held out: error", **style)
