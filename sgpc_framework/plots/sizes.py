"""Loss against size: what ``max_basis = "auto"`` looked at, and what a refiner achieved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgpc_framework.model.model import Model
from sgpc_framework.model.trace import Size, Trace
from sgpc_framework.plots.style import (
    HELD_OUT,
    QUIET,
    STAGES,
    TRAINING,
    and_powers_of_two,
    dress,
    new_axes,
    size_axis,
)


def loss_by_size(fitted: Model | Trace, ax: Any = None) -> Any:
    """Draw the loss against the number of basis vectors, and return the axes.

    What there is is drawn: the training loss after each stage, the training loss of each size that
    a refiner ran at or ``max_basis = "auto"`` tried, and the loss of held-out rows with its noise.
    The size that the model has is marked.
    """
    trace = fitted.trace if isinstance(fitted, Model) else fitted
    own = len(fitted) if isinstance(fitted, Model) else len(trace.stages)
    ax = new_axes() if ax is None else ax
    if trace.stages:
        _draw_stages(ax, trace)
    if trace.sizes:
        _draw_sizes(ax, trace.sizes)
    if own:
        ax.axvline(own, color=QUIET, lw=1.0, ls=":", zorder=0, label=f"the model, size {own}")
    dress(ax, "number of basis vectors", "log loss (nats)")
    size_axis(ax, and_powers_of_two([*(record.size for record in trace.sizes), own]))
    ax.legend(frameon=False)
    return ax


def _draw_stages(ax: Any, trace: Trace) -> None:
    after = np.arange(1, len(trace.stages) + 1)
    losses = trace.column("predictive_loss")
    ax.plot(after, losses, color=STAGES, lw=1.5, label="training, after each stage")


def _draw_sizes(ax: Any, records: Sequence[Size]) -> None:
    sizes = [record.size for record in records]
    training = [record.predictive_loss for record in records]
    ax.plot(sizes, training, "s--", color=TRAINING, ms=4, lw=1.2, label="training, at each size")
    judged = [
        (record.size, record.held_out_loss, record.noise)
        for record in records
        if record.held_out_loss is not None
    ]
    if judged:
        x, loss, noise = np.array(judged, dtype=np.float64).T
        ax.fill_between(x, loss - noise, loss + noise, color=HELD_OUT, alpha=0.2, lw=0)
        ax.plot(x, loss, "o-", color=HELD_OUT, ms=5, lw=1.8, label="held out, with its noise")
