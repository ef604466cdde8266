"""The rows that an estimator keeps for ``partial_fit``: all, or so many out of a stream.

A reservoir of k rows holds, after n rows of a stream, each of them with probability k / n: row n
takes the place of one that is drawn among the first n - 1 and itself, and is left out if that is
itself (Vitter's algorithm R). What is drawn for a row depends on the seed and on the number of the
row, so that it does not matter in which portions the stream comes.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """The rows of a fit; without weights every one counts one."""

    X: Floats
    y: NDArray[Any]
    weight: Floats | None

    def copy(self) -> Rows:
        """The same rows, which nobody else has."""
        return self._replace(X=self.X.copy(), y=self.y.copy())  # weights are ours already

    def followed_by(self, others: Rows) -> Rows:
        """These rows and others, whose labels must be of the same sort."""
        if (others.y.dtype.kind in "OUS") != (self.y.dtype.kind in "OUS"):
            raise ValueError(
                f"wanted labels like {self.y[:1].tolist()}, found {others.y[:1].tolist()}"
            )
        weight = None
        if self.weight is not None or others.weight is not None:
            weight = np.concatenate([self._weights, others._weights])
        X, y = np.concatenate([self.X, others.X]), np.concatenate([self.y, others.y])
        return Rows(X, y, weight)

    def some(self, numbers: NDArray[np.intp]) -> Rows:
        """The rows with these numbers, in that order."""
        weight = None if self.weight is None else self.weight[numbers]
        return Rows(self.X[numbers], self.y[numbers], weight)

    @property
    def _weights(self) -> Floats:
        return np.ones(len(self.y)) if self.weight is None else self.weight


class Reservoir:
    """Keeps so many rows of a stream, and counts them all.

    Philox is a generator with a counter: the draw of a row begins where its number says.
    """

    def __init__(self, most: int, seed: int) -> None:
        self.most = most
        self.seen = 0
        self._seed = seed

    def kept_of(self, earlier: Rows | None, new: Rows) -> Rows:
        """The rows that are kept, after some were and others have come."""
        kept = 0 if earlier is None else len(earlier.y)
        both = new if earlier is None else earlier.followed_by(new)
        self.seen = max(self.seen, kept)
        places = list(range(kept))
        chances = self._chances(len(new.y))
        for number, chance in enumerate(chances.tolist(), start=kept):
            self.seen += 1
            if len(places) < self.most:
                places.append(number)
            elif (place := int(chance * self.seen)) < self.most:
                places[place] = number
        return both.some(np.array(places, dtype=np.intp))

    def _chances(self, count: int) -> Floats:
        """A number in [0, 1) for each of the next rows."""
        bits = np.random.Philox(np.random.SeedSequence([self._seed, 0, 4]))
        bits.advance(self.seen // 4)  # four numbers a step of the counter
        skipped = self.seen % 4
        return np.random.Generator(bits).random(skipped + count)[skipped:]


class KeptRows(NamedTuple):
    """The rows of earlier calls; those of a bounded number have come through a reservoir."""

    rows: Rows
    reservoir: Reservoir | None = None

    @classmethod
    def after(
        cls, earlier: KeptRows | None, new: Rows, most: int | None, seed: Callable[[], int]
    ) -> KeptRows:
        """What is kept when rows come, after others or as the first: all, or ``most`` of them."""
        before, reservoir = earlier or (None, None)
        if most is None:
            return cls(new.copy() if before is None else before.followed_by(new), reservoir)
        # A copy: if the fit to these rows fails, they have not come.
        reservoir = Reservoir(most, seed()) if reservoir is None else copy(reservoir)
        return cls(reservoir.kept_of(before, new), reservoir)


def most_kept(keep_rows: object) -> int | None:
    """The most rows that are to be kept; None if all are, or none."""
    if isinstance(keep_rows, (bool, np.bool_)):
        return None
    if not isinstance(keep_rows, Integral) or keep_rows < 2:
        raise ValueError(
            "wanted keep_rows to be True, False, or a whole number of at least 2, found "
            f"{keep_rows!r}"
        )
    return int(keep_rows)
