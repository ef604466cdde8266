"""The weighted degree kernel: strings are alike if they have the same pieces at the same places."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, final

import attrs
import numpy as np
from attrs.validators import ge, instance_of
from numpy.typing import NDArray
from sgpc_framework.authors import (
    Floats,
    Inputs,
    KernelArithmetic,
    Pullback,
    hyperparameter,
)

from sgpc_strings.letters import Strings, letters, sample, strings


@final
@attrs.frozen
class WeightedDegree(KernelArithmetic):
    """The cosine between the pieces of two strings, each piece together with its position.

        k(x, z) = variance · s(x, z) / √(s(x, x) s(z, z))
        s(x, z) = Σ_{d=1..degree} growth^{d-1} · #{i : x[i:i+d] = z[i:i+d]}

    ``variance`` is the prior variance of the function; ``degree`` is the length of the longest
    pieces (not tuned); ``growth`` is how much more a piece counts than one that is a letter
    shorter. Strings of different lengths are aligned at their first letters. An empty string has
    no pieces: its function value is zero for certain.

    Raetsch & Sonnenburg (2004), "Accurate splice site prediction for Caenorhabditis elegans",
    with weights that a fit can tune.

    >>> kernel = WeightedDegree(degree=2)
    >>> kernel(["GATC"], ["GATC", "GACC", "CGAT"]).round(3)  # 4 + 3 pieces, of which 3 + 1 agree
    array([[1.   , 0.571, 0.   ]])
    """

    name: ClassVar[str] = "weighted-degree"

    variance: float = hyperparameter(1.0, bounds=(1e-6, 1e6))
    growth: float = hyperparameter(1.0, bounds=(0.5, 2.0))
    degree: int = attrs.field(default=4, validator=[instance_of(int), ge(1)])

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        return self.linearised(X, Z)[0]

    def diag(self, X: Inputs, /) -> Floats:
        return self.variance * np.array([bool(row) for row in strings(self.name, X)], dtype=float)

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        left, right = strings(self.name, X), strings(self.name, Z)
        agreements = _agreements(left, right, self.degree)
        norm = np.sqrt(np.outer(self._own(left), self._own(right)))
        K = np.tensordot(self._weights(), agreements, axes=1)
        K *= self.variance / norm

        def pullback(G: Floats) -> Floats:
            slopes = self._slopes()
            direct = np.tensordot(slopes, agreements, axes=1) / norm
            GK = G * K
            relative = [
                slopes @ _lengths(rows, self.degree) / self._own(rows) for rows in (left, right)
            ]
            through_norm = GK.sum(axis=1) @ relative[0] + GK.sum(axis=0) @ relative[1]
            along_growth = self.variance * np.vdot(G, direct) - through_norm / 2.0
            return np.array([GK.sum() / self.variance, along_growth])

        return K, pullback

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        diagonal = self.diag(X)
        return diagonal, lambda G: np.array([np.vdot(G, diagonal) / self.variance, 0.0])

    def sample_inputs(self, rows: int, rng: np.random.Generator, /) -> Inputs:
        return sample(rows, rng)

    def _weights(self) -> Floats:
        return self.growth ** np.arange(self.degree)

    def _slopes(self) -> Floats:
        """The derivatives of the weights with respect to ``growth``."""
        return np.arange(self.degree) * self._weights() / self.growth

    def _own(self, rows: Strings) -> Floats:
        """s(x, x) of every string; one for an empty string, whose products are all zero."""
        own = self._weights() @ _lengths(rows, self.degree)
        return np.where(own > 0.0, own, 1.0)


def _lengths(rows: Strings, degree: int) -> Floats:
    """How many pieces of each length a string has: lengths x strings."""
    letters_of = np.array([len(row) for row in rows], dtype=float)
    return np.maximum(letters_of - np.arange(degree)[:, None], 0.0)


@lru_cache(maxsize=8)
def _agreements(left: Strings, right: Strings, degree: int) -> NDArray[np.unsignedinteger[Any]]:
    """How many pieces of each length agree in place: lengths x left strings x right strings.

    They do not depend on hyperparameters, so that step 6, which asks for the same strings at
    every evaluation, has them counted once.
    """
    if len(left) > len(right):
        return _agreements(right, left, degree).transpose(0, 2, 1)
    (X, lengths), (Z, limits) = letters(left), letters(right)
    inside = np.arange(len(Z))[:, None] < limits
    most = min(len(X), len(Z))
    counts = np.zeros((degree, len(left), len(right)), dtype=np.min_scalar_type(most))
    for number, length in enumerate(lengths.tolist()):  # one at a time stays in the cache
        shared = min(length, len(Z))
        same = X[:shared, number, None] == Z[:shared]
        same &= inside[:shared]
        agreeing = same
        for extra in range(min(degree, shared)):
            if extra:  # a piece agrees if it did without its last letter, and that one does too
                agreeing = agreeing[:-1] & same[extra:]
            np.sum(agreeing, axis=0, dtype=counts.dtype, out=counts[extra, number])
    return counts
