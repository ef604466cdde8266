"""Kernels of distances: what their derivatives share, in both arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Protocol

import numpy as np

from sgpc_framework.authors import Floats, Inputs, KernelArithmetic, Pullback, values
from sgpc_plugins.kernels.vectors import matrices


class Derivatives(Protocol):
    """The derivatives of sum(G * k(X, Z)), each computed when it is asked for."""

    def by_hyperparameters(self) -> Floats:
        """One number for each hyperparameter, in natural values."""
        ...

    def by_X(self) -> Floats:
        """Of the shape of X."""
        ...

    def by_Z(self) -> Floats:
        """Of the shape of Z."""
        ...


class KernelOfDistances(KernelArithmetic, ABC):
    """A kernel that tells apart two rows by some distance alone; its first hyperparameter is the
    variance, k(x, x)."""

    name: ClassVar[str]

    @abstractmethod
    def derivatives(self, X: Floats, Z: Floats) -> tuple[Floats, Callable[[Floats], Derivatives]]:
        """K = k(X, Z), and a function from G to what follows for sum(G * K)."""

    @abstractmethod
    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats: ...

    @abstractmethod
    def diag(self, X: Inputs, /) -> Floats: ...

    @abstractmethod
    def widths(self, features: int) -> Floats:
        """A lengthscale for each feature."""

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        K, derivatives = self.derivatives(*matrices(self, X, Z))
        return K, lambda G: derivatives(G).by_hyperparameters()

    def linearised_in_inputs(
        self, X: Inputs, Z: Inputs, /
    ) -> tuple[Floats, Callable[[Floats], tuple[Floats, Floats]]]:
        K, derivatives = self.derivatives(*matrices(self, X, Z))

        def pullbacks(G: Floats) -> tuple[Floats, Floats]:
            by = derivatives(G)
            return by.by_hyperparameters(), by.by_X()

        return K, pullbacks

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self.diag(X), constant_diagonal(self)

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        return self.derivatives(*matrices(self, X, Z))[1](cotangent).by_X()


def constant_diagonal(kernel: KernelArithmetic) -> Pullback:
    """The pullback of a diagonal that is the variance, the first hyperparameter, and no more."""
    count = len(values(kernel))
    return lambda G: np.concatenate([[G.sum()], np.zeros(count - 1)])
