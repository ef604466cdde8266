"""Features stretched where rows are many and pressed together where they are few."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self, final

import attrs
import numpy as np
from scipy.special import ndtri

from sgpc_framework.authors import (
    Expression,
    Floats,
    InputError,
    Inputs,
    Kernel,
    KernelArithmetic,
    Pullback,
    StartsFromData,
    Warp,
    has,
    kernel_columns,
    linearised,
    linearised_diag,
)
from sgpc_plugins.kernels.composite import expression_inside
from sgpc_plugins.kernels.matern import Matern52
from sgpc_plugins.kernels.rising_lines import Lines, along, as_lines, rising
from sgpc_plugins.kernels.vectors import matrix

KNOTS = 17
"""The most knots of a feature that are taken from the data."""


def _a_kernel(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if isinstance(value, type) or not isinstance(value, Kernel):
        raise ValueError(f"{field.name} must be a kernel, found {value!r}")


@final
@attrs.frozen
class Warped(KernelArithmetic):
    """Another kernel of features that were mapped one by one.

        k(x, z) = inner(g(x), g(z))

    g maps each feature by a rising line through ``knots``, where it has the values ``images``, and
    goes on straight beyond the first and the last. With ``knots = "quantiles"`` they are taken from
    the data: ranks become normal scores, with the mean and the deviation that the feature had. A
    few large incomes then no longer press all others together. A feature with no more than two
    different values stays as it is.

    >>> from sgpc_plugins.kernels import Linear
    >>> bent = Warped(Linear(), knots=[[0.0, 1.0, 100.0]], images=[[0.0, 1.0, 2.0]])
    >>> bent(np.array([[100.0]]), np.array([[0.5], [199.0]]))
    array([[1., 6.]])
    """

    name: ClassVar[str] = "warped"

    inner: Kernel = attrs.field(default=Matern52(), validator=_a_kernel)
    knots: Literal["quantiles"] | Lines = attrs.field(
        default="quantiles", converter=as_lines, validator=rising
    )
    """Where the line of each feature has its knots."""
    images: Lines = attrs.field(default=(), converter=as_lines, validator=rising)
    """What the knots are mapped to."""

    @images.validator
    def _as_many(self, _: Any, images: Lines) -> None:
        knots = () if isinstance(self.knots, str) else self.knots
        if [len(line) for line in images] != [len(line) for line in knots]:
            raise ValueError(
                "images must have a number for each of the knots, found lists of "
                f"{[len(line) for line in images]} numbers for {[len(line) for line in knots]}"
            )

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        return self.inner(self.warp(X), self.warp(Z))

    def columns_of(self, X: Inputs, /) -> Callable[[Inputs], Floats]:
        columns = kernel_columns(self.inner, self.warp(X))
        return lambda Z: columns(self.warp(Z))

    def diag(self, X: Inputs, /) -> Floats:
        return self.inner.diag(self.warp(X))

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        return linearised(self.inner, self.warp(X), self.warp(Z))

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return linearised_diag(self.inner, self.warp(X))

    def started(self, X: Inputs, /) -> Self:
        knots, images = self.knots, self.images
        if isinstance(knots, str):
            lines = [_normal_scores(feature) for feature in matrix(self, X).T]
            knots, images = tuple(line[0] for line in lines), tuple(line[1] for line in lines)
        started = attrs.evolve(self, knots=knots, images=images)
        if has(self.inner, StartsFromData):
            return started.around(self.inner.started(started.warp(X)))
        return started

    def expression(self) -> Expression:
        return Warp(expression_inside(self, self.inner), *self._map())

    # -- for who works with the inner kernel on mapped rows ------------------------------------

    def warp(self, X: Inputs, /) -> Floats:
        """g of every row."""
        knots, images = self._map()
        return self._mapped(X, knots, images)

    def unwarp(self, X: Inputs, /) -> Floats:
        """The rows of which g is X."""
        knots, images = self._map()
        return self._mapped(X, images, knots)

    def around(self, inner: Kernel, /) -> Self:
        """The same map with another kernel inside."""
        return attrs.evolve(self, inner=inner)

    def _map(self) -> tuple[Lines, Lines]:
        if isinstance(self.knots, str):
            raise InputError(
                f"kernel {self.name!r} still has the word {self.knots!r} for its knots: a fit "
                "takes them from the data, kernel.started(X) does so by hand, or give numbers"
            )
        return self.knots, self.images

    def _mapped(self, X: Inputs, places: Lines, values: Lines) -> Floats:
        before = matrix(self, X)
        if before.shape[1] != len(places):
            raise InputError(
                f"kernel {self.name!r} has knots for {len(places)} features, but the inputs have "
                f"{before.shape[1]} features"
            )
        after = np.array(before)  # in memory as before: columns of a kernel are
        for feature, (place, value) in enumerate(zip(places, values, strict=True)):
            if place:
                after[:, feature] = along(before[:, feature], np.array(place), np.array(value))
        return after


def _normal_scores(x: Floats) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Knots and images of a feature: normal scores of its ranks, as wide as it was itself.

    Of many different values some are taken that are about equally far apart when mapped.
    """
    values, counts = np.unique(x, return_counts=True)
    if len(values) <= 2:
        return (), ()
    scores = ndtri((np.cumsum(counts) - 0.5 * counts) / len(x))
    wanted = np.linspace(scores[0], scores[-1], KNOTS)
    some = np.unique(np.searchsorted(scores, wanted).clip(0, len(values) - 1))
    knots, scores = values[some], scores[some]
    mapped = along(x, knots, scores)
    width = x.std() / mapped.std()
    images = x.mean() + width * (scores - mapped.mean())
    if not np.all(np.isfinite(images)) or np.any(np.diff(images) <= 0.0):  # beyond what floats tell
        return (), ()
    return tuple(knots.tolist()), tuple(images.tolist())
