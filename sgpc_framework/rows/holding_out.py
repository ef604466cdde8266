"""Rows to judge by, kept apart from the rows to fit to.

Equal rows stay together: a copy of a training row would praise whoever learned it by heart. Rows of
every label are among the judges, in about the same share.
"""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.protocols import Inputs
from sgpc_framework.rows.training_rows import TrainingRows

Numbers = NDArray[np.intp]

SHARE = 0.2
"""The share of the rows that judge, unless the others are enough to fit to."""

FEWEST = 20
"""With fewer different rows than this nothing is held out."""

MANY = 200_000
"""More rows than this are not listed one by one."""


@attrs.frozen(eq=False)
class Split:
    """Rows to fit to, and rows to judge by; ``fitted`` has the numbers of the first."""

    rows: TrainingRows
    judges: TrainingRows
    fitted: Numbers


class HeldOut:
    """Turns of rows held out: ``split(0)``, ``split(1)``, ... up to ``turns`` different ones.

    Of at most ``most`` rows, drawn uniformly, a fifth judges in each turn, or more: no more than
    ``most_fitted`` rows are left to fit to.
    """

    def __init__(
        self,
        rows: TrainingRows,
        rng: np.random.Generator,
        most: int | None = None,
        most_fitted: int | None = None,
    ) -> None:
        numbers = _shuffle(len(rows), most, rng)
        kind, first = _kinds(rows.inputs(numbers))
        self.possible = len(first) >= FEWEST
        label = rows.labels(numbers)[first]
        weight = np.bincount(kind, rows.weights(numbers))  # two copies are as a row of weight two
        # In order of label and of weight, the judges are one in five, say, all along.
        place = np.empty(len(first), dtype=np.intp)
        place[np.lexsort((np.arange(len(first)), weight, label))] = np.arange(len(first))
        self._rows = rows
        self._numbers = numbers
        self._place = place[kind]
        self._share = max(SHARE, 1.0 - (most_fitted or len(numbers)) / max(1, len(numbers)))

    @property
    def turns(self) -> int:
        """How many splits share no judge."""
        return int(1.0 / self._share)

    @property
    def judges(self) -> int:
        """About how many rows judge in a turn."""
        return int(self._share * len(self._numbers))

    def split(self, turn: int = 0) -> tuple[Numbers, Numbers]:
        """The rows to fit to and those to judge by, in ascending order."""
        at = self._place + turn
        judges = np.floor((at + 1) * self._share) > np.floor(at * self._share)
        return np.sort(self._numbers[~judges]), np.sort(self._numbers[judges])

    def splits(self, judges: int) -> list[Split]:
        """As many turns as it takes for so many judges, if there are so many; none where too few
        rows differ."""
        if not self.possible:
            return []
        turns = min(self.turns, -(-judges // max(1, self.judges)))
        pairs = [self.split(turn) for turn in range(turns)]
        return [Split(self._rows.subset(a), self._rows.subset(b), a) for a, b in pairs]


def _shuffle(rows: int, most: int | None, rng: np.random.Generator) -> Numbers:
    """So many row numbers at most, in no order; of many rows nobody makes a list."""
    if rows > MANY and most is not None and most < rows:
        return rng.choice(rows, size=most, replace=False)
    return rng.permutation(rows)[:most]


def _kinds(X: Inputs) -> tuple[Numbers, Numbers]:
    """Which rows are equal: for each row the number of its kind, counted in order of appearance,
    and for each kind the first row."""
    if isinstance(X, np.ndarray) and X.ndim == 2:
        width = X.dtype.itemsize * X.shape[1]
        keys = np.ascontiguousarray(X).view(np.dtype((np.void, width))).reshape(-1)
    else:  # objects: what they look like
        keys = np.array([repr(x.tobytes() if isinstance(x, np.ndarray) else x) for x in X])
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[kind.reshape(-1)], first[order]
