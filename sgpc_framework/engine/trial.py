"""A trial of step 6: basis and sites as they are, hyperparameters as the optimiser wants them.

It is what an objective is asked about, and it has the verbs to answer with:

    mean(row_loss, over)             a mean over rows                                  one trip
    of_sums(row_losses, combine)     a function of several sums over rows              two trips
    of_gram(gram_loss)               a function of the Gram matrix of the basis        none
    displacement                     how far the hyperparameters have moved, for priors

The framework does the linear algebra in between, so that every verb returns an exact gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.additive import AdditiveForm
from sgpc_framework.engine.slopes import Over, RowMean, predictions, slopes
from sgpc_framework.parts.derivatives import linearised
from sgpc_framework.parts.hyperparameters import FreeVector, replaced, values
from sgpc_framework.protocols import Loss, RowLoss
from sgpc_framework.rows.blocks import Block
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.rows.view import Rows

Floats = NDArray[np.float64]


@attrs.frozen(eq=False, slots=False)
class Trial:
    """Fixed basis and sites under trial hyperparameters, and the rows to judge by.

    The fit began with the hyperparameters of ``start``.
    """

    state: State
    rows: TrainingRows
    start: State

    @classmethod
    def at(cls, free: Floats, state: State, rows: TrainingRows, start: State) -> Trial:
        """The trial at a point of free coordinates."""
        return cls(replaced(state, FreeVector.of(state).natural(free)), rows, start)

    @cached_property
    def displacement(self) -> Floats:
        """How far each hyperparameter has moved from where the fit started, in the free coordinates
        of the optimiser, in which all gradients are."""
        return self._box.free(values(self.state)) - self._box.free(values(self.start))

    @cached_property
    def _box(self) -> FreeVector:
        return FreeVector.of(self.state)

    def mean(self, row_loss: Callable[[Rows], RowLoss], over: Over = "all") -> Loss:
        """The mean of a loss over all rows, or over the rows outside the basis, by their weights.

        The latter judge nothing when they are few: with less than two thirds of all rows left
        outside, the mean is over all rows.
        """
        if over not in ("all", "inactive"):
            raise ValueError(f'wanted over = "all" or "inactive", found {over!r}')
        mean = RowMean(row_loss, over)
        all_rows = mean.counts_all(self.state, self.rows)
        remark = "the mean is over all rows" if all_rows else ""
        value, gradient = self._slopes(mean)
        rows = mean.total_weight(self.state, self.rows)
        return Loss(value, gradient, rows=rows, remark=remark)

    def of_sums(
        self,
        row_losses: Callable[[Rows], Sequence[RowLoss]],
        combine: Callable[[Floats], tuple[float, Floats]],
    ) -> Loss:
        """A function of sums over all rows, each of a loss: a calibration error by bins, say.

        ``row_losses`` returns what is summed, each with its derivatives; ``combine`` maps the sums
        to the value and its derivative by each sum. Rows count by their weights: a sum over
        ``trial.rows.total_weight`` is a mean.
        """
        sums = self.rows.sum(_sums, self.state, self.state.form(), row_losses)
        value, slopes = combine(sums)
        if np.shape(slopes) != sums.shape:
            raise ValueError(
                f"wanted a derivative by each of {len(sums)} sums, found shape {np.shape(slopes)}"
            )
        weights = self.rows.total_weight * np.asarray(slopes, dtype=np.float64)
        linear = RowMean(lambda rows: _weighted_sum(row_losses(rows), weights))
        _, gradient = self._slopes(linear)
        return Loss(float(value), gradient, rows=self.rows.total_weight)

    def of_gram(self, gram_loss: Callable[[Floats, Floats, Floats], tuple[float, Floats]]) -> Loss:
        """A function of the Gram matrix of the basis, ``gram_loss(K, precision, mean)``.

        ``mean`` has a row for each latent function, if there are several. It returns the loss and
        its derivative by K. Values of different bases are not comparable,
        so that the outer loop ranks its models by NLP over all rows.
        """
        state = self.state
        K, pullback = linearised(state.kernel, state.inputs, state.inputs)
        value, d_K = gram_loss(K, state.precision, state.mean)
        if np.shape(d_K) != K.shape:
            raise ValueError(f"wanted a derivative of shape {K.shape}, found {np.shape(d_K)}")
        untouched = np.zeros(len(values(state.likelihood)))
        natural = np.concatenate([pullback(d_K), untouched])
        return Loss(value, self._in_free_coordinates(natural), comparable=False)

    def _slopes(self, mean: RowMean) -> tuple[float, Floats]:
        """A mean over rows and its gradient in free coordinates."""
        state = self.state
        K, pullback = linearised(state.kernel, state.inputs, state.inputs)
        by = slopes(mean, state, self.rows, state.form(K))
        d_kernel = by.kernel + pullback(by.gram)
        return by.value, self._in_free_coordinates(np.concatenate([d_kernel, by.likelihood]))

    def _in_free_coordinates(self, natural: Floats) -> Floats:
        return self._box.chain(values(self.state), natural)


def _sums(
    block: Block,
    state: State,
    form: AdditiveForm,
    row_losses: Callable[[Rows], Sequence[RowLoss]],
) -> Floats:
    def of_piece(rows: Rows) -> Floats:
        return np.array([np.sum(rows.weighed(loss.value)) for loss in row_losses(rows)])

    total: Floats = np.sum(list(predictions(state, block, of_piece, form)), axis=0)
    return total


def _weighted_sum(losses: Sequence[RowLoss], weights: Floats) -> RowLoss:
    """Σ weights_k losses_k, with its derivatives."""
    pairs = list(zip(weights.tolist(), losses, strict=True))
    pulling = [(weight, loss.pullback) for weight, loss in pairs if loss.pullback is not None]

    def pullback(counts: Floats) -> Floats:
        total: Floats = np.sum([pull(weight * counts) for weight, pull in pulling], axis=0)
        return total

    return RowLoss(
        np.sum([weight * loss.value for weight, loss in pairs], axis=0),
        sum(weight * loss.d_log_z for weight, loss in pairs),
        sum(weight * loss.d_mean for weight, loss in pairs),
        sum(weight * loss.d_variance for weight, loss in pairs),
        pullback if pulling else None,
    )
