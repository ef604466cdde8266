"""What the log loss loses without each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sgpc_framework.metrics.column_importance import Importance, permutation_importance
from sgpc_framework.model.classes import Classifier
from sgpc_framework.plots.style import QUIET, TRAINING, dress, literal, new_axes


def feature_importance(
    model: Classifier,
    X: Any,
    y: Any,
    ax: Any = None,
    *,
    feature_names: Sequence[str] | None = None,
    most: int = 20,
) -> Any:
    """Draw by how much the log loss rises when a feature is permuted, and return the axes.

    The line of each bar is two standard errors either way: where it reaches zero, the feature may
    be worth nothing. ``X`` and ``y`` are rows that the fit has not seen; ``most`` features are
    shown at most.
    """
    return draw_importance(permutation_importance(model, X, y, feature_names), ax, most)


def draw_importance(importances: Sequence[Importance], ax: Any = None, most: int = 20) -> Any:
    """The same of importances that are known, the greatest first."""
    shown = importances[:most]
    ax = new_axes(6.0, 1.0 + 0.26 * len(shown)) if ax is None else ax
    place = range(len(shown))
    ax.barh(
        place,
        [each.loss for each in shown],
        xerr=[2.0 * each.noise for each in shown],
        height=0.66,
        color=TRAINING,
        error_kw={"ecolor": QUIET, "elinewidth": 1.2, "capsize": 2},
    )
    ax.axvline(0.0, color=QUIET, lw=0.8)
    dress(ax, "log loss rises by (nats)", "")
    ax.set_yticks(place, labels=[literal(each.column) for each in shown])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    if others := importances[most:]:
        count = "1 other" if len(others) == 1 else f"{len(others)} others"
        text = f" and {count}, at most {others[0].loss:.2g}"
        ax.text(0.0, len(shown), text, fontsize="small", color=QUIET, va="center")
        ax.set_ylim(bottom=len(shown) + 0.6)
    return ax
