"""What rows that were held out say of several states, row by row and in sums."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.additive import AdditiveForm
from sgpc_framework.engine.slopes import predictions
from sgpc_framework.rows.blocks import Block
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.rows.view import Rows

Floats = NDArray[np.float64]


class PairedLosses(NamedTuple):
    """Sums over the same rows of what each of several states loses there.

    Sums over other rows, even of other states in the same places, can be added. Without weights w
    of the rows, w is one.
    """

    rows: int
    losses: Floats
    """Σ w l of each state."""
    squares: Floats
    """Σ w² (l_a - l_b)² of any two of them."""
    weight: float
    """Σ w."""
    squared_weight: float
    """Σ w²."""
    squared_losses: Floats
    """Σ w² l of each state."""

    @classmethod
    def of(cls, losses: Floats, w: Floats | None = None) -> PairedLosses:
        """The sums of losses, an array of them for each state, over rows of weights w."""
        apart = losses[:, None] - losses
        n = losses.shape[1]
        if w is None:
            total = losses.sum(axis=1)
            return cls(n, total, np.einsum("abi,abi->ab", apart, apart), n, n, total)
        apart *= w
        squares = np.einsum("abi,abi->ab", apart, apart)
        return cls(n, losses @ w, squares, float(w.sum()), float(np.sum(w**2)), losses @ w**2)

    def __add__(self, other: PairedLosses) -> PairedLosses:  # type: ignore[override]
        return PairedLosses(*map(add, self, other))

    @property
    def means(self) -> Floats:
        """NLP of each state."""
        return self.losses / self.weight

    def noise(self, a: int, b: int) -> float:
        """The standard error of the difference between two of the means.

        Both states are judged by the same rows, so that rows which are hard for both do not count.
        With d the difference at a row, of n rows, and D the mean of d by weight, it is the root of

            n / (n - 1) · Σ w² (d - D)² / (Σ w)²

        A row of weight two says no more than one of weight one, but is listened to twice: weights
        that are all multiplied by a number leave the error of a mean as it is.
        """
        if self.rows < 2:
            return float("inf")
        apart = self.means[a] - self.means[b]
        centre = self.squared_losses / self.squared_weight
        centre = centre[a] - centre[b]  # around which w² d is balanced: D, where all weights are 1
        squares = self.squares[a, b] - self.squared_weight * centre**2
        squares += self.squared_weight * (centre - apart) ** 2
        variance = squares / (self.rows - 1)
        return float(np.sqrt(max(0.0, variance) / (self.weight**2 / self.rows)))

    def clearly_better(self, a: int, b: int, standard_errors: float) -> bool:
        """Whether a loses less than b by more than so many standard errors."""
        return bool(self.means[b] - self.means[a] > standard_errors * self.noise(a, b))


def paired_losses(states: Sequence[State], rows: TrainingRows) -> PairedLosses:
    """The losses of states on rows, none of which they were fitted to: one trip."""
    return rows.sum(_block_losses, [(state, state.form()) for state in states])


def _block_losses(block: Block, states: Sequence[tuple[State, AdditiveForm]]) -> PairedLosses:
    losses = np.array(
        [np.concatenate(list(predictions(state, block, _loss, form))) for state, form in states]
    )
    return PairedLosses.of(losses, block.weight)


def _loss(rows: Rows) -> Floats:
    return -rows.log_z
