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

    ``squares[a, b]`` is the sum of the squared differences between two of them. Sums over other
    rows, even of other states in the same places, can be added.
    """

    rows: int
    losses: Floats
    squares: Floats

    def __add__(self, other: PairedLosses) -> PairedLosses:  # type: ignore[override]
        return PairedLosses(*map(add, self, other))

    @property
    def means(self) -> Floats:
        """NLP of each state."""
        return self.losses / self.rows

    def noise(self, a: int, b: int) -> float:
        """The standard error of the difference between two of the means.

        Both states are judged by the same rows, so that rows which are hard for both do not count.
        """
        if self.rows < 2:
            return float("inf")
        apart = self.means[a] - self.means[b]
        variance = (self.squares[a, b] - self.rows * apart**2) / (self.rows - 1)
        return float(np.sqrt(max(0.0, variance) / self.rows))

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
    apart = losses[:, None] - losses
    return PairedLosses(len(block), losses.sum(axis=1), np.einsum("abi,abi->ab", apart, apart))


def _loss(rows: Rows) -> Floats:
    return -rows.log_z
