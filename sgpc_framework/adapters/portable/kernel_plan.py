"""A kernel's expression, prepared for a language: which features it sees, what it compares, how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.parts.expressions import (
    Combinations,
    DotProduct,
    Exp,
    Expression,
    LinearMap,
    Lines,
    Number,
    Power,
    Product,
    SineDistance,
    SquaredDistance,
    Sum,
    Warp,
)

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class View:
    """Features as a part of the kernel sees them: those of the view ``parent``, through a map."""

    parent: int
    through: Lines | Combinations


@attrs.frozen
class Comparison:
    """What is computed of two inputs in a view: a squared distance, a sine distance, a product."""

    kind: Literal["squared_distance", "sine_distance", "dot_product"]
    view: int
    weights: float | tuple[float, ...] = 1.0
    rate: float = 1.0

    @property
    def is_distance(self) -> bool:
        """Whether it is zero for an input and itself."""
        return self.kind != "dot_product"


@attrs.frozen
class Compared(Expression):
    """The value of a comparison, by its number."""

    number: int


class KernelPlan:
    """The views of the inputs, the comparisons in them, and a formula of their values.

    View 0 are the features themselves; ``views`` has those from 1 on.
    """

    def __init__(self, expression: Expression) -> None:
        self.views: list[View] = []
        self.comparisons: list[Comparison] = []
        self.formula = self._planned(expression, 0)

    def _planned(self, expression: Expression, view: int) -> Expression:
        match expression:
            case SquaredDistance(weights):
                return self._compared(Comparison("squared_distance", view, weights))
            case SineDistance(weights, rate):
                return self._compared(Comparison("sine_distance", view, weights, rate))
            case DotProduct():
                return self._compared(Comparison("dot_product", view))
            case Sum(terms):
                return Sum(tuple(self._planned(term, view) for term in terms))
            case Product(factors):
                return Product(tuple(self._planned(factor, view) for factor in factors))
            case Power(base, exponent):
                return Power(self._planned(base, view), exponent)
            case Exp(exponent):
                return Exp(self._planned(exponent, view))
            case Warp(inner, knots, images):
                return self._planned(inner, self._view(view, Lines.through(knots, images)))
            case LinearMap(inner, matrix):
                return self._planned(inner, self._view(view, Combinations(np.array(matrix))))
            case Number():
                return expression
        raise TypeError(f"wanted an expression, found {expression!r}")

    def _view(self, parent: int, through: Lines | Combinations) -> int:
        self.views.append(View(parent, through))
        return len(self.views)

    def _compared(self, comparison: Comparison) -> Compared:
        if comparison not in self.comparisons:
            self.comparisons.append(comparison)
        return Compared(self.comparisons.index(comparison))

    def seen(self, X: Floats) -> list[Floats]:
        """X in every view, view 0 included."""
        seen = [X]
        for view in self.views:
            seen.append(view.through(seen[view.parent]))
        return seen


def written(expression: Expression, words: Mapping[str, str]) -> str:
    """The formula as text; ``words`` are what a language has for exp, sqrt and power.

    >>> written(Exp(Product((Number(-0.5), Compared(0)))), {"exp": "exp"})
    'exp((-0.5 * a0))'
    """
    match expression:
        case Number(value):
            return repr(float(value))
        case Compared(number):
            return f"a{number}"
        case Sum(terms):
            return f"({' + '.join(written(term, words) for term in terms)})"
        case Product(factors):
            return f"({' * '.join(written(factor, words) for factor in factors)})"
        case Exp(exponent):
            return f"{words['exp']}({written(exponent, words)})"
        case Power(base, exponent) if exponent == 0.5:
            return f"{words['sqrt']}({written(base, words)})"
        case Power(base, exponent):
            return f"{words['power']}({written(base, words)}, {exponent!r})"
    raise TypeError(f"wanted a planned expression, found {expression!r}")
