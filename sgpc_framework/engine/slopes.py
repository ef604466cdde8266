"""What a state is worth on some rows, and the slopes of that in all it depends on.

With the additive form of the sites (``algebra.additive``), W = TᵀT = (K_uu + Π⁻¹)⁻¹ and V = W K_u.,
a loss whose derivatives with respect to the rows' means and variances are g_mean and g_var has

    dLoss/dK_u.   = (W m) g_meanᵀ - 2 V diag(g_var)
    dLoss/dK_uu   = -(V g_mean)(W m)ᵀ + V diag(g_var) Vᵀ
    dLoss/dk(x,x) = g_var

    dLoss/dm      = V g_mean

which the kernel contracts with its own derivatives. Several latent functions share W and V: their
g_var is added up, and each has its own g_mean and m, which costs n d more. One evaluation is
a kernel block and about three products of n d² operations, done block by block in one trip. Step 6
needs the hyperparameters' part; the rest comes for free and is what a refiner needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Literal, NamedTuple, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dgemm, dger

from sgpc_framework.algebra.additive import AdditiveForm
from sgpc_framework.algebra.rounding import settle
from sgpc_framework.parts.calls import kernel_diag, kernel_values
from sgpc_framework.parts.derivatives import (
    complete,
    in_hyperparameters,
    likelihood_gradient,
    linearised_diag,
    linearised_in_inputs,
)
from sgpc_framework.protocols import RowLoss
from sgpc_framework.rows.blocks import Block
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.rows.view import Rows, read_only

R = TypeVar("R")
Floats = NDArray[np.float64]

CACHED = 160_000
"""Numbers in a temporary matrix: a megabyte or so, which stays in a cache."""

LEAST_ROWS = 256
"""Fewer rows at a time would be all overhead."""

Over = Literal["all", "inactive"]


class Slopes(NamedTuple):
    """A mean over rows, and its derivatives with respect to all it depends on.

    The kernel acts twice, between basis and rows and within the basis. ``kernel`` and ``inputs``
    are derivatives through the former; for the latter there is ``gram``, dLoss/dK_uu. ``mean`` is
    that by the site means, of their shape.
    """

    value: float
    kernel: Floats
    likelihood: Floats
    mean: Floats
    inputs: Floats
    gram: Floats

    def __add__(self, other: Slopes) -> Slopes:  # type: ignore[override]
        """The sum over two blocks of rows."""
        return Slopes(*map(add, self, other))


@attrs.frozen(eq=False)
class RowMean:
    """A mean over rows: ``loss`` of each, times its weight, over the rows that ``over`` names.

    ``"inactive"`` means the rows outside the basis. They judge nothing when they are few, and what
    a selector leaves for last are the easy ones: with less than two thirds of the rows left, all
    rows count.
    """

    loss: Callable[[Rows], RowLoss]
    over: Over = "all"

    def counts_all(self, state: State, rows: TrainingRows) -> bool:
        """Whether all rows count."""
        left = len(rows) - np.count_nonzero(state.basis >= 0)
        return self.over == "all" or bool(3 * left < 2 * len(rows))

    def total_weight(self, state: State, rows: TrainingRows) -> float:
        """How many rows the mean is over, or the sum of their weights."""
        if self.counts_all(state, rows):
            return rows.total_weight
        active = state.basis[state.basis >= 0]
        return rows.total_weight - float(rows.weights(active).sum())


def slopes(
    mean: RowMean,
    state: State,
    rows: TrainingRows,
    form: AdditiveForm | None = None,
    inputs: bool = False,
) -> Slopes:
    """A mean over rows and its derivatives, in natural values: one trip.

    ``form`` is that of the state, for who has it already. The derivatives with respect to the
    basis inputs are computed if ``inputs``, which takes a kernel with ``KernelInputPullback``.
    """
    task = _Task(
        state,
        state.form() if form is None else form,
        mean.loss,
        1.0 / mean.total_weight(state, rows),
        mean.counts_all(state, rows),
        inputs,
    )
    total = rows.sum(_block_slopes, task)
    by_mean, weights = map(np.atleast_2d, (total.mean, task.form.weights))
    return total._replace(gram=total.gram - by_mean.T @ weights)


def predictions(
    state: State, block: Block, function: Callable[[Rows], R], form: AdditiveForm
) -> Iterator[R]:
    """A function of what a state says of the rows of a block, piece by piece."""
    T = form.T
    for piece in block.pieces(_rows_at_a_time(state)):
        K = kernel_values(state.kernel, state.inputs, piece.X)
        prior = kernel_diag(state.kernel, piece.X)
        yield function(_view_of_piece(state, form, T @ K, prior, piece))


def mean_over_rows(function: Callable[[Rows], Floats], state: State, rows: TrainingRows) -> float:
    """The mean of a row-local value under a state: one trip."""
    return rows.sum(_row_sum, state, function, state.form()) / rows.total_weight


def predictive_loss(state: State, rows: TrainingRows) -> float:
    """NLP over all rows (eq. 5)."""
    return -mean_over_rows(lambda view: view.log_z, state, rows)


def _row_sum(
    block: Block,
    state: State,
    function: Callable[[Rows], Floats],
    form: AdditiveForm,
) -> float:
    def total(rows: Rows) -> float:
        return float(np.sum(rows.weighed(function(rows))))

    return sum(predictions(state, block, total, form))


class _Task(NamedTuple):
    """What every block needs to know for its share of the slopes."""

    state: State
    form: AdditiveForm
    loss: Callable[[Rows], RowLoss]
    share: float
    all_rows: bool
    inputs: bool


def _block_slopes(block: Block, task: _Task) -> Slopes:
    weights, T = task.form.weights, task.form.T
    pieces = block.pieces(_rows_at_a_time(task.state))
    return reduce(add, (_slopes(task, piece, weights, T) for piece in pieces))


def _slopes(task: _Task, piece: Block, weights: Floats, T: Floats) -> Slopes:
    state = task.state
    kernel, likelihood = state.kernel, state.likelihood
    linearise = linearised_in_inputs if task.inputs else in_hyperparameters
    K, pullbacks = linearise(kernel, state.inputs, piece.X)
    prior, pullback_diag = linearised_diag(kernel, piece.X)
    M = T @ K
    rows = _view_of_piece(state, task.form, M, prior, piece)
    loss = task.loss(rows)
    if np.shape(loss.value) != (len(rows),):
        raise ValueError(f"wanted {len(rows)} losses, found {np.shape(loss.value)}")
    share = rows.weighed(np.full(len(rows), task.share))
    if not task.all_rows:
        share[rows.active] = 0.0
    g_log_z = share * loss.d_log_z
    g_mean = g_log_z * rows.alpha + share * loss.d_mean
    g_var = g_log_z * rows.by_variance + share * loss.d_variance
    V = T.T @ M
    G = V * (-2.0 * g_var)
    d_gram = -0.5 * (G @ V.T)
    own, moving = pullbacks(_with_outer(G, weights, g_mean))
    d_likelihood = likelihood_gradient(likelihood, rows, g_log_z)
    if loss.pullback is not None:
        d_likelihood = d_likelihood + complete(likelihood, loss.pullback(share))
    return Slopes(
        float(share @ loss.value),
        own + pullback_diag(g_var),
        d_likelihood,
        (V @ g_mean.T).T,
        moving,
        d_gram,
    )


def _with_outer(G: Floats, weights: Floats, g_mean: Floats) -> Floats:
    """G + Σ weights g_meanᵀ over the latent functions, in one pass and in the place of G."""
    if not len(G):
        return G
    if g_mean.ndim == 1:
        return np.asarray(dger(1.0, g_mean, weights, a=G.T, overwrite_a=True).T)
    return np.asarray(dgemm(1.0, g_mean.T, weights, beta=1.0, c=G.T, overwrite_c=True).T)


def _rows_at_a_time(state: State) -> int:
    """So few that a matrix with d entries for each stays cached: memory is what two threads would
    otherwise wait for."""
    return max(LEAST_ROWS, CACHED // max(1, len(state)))


def _view_of_piece(
    state: State,
    form: AdditiveForm,
    M: Floats,
    prior: Floats,
    piece: Block,
) -> Rows:
    """The rows of a piece under a state, from their part of M."""
    mean = (form.coefficient / np.sqrt(form.shrinkage)) @ M
    variance = prior - np.einsum("ij,ij->j", M, M)
    settle(variance, prior)
    return Rows(
        read_only(piece.y),
        read_only(mean),
        read_only(variance),
        read_only(piece.active(state.basis)),
        state.likelihood,
        origin=piece,
    )
