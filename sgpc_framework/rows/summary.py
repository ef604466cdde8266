"""What is known of each feature without looking at single rows."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.rows.blocks import Block

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Summary:
    """Least, greatest and mean value of each feature, and the sum of squares around the mean."""

    rows: int
    least: Floats
    greatest: Floats
    mean: Floats
    squares: Floats

    @classmethod
    def of(cls, block: Block) -> Summary:
        """The summary of a block of feature vectors."""
        X = block.X
        mean = X.mean(axis=0)
        squares = np.square(X - mean).sum(axis=0)
        return cls(len(X), X.min(axis=0), X.max(axis=0), mean, squares)

    def __add__(self, other: Summary) -> Summary:
        """The summary of the rows of both."""
        rows = self.rows + other.rows
        apart = other.mean - self.mean
        return Summary(
            rows,
            np.minimum(self.least, other.least),
            np.maximum(self.greatest, other.greatest),
            self.mean + apart * (other.rows / rows),
            self.squares + other.squares + apart**2 * (self.rows * other.rows / rows),
        )

    @property
    def deviation(self) -> Floats:
        """The standard deviation of each feature."""
        deviation: Floats = np.sqrt(self.squares / self.rows)
        return deviation
