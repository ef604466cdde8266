"""Sites: the Gaussian factors of the basis vectors, in both of their coordinates.

A site of basis vector j is exp(-pⱼ (fⱼ - mⱼ)² / 2). Included into a posterior whose marginal at
row j is N(mean, variance), it adds ``coefficient`` times the basis function k̃(., xⱼ) to the mean
and takes ``shrinkage`` times its square from the variance (eq. 7):

    shrinkage   η = p / (1 + p variance)          p = η / (1 - η variance)
    coefficient α̃ = η (m - mean)                  m = mean + α̃ / η
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


ByFunction = float | tuple[float, ...]
"""A number, or one for each of several latent functions."""


def by_function(numbers: Sequence[float]) -> ByFunction:
    """The number of a single latent function, or those of several.

    >>> by_function([0.5]), by_function([0.5, 0.25])
    (0.5, (0.5, 0.25))
    """
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


class Site(NamedTuple):
    """The site of one basis vector, in both coordinates."""

    precision: float
    mean: ByFunction
    coefficient: ByFunction
    shrinkage: float


def _vector(value: object) -> Floats:
    return np.ascontiguousarray(value, dtype=np.float64)  # of a number: an array with one entry


@attrs.frozen(eq=False)
class Steps:
    """Sites as steps of the additive model: one (coefficient, shrinkage) for each candidate.

    Of several latent functions, each has a row of coefficients; the shrinkage is that of all.
    """

    coefficient: Floats = attrs.field(converter=_vector)
    shrinkage: Floats = attrs.field(converter=_vector)

    def __len__(self) -> int:
        return int(self.coefficient.shape[-1])

    def __getitem__(self, which: int | np.integer | slice | NDArray[np.intp]) -> Steps:
        """The step of one candidate, or of some."""
        if isinstance(which, int) and which == 0 and len(self) == 1:
            return self
        if isinstance(which, (int, np.integer)):
            which = slice(which, which + 1 or None)
        return Steps(self.coefficient[..., which], self.shrinkage[..., which])

    @property
    def numbers(self) -> tuple[list[float], float]:
        """Those of a single candidate: a coefficient for each latent function, and a shrinkage."""
        return self.coefficient.ravel().tolist(), float(self.shrinkage[0])


@attrs.frozen(eq=False)
class Sites:
    """All sites of a model in order of inclusion, in both coordinates.

    ``precision`` and ``mean`` are pⱼ and mⱼ; ``coefficient`` and ``shrinkage`` are α̃ⱼ and ηⱼ. Of
    several latent functions, each has a row of means and of coefficients.
    """

    precision: Floats
    mean: Floats
    coefficient: Floats
    shrinkage: Floats

    def __len__(self) -> int:
        return len(self.precision)

    def __getitem__(self, prefix: slice) -> Sites:
        """The sites of the first stages: ``sites[:t]``."""
        return Sites(
            self.precision[prefix],
            self.mean[..., prefix],
            self.coefficient[..., prefix],
            self.shrinkage[prefix],
        )
