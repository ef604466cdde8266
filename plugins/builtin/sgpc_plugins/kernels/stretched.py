"""Features that are stretched where the labels change quickly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, Self, final

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.authors import Expression, Floats, InputError, Warp, hyperparameter
from sgpc_plugins.kernels.composite import expression_inside
from sgpc_plugins.kernels.learnt_map import LearntMap, Mapped
from sgpc_plugins.kernels.rising_lines import Lines, as_lines, rising

PIECES = 8
"""The most pieces of a feature's line that are taken from the data."""


@final
@attrs.frozen
class Stretched(LearntMap):
    """A kernel of distances between features that were stretched piece by piece.

        k(x, z) = inner(g(x), g(z))

    g maps each feature by a rising line, which has a slope of its own between any two of its
    ``knots`` and goes on straight beyond the first and the last. The ``slopes`` are learnt, those
    of one feature after those of another: the function may then change quickly near a threshold,
    and slowly far from it. With ``knots = "quantiles"`` as many rows of the data lie between any
    two, or there is one at each value where there are few. A feature with no more than two
    different values stays as it is.

    >>> from sgpc_plugins.kernels import Matern52
    >>> steep = Stretched(Matern52(lengthscale=1.0), knots=[[0.0, 1.0, 2.0]], slopes=(1.0, 5.0))
    >>> steep.map(1)(np.array([[-1.0], [1.0], [1.2], [3.0]])).rows.ravel()
    array([-1.,  1.,  2., 11.])
    """

    name: ClassVar[str] = "stretched"

    knots: Literal["quantiles"] | Lines = attrs.field(
        default="quantiles", converter=as_lines, validator=rising
    )
    """Where the slope of each feature changes."""
    slopes: tuple[float, ...] | str = hyperparameter(
        "none", bounds=(1e-4, 1e4), starts=("none",), each="piece"
    )
    """Of the pieces between knots, feature after feature."""

    @slopes.validator
    def _one_for_each_piece(
        self, field: attrs.Attribute[object], value: tuple[float, ...] | str
    ) -> None:
        if isinstance(value, str):
            return
        if not isinstance(value, tuple):
            raise ValueError(f"{field.name} must be 'none' or a list of numbers, found {value!r}")
        pieces = 0 if isinstance(self.knots, str) else sum(map(_pieces, self.knots))
        if len(value) != pieces:
            raise ValueError(
                f"{field.name} must have a number for each of the {pieces} pieces between knots, "
                f"found {len(value)}"
            )

    def map(self, features: int) -> Callable[[Floats], Mapped]:
        knots = self._started_knots()
        if features != len(knots):
            raise InputError(
                f"kernel {self.name!r} has knots for {len(knots)} features, but the inputs have "
                f"{features} features"
            )
        return _Map.through(knots, self._images())

    def begun(self, X: Floats) -> Self:
        knots, slopes = self.knots, self.slopes
        if isinstance(knots, str):
            knots = tuple(_quantiles(feature) for feature in X.T)
        if isinstance(slopes, str):
            slopes = (1.0,) * sum(map(_pieces, knots))
        return attrs.evolve(self, knots=knots, slopes=slopes)

    def widths(self, features: int) -> Floats:
        """As if every line were straight from its first knot to its last."""
        straight = np.ones(features)
        for feature, (knots, images) in enumerate(
            zip(self._started_knots(), self._images(), strict=True)
        ):
            if knots:
                straight[feature] = (images[-1] - images[0]) / (knots[-1] - knots[0])
        return self._inside.widths(features) / straight

    def relevances(self) -> Floats | None:
        if isinstance(self.knots, str) or isinstance(self.slopes, str):
            return None
        return 1.0 / self.widths(len(self.knots))

    def expression(self) -> Expression:
        images = tuple(tuple(line.tolist()) for line in self._images())
        return Warp(expression_inside(self, self.inner), self._started_knots(), images)

    def _started_knots(self) -> Lines:
        if isinstance(self.knots, str):
            raise self._not_started("knots", self.knots)
        return self.knots

    def _images(self) -> list[Floats]:
        """What the knots of each feature are mapped to; the first stays where it is."""
        knots = self._started_knots()
        if isinstance(self.slopes, str):
            raise self._not_started("slopes", self.slopes)
        slopes = iter(self.slopes)
        return [
            np.cumsum([line[0], *(next(slopes) * step for step in np.diff(line))])
            if line
            else np.empty(0)
            for line in knots
        ]


def _pieces(knots: tuple[float, ...]) -> int:
    return max(0, len(knots) - 1)


def _quantiles(x: Floats) -> tuple[float, ...]:
    """Knots of a feature: its values if these are few, else so many quantiles."""
    values = np.unique(x)
    if len(values) > PIECES + 1:
        values = np.unique(np.quantile(x, np.linspace(0.0, 1.0, PIECES + 1)))
    return tuple(values.tolist()) if len(values) > 2 else ()


@attrs.frozen(eq=False)
class _Map:
    """The lines of all features: matrices with a row for each feature and a column for each piece,
    of which features with fewer pieces reach the first alone."""

    start: Floats
    """Where a piece begins."""
    image: Floats
    """Where it is mapped to."""
    slope: Floats
    width: Floats
    """How long a piece is that another follows."""
    there: NDArray[np.bool_]
    """Whether there is such a piece."""

    @classmethod
    def through(cls, knots: Lines, images: Sequence[Floats]) -> _Map:
        pieces = [_pieces(line) for line in knots]
        shape = len(knots), max([1, *pieces])
        start, slope = np.full(shape, np.inf), np.ones(shape)
        image, width = np.zeros(shape), np.zeros(shape)
        start[:, 0] = 0.0  # a feature without knots stays as it is
        for f, (line, mapped, count) in enumerate(zip(knots, images, pieces, strict=True)):
            if count:
                start[f, :count], image[f, :count] = line[:-1], mapped[:-1]
                slope[f, :count] = np.diff(mapped) / np.diff(line)
                width[f, : count - 1] = np.diff(line[:-1])
        return cls(start, image, slope, width, np.arange(shape[1]) < np.array(pieces)[:, None])

    def __call__(self, X: Floats) -> _Bent:
        features, pieces = self.start.shape
        piece = np.zeros(X.shape, dtype=np.intp)
        for start in self.start.T[1:]:
            piece += start <= X
        piece += pieces * np.arange(features)
        return _Bent(self, piece, X - self.start.ravel()[piece])


@attrs.frozen(eq=False)
class _Bent:
    """Rows, each feature by the number of its piece and how far beyond its beginning it is."""

    map: _Map
    piece: NDArray[np.intp]
    beyond: Floats

    @property
    def rows(self) -> Floats:
        map = self.map
        bent: Floats = map.slope.ravel()[self.piece]
        bent *= self.beyond
        bent += map.image.ravel()[self.piece]
        return bent

    def by_map(self, G: Floats) -> Floats:
        """A slope acts within its piece, and shifts all that is beyond it."""
        within, reached = self._sums(G * self.beyond), self._sums(G)
        beyond = np.cumsum(reached[:, ::-1], axis=1)[:, ::-1] - reached
        by_slope: Floats = (within + self.map.width * beyond)[self.map.there]
        return by_slope

    def by_inputs(self, G: Floats) -> Floats:
        by: Floats = G * self.map.slope.ravel()[self.piece]
        return by

    def _sums(self, G: Floats) -> Floats:
        """The sums of G over the rows in each piece."""
        like = self.map.start
        sums = np.bincount(self.piece.ravel(), G.ravel(), like.size)
        return np.asarray(sums, dtype=np.float64).reshape(like.shape)
