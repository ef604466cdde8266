"""Kernels of distances between rows that were mapped, by a map which is learnt with them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol, Self

import attrs
import numpy as np

from sgpc_framework.authors import (
    Floats,
    InputError,
    Inputs,
    Kernel,
    StartsFromData,
    has,
    kernel_columns,
)
from sgpc_plugins.kernels.kernel_of_distances import Derivatives, KernelOfDistances
from sgpc_plugins.kernels.matern import Matern52
from sgpc_plugins.kernels.vectors import matrices, matrix


class Mapped(Protocol):
    """Rows that went through a map, and the way back for a loss of what came out."""

    @property
    def rows(self) -> Floats:
        """What came out."""
        ...

    def by_map(self, G: Floats) -> Floats:
        """Its derivatives in the numbers of the map, if G has those in what came out."""
        ...

    def by_inputs(self, G: Floats) -> Floats:
        """Its derivatives in what went in."""
        ...


def _of_distances(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, KernelOfDistances):
        raise ValueError(
            f"{field.name} must be a kernel of distances (squared-exponential, matern-12, "
            "matern-32, matern-52 or rational-quadratic, or one of these inside mahalanobis or "
            f"stretched), found {value!r}"
        )


@attrs.frozen
class LearntMap(KernelOfDistances):
    """k(x, z) = inner(g(x), g(z)), where the numbers of g are hyperparameters."""

    inner: Kernel = attrs.field(default=Matern52(), validator=_of_distances)

    @abstractmethod
    def map(self, features: int) -> Callable[[Floats], Mapped]:
        """g, of rows with so many features."""

    @abstractmethod
    def begun(self, X: Floats) -> Self:
        """The kernel with numbers for the words of its map, such that it leaves rows as they are.

        ``X`` has the rows from which a map takes its units and its places.
        """

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        X, Z = matrices(self, X, Z)
        g = self.map(X.shape[1])
        return self.inner(g(X).rows, g(Z).rows)

    def columns_of(self, X: Inputs, /) -> Callable[[Inputs], Floats]:
        X = matrix(self, X)
        g = self.map(X.shape[1])
        columns = kernel_columns(self.inner, g(X).rows)
        return lambda Z: columns(g(matrix(self, Z)).rows)

    def diag(self, X: Inputs, /) -> Floats:
        return self.inner.diag(X)

    def derivatives(self, X: Floats, Z: Floats) -> tuple[Floats, Callable[[Floats], Derivatives]]:
        g = self.map(X.shape[1])
        x, z = g(X), g(Z)
        K, derivatives = self._inside.derivatives(x.rows, z.rows)
        return K, lambda G: _DerivativesOfMapped(derivatives(G), x, z)

    def started(self, X: Inputs, /) -> Self:
        X = matrix(self, X)
        begun = self.begun(X)
        if not has(begun.inner, StartsFromData):
            return begun
        return begun.around(begun.inner.started(begun.map(X.shape[1])(X).rows))

    def around(self, inner: Kernel, /) -> Self:
        """The same map with another kernel inside."""
        return attrs.evolve(self, inner=inner)

    @property
    def _inside(self) -> KernelOfDistances:
        assert isinstance(self.inner, KernelOfDistances)  # its validator has seen to it
        return self.inner

    def _not_started(self, field: str, word: str) -> InputError:
        return InputError(
            f"kernel {self.name!r} still has the word {word!r} for its {field}: a fit takes the "
            "numbers from the data, kernel.started(X) does so by hand, or give numbers"
        )


class _DerivativesOfMapped:
    """The derivatives of sum(G * k(X, Z)), from those of the kernel inside."""

    def __init__(self, inside: Derivatives, x: Mapped, z: Mapped) -> None:
        self._inside, self._x, self._z = inside, x, z

    @cached_property
    def _by_x(self) -> Floats:
        return self._inside.by_X()

    @cached_property
    def _by_z(self) -> Floats:
        return self._inside.by_Z()

    def by_hyperparameters(self) -> Floats:
        by_map = self._x.by_map(self._by_x) + self._z.by_map(self._by_z)
        return np.concatenate([self._inside.by_hyperparameters(), by_map])

    def by_X(self) -> Floats:
        return self._x.by_inputs(self._by_x)

    def by_Z(self) -> Floats:
        return self._z.by_inputs(self._by_z)
