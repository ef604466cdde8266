"""What is known of each feature without looking at single rows."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.rows.blocks import Block

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Summary:
    """Least, greatest and mean value of each feature, and the sum of squares around the mean.

    ``weight`` is how many rows there are, or the sum of their weights.
    """

    weight: float
    least: Floats
    greatest: Floats
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, block: Block) -> Summary:
        """The summary of a block of feature vectors."""
        X, weight = block.X, block.weight
        least, greatest = X.min(axis=0), X.max(axis=0)
        if weight is None:
            mean = X.mean(axis=0)
            return cls(len(X), least, greatest, mean, np.square(X - mean).sum(axis=0))
        total = float(weight.sum())
        mean = weight @ X / total
        return cls(total, least, greatest, mean, weight @ np.square(X - mean))

    def __add__(self, other: Summary) -> Summary:
        """The summary of the rows of both."""
        weight = self.weight + other.weight
        apart = other.mean - self.mean
        return Summary(
            weight,
            np.minimum(self.least, other.least),
            np.maximum(self.greatest, other.greatest),
            self.mean + apart * (other.weight / weight),
            self.squares + other.squares + apart**2 * (self.weight * other.weight / weight),
        )

    @property
    def deviation(self) -> Floats:
        """The standard deviation of each feature."""
        deviation: Floats = np.sqrt(self.squares / self.weight)
        return deviation
