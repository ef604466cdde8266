"""The constant kernel."""

from __future__ import annotations

from typing import ClassVar, final

import attrs
import numpy as np

from sgpc_framework.authors import (
    Expression,
    Floats,
    Inputs,
    KernelArithmetic,
    Number,
    Pullback,
    hyperparameter,
)
from sgpc_plugins.kernels.stationary import VARIANCE


@final
@attrs.frozen
class Constant(KernelArithmetic):
    """Constant functions: a bias when added, a scale when multiplied, for inputs of any kind.

        k(x, z) = variance

    ``variance`` is the prior variance of the constant.

    >>> Constant(variance=3.0)(["any", "inputs"], ["at all"])
    array([[3.],
           [3.]])
    """

    name: ClassVar[str] = "constant"

    variance: float = hyperparameter(1.0, bounds=VARIANCE)

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        return np.full((len(X), len(Z)), self.variance)

    def diag(self, X: Inputs, /) -> Floats:
        return np.full(len(X), self.variance)

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        return self(X, Z), _total

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self.diag(X), _total

    def input_pullback(self, X: Inputs, Z: Inputs, cotangent: Floats, /) -> Floats:
        return np.zeros(np.shape(X))

    def expression(self) -> Expression:
        return Number(self.variance)


def _total(G: Floats) -> Floats:
    return np.array([G.sum()])
