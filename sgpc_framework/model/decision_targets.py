"""Costs that reach a target, such as a recall of 0.9, on rows that are given.

Let missing class k cost w, and every other mistake 1. Then k is said where

    log w > r,    r = max over j ≠ k of log pⱼ - log pₖ

so one number decides how readily k is said, of two classes or of many, and each row says from which
number on. Of two classes this is a threshold, 1 / (1 + w), on the probability of k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.model.costs import Costs, Target, label_position

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

CLOSE = 1e-9
"""Rows whose r differ by less are not told apart, so that rounding cannot undo the choice."""

MOST = 600.0
"""The greatest log w either way."""


def _recall(own: Floats, others: Floats, total: tuple[float, float]) -> Floats:
    return own / total[0]


def _precision(own: Floats, others: Floats, total: tuple[float, float]) -> Floats:
    return own / np.maximum(own + others, 1.0)


def _specificity(own: Floats, others: Floats, total: tuple[float, float]) -> Floats:
    return 1.0 - others / total[1]


MEASURES: dict[str, Callable[[Floats, Floats, tuple[float, float]], Floats]] = {
    "recall": _recall,
    "precision": _precision,
    "specificity": _specificity,
}
"""Shares, of the rows said to be of the class that are (own) and that are not (others)."""


def targeted_costs(
    classes: NDArray[Any],
    log_proba: Floats,
    truth: NDArray[np.intp],
    label: Any,
    measures: dict[str, float | None],
) -> Costs:
    """The costs whose decisions reach one measure, and otherwise say the class as wisely as can be.

    A recall is reached with the fewest rows said to be of the class, a precision or a specificity
    with the most.
    """
    measure, least = _one_measure(measures)
    position = len(classes) - 1 if label is None else label_position(classes, label)
    if label is None and len(classes) != 2:
        raise InputError(f"of which class should the {measure} be at least {least:g}? Say label=")
    name = classes.tolist()[position]
    own = truth == position
    total = float(own.sum()), float((~own).sum())
    if not all(total):
        raise InputError(
            f"wanted rows of class {name!r} and of others to find a {measure}, found {own.sum()} "
            f"of it among {len(own)}"
        )
    others = np.delete(log_proba, position, axis=1).max(axis=1)
    willing = np.clip(others - log_proba[:, position], -MOST, MOST)
    steps, right, wrong = _along(willing, own)
    reached = MEASURES[measure](right, wrong, total)
    enough = np.flatnonzero((reached >= least) & (right > 0.0))
    if not enough.size:
        raise InputError(
            f"no threshold has a {measure} of {least:g} for class {name!r} on these "
            f"{len(own)} rows: the most is {reached[right > 0.0].max():.3f}"
        )
    chosen = enough[0] if measure == "recall" else enough[-1]
    costs = Costs.of(classes, {name: float(np.exp(steps[chosen]))})
    target = Target(measure, least, name, float(reached[chosen]), len(own))
    return attrs.evolve(costs, target=target)


def _one_measure(measures: dict[str, float | None]) -> tuple[str, float]:
    given = {name: value for name, value in measures.items() if value is not None}
    if len(given) != 1:
        raise InputError(
            f"wanted one of {', '.join(MEASURES)} to aim at, found {', '.join(given) or 'none'}"
        )
    ((name, least),) = given.items()
    if isinstance(least, bool) or not isinstance(least, (int, float)) or not 0.0 < least <= 1.0:
        raise InputError(f"wanted a {name} above 0 and at most 1, found {least!r}")
    return name, float(least)


def _along(willing: Floats, own: Bools) -> tuple[Floats, Floats, Floats]:
    """log w between the rows, in ascending order, and the rows of the class and of others that it
    says to be of the class."""
    order = np.argsort(willing, kind="stable")
    sorted_, mine = willing[order], own[order]
    ends = np.flatnonzero(np.append(np.diff(sorted_) > CLOSE, True))
    after = np.append(sorted_[1:], sorted_[-1] + 2.0)
    return (
        (0.5 * (sorted_ + after))[ends],
        np.cumsum(mine)[ends].astype(np.float64),
        np.cumsum(~mine)[ends].astype(np.float64),
    )
