"""Mean and standard deviation of numbers, from sums without rounding.

A float is an integer times a power of two, and integers add up exactly. So the sums of a column do
not depend on the order of its rows, nor on how many pieces they were added up in: a table on one
machine and its partitions on many have the same mean and deviation, to the bit. Nothing overflows
or cancels.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import attrs
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BITS = 53
HALF = 27
LOW = (1 << HALF) - 1
PIECE = 1 << 20
"""So many numbers below 2^27 add up in an integer of 64 bits with ease."""


@attrs.frozen
class ExactSums:
    """How many numbers, their sum and the sum of their squares."""

    count: int = 0
    total: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)

    @classmethod
    def of(cls, numbers: Floats) -> ExactSums:
        """Those of finite numbers.

        >>> ExactSums.of(np.array([1e100, 1.0, -1e100])).mean
        0.3333333333333333
        """
        sums = cls()
        for start in range(0, len(numbers), PIECE):
            sums += _of_piece(numbers[start : start + PIECE])
        return sums

    def __add__(self, other: ExactSums) -> ExactSums:
        return ExactSums(
            self.count + other.count, self.total + other.total, self.squares + other.squares
        )

    @property
    def mean(self) -> float:
        """The mean, rounded once."""
        return float(self.total / self.count)

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return _root((self.squares - self.total**2 / self.count) / self.count)


def _of_piece(numbers: Floats) -> ExactSums:
    mantissa, exponent = np.frexp(numbers)
    least = int(exponent.min(initial=0))
    places = exponent - least
    whole = np.ldexp(mantissa, BITS).astype(np.int64)
    high = whole >> HALF  # whole = high 2^27 + low, with 0 <= low < 2^27
    low = whole & LOW
    unit = Fraction(2) ** (least - BITS)

    def summed(values: NDArray[np.int64], scale: int) -> int:
        """Values times 2^scale for each place: in two halves, whose sums do not overflow."""
        sums = [0, 0]
        for half, part in enumerate((values & LOW, values >> HALF)):
            of_place = np.bincount(places, weights=part).tolist()  # below 2^47: no rounding
            sums[half] = sum(int(v) << (scale * at) for at, v in enumerate(of_place) if v)
        return sums[0] + (sums[1] << HALF)

    total = ((summed(high, 1) << HALF) + summed(low, 1)) * unit
    squares = (
        (summed(high * high, 2) << 2 * HALF)
        + (summed(high * low, 2) << HALF + 1)
        + summed(low * low, 2)
    ) * unit**2
    return ExactSums(len(numbers), total, squares)


def _root(square: Fraction) -> float:
    """The root of a number of at least zero, to the last digit or so."""
    if square <= 0:
        return 0.0
    shift = 2 * max(0, 128 - square.numerator.bit_length() + square.denominator.bit_length())
    scaled = (square.numerator << shift) // square.denominator
    return float(Fraction(isqrt(scaled), 1 << (shift // 2)))
