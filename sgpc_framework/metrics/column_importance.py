"""Which columns matter: what the log loss loses when a column is permuted.

A column whose values are dealt out anew among the rows tells nothing any more, and all else is as
it was. How much the log loss rises is what the model gets from the column,

    importance = 1/n Σᵢ (lossᵢ after - lossᵢ before),

averaged over several permutations. It is a property of the model and of the rows: take rows that
the fit has not seen. Columns that say the same can stand in for each other, so that each seems to
matter little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.metrics.merits import losses
from sgpc_framework.metrics.relevance import name_features
from sgpc_framework.metrics.statistics import standard_error
from sgpc_framework.model.classes import positions

Floats = NDArray[np.float64]

REPEATS = 5
AT_ONCE = 20_000
"""So many rows are predicted at a time."""


class Predicts(Protocol):
    """What is asked about its columns."""

    @property
    def classes(self) -> NDArray[Any]: ...
    def predict_log_proba(self, X: Any, /) -> Floats: ...


@attrs.frozen
class Importance:
    """A column: by how many nats the log loss rises without it, and the noise of that.

    ``noise`` is a standard error: that of the mean over the rows, and that over the repeats.
    """

    column: str
    loss: float
    noise: float

    @property
    def matters(self) -> bool:
        """More than twice its noise."""
        return self.loss > 2.0 * self.noise


def permutation_importance(
    model: Predicts,
    X: Any,
    y: Any,
    columns: Mapping[str, Sequence[int]] | Sequence[str] | None = None,
    *,
    repeats: int = REPEATS,
    seed: int = 0,
) -> list[Importance]:
    """The importance of every column on some rows, the greatest first.

    ``columns`` names the features, or says which of them are permuted together, by a name: the
    features of one column of words, say.

    >>> import sgpc_framework as sgpc
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] > 0.0
    >>> model = sgpc.build("fast", max_basis=5).fit(X[:100], y[:100])
    >>> [each.column for each in permutation_importance(model, X[100:], y[100:]) if each.matters]
    ['x1']
    """
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2:
        raise InputError(f"wanted rows of features, whose columns can be permuted, found {X!r:.80}")
    if repeats < 1:
        raise InputError(f"wanted at least one repeat, found {repeats}")
    truth = positions(model.classes, y)
    groups = _groups(columns, rows.shape[1])
    before = losses(model.predict_log_proba(rows), truth)
    rng = np.random.default_rng(seed)
    orders = np.stack([rng.permutation(len(rows)) for _ in range(repeats)])
    importances = [
        _importance(name, _losses_without(model, rows, truth, group, orders) - before)
        for name, group in groups.items()
    ]
    return sorted(importances, key=lambda each: -each.loss)


def _losses_without(
    model: Predicts,
    rows: Floats,
    truth: NDArray[np.intp],
    group: Sequence[int],
    orders: NDArray[np.intp],
) -> Floats:
    """The loss of each row (columns) after each permutation (rows) of a group of features."""
    places, each = list(group), []
    some = max(1, AT_ONCE // max(1, len(rows)))
    for start in range(0, len(orders), some):
        part = orders[start : start + some]
        changed = np.tile(rows, (len(part), 1))
        changed[:, places] = rows[part.ravel()][:, places]
        after = losses(model.predict_log_proba(changed), np.tile(truth, len(part)))
        each.append(after.reshape(len(part), -1))
    return np.concatenate(each)


def _importance(name: str, rise: Floats) -> Importance:
    over_rows = standard_error(rise.mean(axis=0))
    over_repeats = standard_error(rise.mean(axis=1))
    noise = float(np.hypot(*np.nan_to_num([over_rows, over_repeats])))
    return Importance(name, float(rise.mean()), noise)


def _groups(
    columns: Mapping[str, Sequence[int]] | Sequence[str] | None, features: int
) -> Mapping[str, Sequence[int]]:
    if isinstance(columns, Mapping):
        return columns
    return {name: [place] for place, name in enumerate(name_features(columns, features))}
