"""The spectrum kernel: strings are alike if they have the same pieces, wherever these are."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, final

import attrs
import numpy as np
from attrs.validators import ge, instance_of, le
from numpy.typing import NDArray
from scipy.sparse import csr_array
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
class Spectrum(KernelArithmetic):
    """The cosine between the counts of all pieces of a given length.

        k(x, z) = variance · φ(x)·φ(z) / (‖φ(x)‖ ‖φ(z)‖)

    φ_s(x) is how often the piece s occurs in x. ``length`` is the length of the pieces (k, not
    tuned), ``variance`` the prior variance of the function. A string that is shorter than a piece
    has none: its function value is zero for certain.

    Leslie, Eskin & Noble (2002), "The spectrum kernel: a string kernel for SVM protein
    classification".

    >>> kernel = Spectrum(length=2)
    >>> kernel(["ACAC"], ["ACAC", "CACA", "GGGG"]).round(3)  # AC twice, CA once
    array([[1. , 0.8, 0. ]])
    """

    name: ClassVar[str] = "spectrum"

    variance: float = hyperparameter(1.0, bounds=(1e-6, 1e6))
    length: int = attrs.field(default=3, validator=[instance_of(int), ge(1), le(8)])

    def __call__(self, X: Inputs, Z: Inputs, /) -> Floats:
        left, right = self._pieces(X), self._pieces(Z)
        if len(left) <= len(right):
            return self.variance * _cosines(left, right)
        return self.variance * _cosines(right, left).T

    def diag(self, X: Inputs, /) -> Floats:
        return self.variance * self._pieces(X).present

    def linearised(self, X: Inputs, Z: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback(self(X, Z))

    def linearised_diag(self, X: Inputs, /) -> tuple[Floats, Pullback]:
        return self._with_pullback(self.diag(X))

    def sample_inputs(self, rows: int, rng: np.random.Generator, /) -> Inputs:
        return sample(rows, rng)

    def _with_pullback(self, K: Floats) -> tuple[Floats, Pullback]:
        return K, lambda G: np.array([np.vdot(G, K) / self.variance])

    def _pieces(self, X: Inputs) -> _Pieces:
        return _pieces(strings(self.name, X), self.length)


@attrs.frozen(eq=False)
class _Pieces:
    """The pieces that occur in some strings, and each string's counts of them, normalised."""

    codes: NDArray[np.uint64]
    """The pieces, in ascending order: up to eight letters are the bytes of one number."""

    counts: csr_array
    """Strings x pieces; every row has length one, or is zero."""

    present: Floats
    """1 for a string that has pieces, 0 for one that has none."""

    def __len__(self) -> int:
        return len(self.present)


@lru_cache(maxsize=32)
def _pieces(rows: Strings, length: int) -> _Pieces:
    """A fit asks for the same rows at every stage: counting them once is enough."""
    columns, lengths = letters(rows)
    starts = max(len(columns) - length + 1, 0)
    codes = np.zeros((starts, len(rows)), dtype=np.uint64)
    for letter in range(length):
        codes <<= np.uint64(8)
        codes |= columns[letter : letter + starts]
    inside = np.arange(starts)[:, None] + length <= lengths
    _, string = np.nonzero(inside)
    occurring, piece = np.unique(codes[inside], return_inverse=True)
    counts = csr_array((np.ones(len(piece)), (string, piece)), shape=(len(rows), len(occurring)))
    norms = np.sqrt(np.asarray((counts**2).sum(axis=1)))  # counts of one piece are added up
    counts.data /= np.repeat(np.where(norms > 0.0, norms, 1.0), np.diff(counts.indptr))
    return _Pieces(occurring, counts, (norms > 0.0).astype(np.float64))


def _cosines(few: _Pieces, many: _Pieces) -> Floats:
    """Normalised dot products; the side with fewer strings is written out as a dense matrix."""
    _, in_few, in_many = np.intersect1d(
        few.codes, many.codes, assume_unique=True, return_indices=True
    )
    dense = np.zeros((len(many.codes), len(few)))
    dense[in_many] = few.counts[:, in_few].T.toarray()
    return np.asarray(many.counts @ dense).T
