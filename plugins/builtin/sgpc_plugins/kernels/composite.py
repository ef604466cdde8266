"""Sums and products of kernels, of any depth and any kind: a stranger's kernel is welcome.

A part with no pullback of its own is differentiated numerically, and only that part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add, mul
from typing import Any, ClassVar, Self, final

import attrs
import numpy as np

from sgpc_framework.authors import (
    Expression,
    Floats,
    InputError,
    Inputs,
    Kernel,
    KernelArithmetic,
    KernelExpression,
    KernelInputPullback,
    Pullback,
    StartsFromData,
    has,
    kernel_columns,
    linearised,
    linearised_diag,
)
from sgpc_plugins.kernels.constant import Constant


def _tuple(parts: Iterable[Kernel]) -> tuple[Kernel, ...]:
    return tuple(parts)


def _checked(_: Any, field: attrs.Attribute[Any], parts: tuple[Any, ...]) -> None:
    if not parts:
        raise ValueError(f"{field.name} must hold at least one kernel, found none")
    for position, part in enumerate(parts):
        if isinstance(part, type) or not isinstance(part, Kernel):
            raise ValueError(f"{field.name}[{position}] must be a kernel, found {part!r}")


@final
@attrs.frozen
class Sum(KernelArithmetic):
    """A function that is a sum of independent functions.

        k(x, z) = Σ_t terms_t(x, z)

    ``k1 + k2`` is a sum, and a sum of sums is one sum.

    >>> from sgpc_plugins.kernels import Constant, Linear
    >>> Sum([Constant(variance=3.0), Linear()])(np.array([[1.0]]), np.array([[2.0]]))
    array([[5.]])
    """

    name: ClassVar[str] = "sum"

    terms: tuple[Kernel, ...] = attrs.field(converter=_tuple, validator=_checked)

    @classmethod
    def join(cls, *parts: Kernel) -> Self:
        return cls(t for part in parts for t in (part.terms if isinstance(part, Sum) else [part]))

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        return _combined(np.add, (term(X, Z) for term in self.terms))

    def columns_of(self, X: Inputs, /) -> Callable[[Inputs], Floats]:
        columns = [kernel_columns(term, X) for term in self.terms]
        return lambda Z: _combined(np.add, (column(Z) for column in columns))

    def diag(self, X: Inputs, /) -> Floats:
        return _combined(np.add, (term.diag(X) for term in self.terms))

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback([linearised(term, X, Z) for term in self.terms])

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback([linearised_diag(term, X) for term in self.terms])

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        movable = _movable(self, self.terms)
        return _combined(np.add, (term.input_pullback(X, Z, cotangent) for term in movable))

    def started(self, X: Inputs, /) -> Self:
        return attrs.evolve(self, terms=_started(self.terms, X))

    def expression(self) -> Expression:
        return reduce(add, _expressions(self, self.terms))

    def _with_pullback(self, parts: list[tuple[Floats, Pullback]]) -> tuple[Floats, Pullback]:
        K = _combined(np.add, (value for value, _ in parts))
        return K, lambda G: np.concatenate([pullback(G) for _, pullback in parts])


@final
@attrs.frozen
class Product(KernelArithmetic):
    """Similar by every factor at once: where one of them is zero, so is the product.

        k(x, z) = Π_t factors_t(x, z)

    ``k1 * k2`` is a product, and ``2.0 * k`` one with a constant kernel, which comes first.

    >>> from sgpc_plugins.kernels import Constant, Linear
    >>> Product([Constant(variance=3.0), Linear()])(np.array([[1.0]]), np.array([[2.0]]))
    array([[6.]])
    """

    name: ClassVar[str] = "product"

    factors: tuple[Kernel, ...] = attrs.field(converter=_tuple, validator=_checked)

    @classmethod
    def join(cls, *parts: Kernel | float) -> Self:
        constants: list[Kernel] = []
        factors: list[Kernel] = []
        for part in parts:
            if isinstance(part, Product):
                factors += part.factors
            elif has(part, Kernel):
                factors.append(part)
            else:
                constants.append(Constant(float(part)))
        return cls([*constants, *factors])

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        return _combined(np.multiply, (factor(X, Z) for factor in self.factors))

    def columns_of(self, X: Inputs, /) -> Callable[[Inputs], Floats]:
        columns = [kernel_columns(factor, X) for factor in self.factors]
        return lambda Z: _combined(np.multiply, (column(Z) for column in columns))

    def diag(self, X: Inputs, /) -> Floats:
        return _combined(np.multiply, (factor.diag(X) for factor in self.factors))

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback([linearised(factor, X, Z) for factor in self.factors])

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback([linearised_diag(factor, X) for factor in self.factors])

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        movable = _movable(self, self.factors)
        cotangents = _cotangents(cotangent, [factor(X, Z) for factor in self.factors])
        gradients = (f.input_pullback(X, Z, C) for f, C in zip(movable, cotangents, strict=True))
        return _combined(np.add, gradients)

    def started(self, X: Inputs, /) -> Self:
        return attrs.evolve(self, factors=_started(self.factors, X))

    def expression(self) -> Expression:
        return reduce(mul, _expressions(self, self.factors))

    def _with_pullback(self, parts: list[tuple[Floats, Pullback]]) -> tuple[Floats, Pullback]:
        values = [value for value, _ in parts]

        def pullback(G: Floats) -> Floats:
            pairs = zip(parts, _cotangents(G, values), strict=True)
            return np.concatenate([pull(share) for (_, pull), share in pairs])

        return _combined(np.multiply, values), pullback


def _combined(operation: np.ufunc, arrays: Iterable[Floats]) -> Floats:
    remaining = iter(arrays)
    result = np.array(next(remaining))  # a copy: a part may return an array of its own
    for array in remaining:
        operation(result, array, out=result)
    return result


def _cotangents(G: Floats, values: list[Floats]) -> Iterable[Floats]:
    """What each factor is to pull back: G times all other factors. (Dividing fails at zero.)"""
    for position in range(len(values)):
        yield reduce(np.multiply, values[:position] + values[position + 1 :], G)


def _started(parts: tuple[Kernel, ...], X: Inputs) -> tuple[Kernel, ...]:
    return tuple(part.started(X) if has(part, StartsFromData) else part for part in parts)


def _movable(whole: Kernel, parts: tuple[Kernel, ...]) -> Sequence[KernelInputPullback]:
    for position, part in enumerate(parts):
        if not has(part, KernelInputPullback):
            raise InputError(
                f"kernel {whole.name!r} cannot be differentiated in its inputs, because its part "
                f"{position} ({part.name!r}) has no input_pullback: keep the basis where it is, or "
                f"choose another part"
            )
    return parts  # type: ignore[return-value]  # every one of them was just asked


def _expressions(whole: Kernel, parts: tuple[Kernel, ...]) -> list[Expression]:
    return [expression_inside(whole, part) for part in parts]


def expression_inside(whole: Kernel, part: Kernel) -> Expression:
    """The formula of a part, if it has one."""
    if not has(part, KernelExpression):
        raise InputError(
            f"kernel {whole.name!r} has no formula, because its part {part.name!r} has no "
            "expression(): choose another part, or give it one"
        )
    return part.expression()
