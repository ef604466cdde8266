"""What is known of the six benchmark sets, and the check that rows are those of one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.datasets.generated import Floats, ringnorm, twonorm, waveform
from sgpc_framework.errors import InputError

Arrays = Mapping[str, NDArray[np.generic]]


@attrs.frozen
class Facts:
    """What is known of a benchmark set: its size, its class balance and the paper's division."""

    rows: int
    features: int
    positive: int
    """How many rows are labelled +1."""

    train: int
    """How many rows the paper trains with; it tests with the others."""

    generate: Callable[[int, int], tuple[Floats, Floats]] | None = None
    """Makes rows of the same distribution from their number and a seed, where that is known."""

    @property
    def test(self) -> int:
        return self.rows - self.train

    @property
    def negative(self) -> int:
        return self.rows - self.positive


BENCHMARKS: Mapping[str, Facts] = MappingProxyType(
    {
        "banana": Facts(5300, 2, positive=2376, train=4000),
        "waveform": Facts(5000, 21, positive=1647, train=4000, generate=waveform),
        "twonorm": Facts(7400, 20, positive=3703, train=4000, generate=twonorm),
        "ringnorm": Facts(7400, 20, positive=3664, train=4000, generate=ringnorm),
        "splice": Facts(3175, 60, positive=1648, train=2000),
        "image": Facts(2310, 18, positive=1320, train=1300),
    }
)
"""The six sets by name, in the paper's order."""


def check_rows(arrays: Arrays, facts: Facts, source: object) -> Arrays:
    """The same arrays, if size and class balance are those of the set."""
    if not {"X", "y"} <= set(arrays):
        raise InputError(
            f"{source}: wanted arrays X and y, found {', '.join(sorted(arrays)) or 'none'}"
        )
    X, y = arrays["X"], arrays["y"]
    shapes = (facts.rows, facts.features), (facts.rows,)
    if (X.shape, y.shape) != shapes:
        raise InputError(
            f"{source}: wanted X and y of shapes {shapes[0]} and {shapes[1]}, "
            f"found {X.shape} and {y.shape}; this is another set, or a part of it"
        )
    wanted = facts.positive, facts.negative
    balance = int(np.sum(y == 1)), int(np.sum(y == -1))
    if balance != wanted:
        raise InputError(
            f"{source}: wanted {wanted[0]} labels +1 and {wanted[1]} labels -1, "
            f"found {balance[0]} and {balance[1]}; labels are wrong or exchanged"
        )
    return arrays
