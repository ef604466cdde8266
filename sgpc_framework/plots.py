"""Pictures of a fit. They need the extra ``plots``: ``pip install 'sgpc-framework[plots]'``.

matplotlib is imported by the function that draws, so that nobody else pays for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgpc_framework.engine.trace import Size, Trace
from sgpc_framework.model import Model

STAGES, TRAINING, HELD_OUT, QUIET = "#56B4E9", "#0072B2", "#D55E00", "#555555"
"""Of Okabe and Ito's colours, which colour-blind readers can tell apart; and a grey."""


def loss_by_size(fitted: Model | Trace, ax: Any = None) -> Any:
    """Draw the loss against the number of basis vectors, and return the axes.

    What there is is drawn: the training loss after each stage, the training loss of each size that
    a refiner ran at or ``max_basis = "auto"`` tried, and the loss of held-out rows with its noise.
    The size that the model has is marked.
    """
    trace = fitted.trace if isinstance(fitted, Model) else fitted
    own = len(fitted) if isinstance(fitted, Model) else len(trace.stages)
    ax = _new_axes() if ax is None else ax
    if trace.stages:
        _draw_stages(ax, trace)
    if trace.sizes:
        _draw_sizes(ax, trace.sizes)
    if own:
        ax.axvline(own, color=QUIET, lw=1.0, ls=":", zorder=0, label=f"the model, size {own}")
    _dress(ax, _ticks([*(record.size for record in trace.sizes), own]))
    return ax


def _new_axes() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib, which is not installed: pip install 'sgpc-framework[plots]'"
        ) from error
    return pyplot.subplots(figsize=(6.0, 3.6), layout="constrained")[1]


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


def _ticks(sizes: list[int]) -> list[int]:
    """These sizes, and 1, 2, 4, ... where there is room between them.

    >>> _ticks([5, 10, 20]), _ticks([30])
    ([1, 2, 5, 10, 20], [1, 2, 4, 8, 16, 30])
    """
    kept: list[int] = []
    for size in (*sizes, *(2**power for power in range(max(sizes).bit_length()))):
        if size and all(max(size, near) >= 1.5 * min(size, near) for near in kept):
            kept.append(size)
    return sorted(kept)


def _dress(ax: Any, ticks: list[int]) -> None:
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, labels=[str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel("number of basis vectors")
    ax.set_ylabel("loss (NLP, nats)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
