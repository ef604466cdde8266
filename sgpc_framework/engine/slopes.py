"""Step 6's function: a loss of the hyperparameters while basis and sites stay fixed.

With the additive form of the sites (module ``additive``), W = TᵀT = (K_uu + Π⁻¹)⁻¹ and V = W K_u.,
a loss whose derivatives with respect to the rows' means and variances are g_mean and g_var has

    dLoss/dK_u.   = (W m) g_meanᵀ - 2 V diag(g_var)
    dLoss/dK_uu   = -(V g_mean)(W m)ᵀ + V diag(g_var) Vᵀ
    dLoss/dk(x,x) = g_var

    dLoss/dm      = V g_mean

which the kernel contracts with its own derivatives. One evaluation is a kernel block and about
three products of n d² operations, done block by block. Step 6 needs the hyperparameters' part; the
rest comes for free and is what a refiner needs (``joint``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

from sgpc_framework.algebra.additive import AdditiveForm, additive_form
from sgpc_framework.algebra.rounding import settle
from sgpc_framework.parts import hyperparameters as hyper
from sgpc_framework.parts.calls import calling, kernel_diag, kernel_values
from sgpc_framework.parts.derivatives import (
    complete,
    in_hyperparameters,
    likelihood_gradient,
    linearised,
    linearised_diag,
    linearised_in_inputs,
)
from sgpc_framework.protocols import (
    GramObjective,
    HyperObjective,
    Inputs,
    Kernel,
    Likelihood,
    RowObjective,
)
from sgpc_framework.rows.threads import over_blocks
from sgpc_framework.rows.view import Rows, read_only

R = TypeVar("R")
Floats = NDArray[np.float64]

CACHED = 160_000
"""Numbers in a temporary matrix: a megabyte or so, which stays in a cache."""

LEAST_ROWS = 256
"""Fewer rows in a block would be all overhead."""


@attrs.frozen(eq=False)
class Slopes:
    """A mean over rows, and its derivatives with respect to all it depends on.

    The kernel acts twice, between basis and rows and within the basis. ``kernel`` and ``inputs``
    are derivatives through the former; for the latter there is ``gram``, dLoss/dK_uu.
    """

    value: float
    kernel: Floats
    likelihood: Floats
    mean: Floats
    inputs: Floats
    gram: Floats

    def __add__(self, other: Slopes) -> Slopes:
        """The sum over two blocks of rows."""
        return Slopes(
            self.value + other.value,
            self.kernel + other.kernel,
            self.likelihood + other.likelihood,
            self.mean + other.mean,
            self.inputs + other.inputs,
            self.gram + other.gram,
        )


@attrs.frozen(eq=False)
class FixedSites:
    """Training rows, the basis among them, and the sites that step 6 keeps constant.

    ``basis`` holds the row numbers of the basis vectors (those among X, if X is a sample).
    ``basis_inputs`` are the basis vectors themselves, which a refiner may have moved.
    """

    X: Inputs
    y: Floats
    basis: NDArray[np.intp]
    precision: Floats
    mean: Floats
    block_rows: int
    basis_inputs: Inputs = attrs.field()

    @basis_inputs.default
    def _rows_of_the_basis(self) -> Inputs:
        return self.X[self.basis]

    def first(self, stages: int) -> FixedSites:
        """The basis and sites of the first stages."""
        cut = slice(stages)
        return attrs.evolve(
            self,
            basis=self.basis[cut],
            precision=self.precision[cut],
            mean=self.mean[cut],
            basis_inputs=self.basis_inputs[cut],
        )

    def some_rows(self, count: int, seed: int) -> FixedSites:
        """The same basis and sites, judged by ``count`` rows drawn uniformly."""
        if count >= len(self.y):
            return self
        rng = np.random.default_rng([seed, 0])
        return self.judged_by(np.sort(rng.choice(len(self.y), size=count, replace=False)))

    def judged_by(self, rows: NDArray[np.intp]) -> FixedSites:
        """The same basis and sites, judged by the rows of these numbers."""
        return attrs.evolve(
            self, X=self.X[rows], y=self.y[rows], basis=np.flatnonzero(np.isin(rows, self.basis))
        )

    def judged_on(self, X: Inputs, y: Floats) -> FixedSites:
        """The same basis and sites, judged by other rows, none of which is in the basis."""
        return attrs.evolve(self, X=X, y=y, basis=self.basis[:0])

    def value_and_gradient(
        self, objective: HyperObjective, kernel: Kernel, likelihood: Likelihood
    ) -> tuple[float, Floats]:
        """The objective and its gradient in natural values: the kernel's, then the likelihood's."""
        K, pullback = linearised(kernel, self.basis_inputs, self.basis_inputs)
        if isinstance(objective, RowObjective):
            form = additive_form(K, self.precision, self.mean)
            found = self.slopes(objective, kernel, likelihood, form)
            d_kernel = found.kernel + pullback(found.gram)
            return found.value, np.concatenate([d_kernel, found.likelihood])
        assert isinstance(objective, GramObjective)
        with calling("objective", objective, "gram_loss"):
            value, d_K = objective.gram_loss(K, self.precision, self.mean)
            if np.shape(d_K) != K.shape:
                raise ValueError(f"wanted a derivative of shape {K.shape}, found {np.shape(d_K)}")
        untouched = np.zeros(len(hyper.values(likelihood)))
        return value, np.concatenate([pullback(d_K), untouched])

    def counts_all_rows(self, objective: RowObjective) -> bool:
        """Whether the objective is a mean over all rows.

        The rows outside the basis judge nothing when they are few, and what a selector leaves for
        last are the easy ones: with less than two thirds of the rows left, all rows count.
        """
        left = len(self.y) - len(self.basis)
        return objective.over == "all" or 3 * left < 2 * len(self.y)

    def rows_counted(self, objective: RowObjective) -> int:
        """How many rows the objective is a mean over."""
        return len(self.y) - (0 if self.counts_all_rows(objective) else len(self.basis))

    def predictive_loss(self, kernel: Kernel, likelihood: Likelihood) -> float:
        """NLP over all rows (eq. 5)."""
        sums = self.predicted(kernel, likelihood, lambda rows: float(np.sum(rows.log_z)))
        return -sum(sums) / len(self.y)

    def row_losses(self, kernel: Kernel, likelihood: Likelihood) -> Floats:
        """What each row contributes to NLP, whose mean it is."""
        return -np.concatenate(list(self.predicted(kernel, likelihood, lambda rows: rows.log_z)))

    def predicted(
        self, kernel: Kernel, likelihood: Likelihood, function: Callable[[Rows], R]
    ) -> Iterator[R]:
        """A function of what the model says of the rows, block by block."""
        basis_inputs = self.basis_inputs
        form = additive_form(
            kernel_values(kernel, basis_inputs, basis_inputs), self.precision, self.mean
        )
        T = form.T

        def of_block(block: slice) -> R:
            K = kernel_values(kernel, basis_inputs, self.X[block])
            prior = kernel_diag(kernel, self.X[block])
            return function(self._rows(form, T @ K, prior, block, likelihood))

        return self._over_blocks(of_block)

    def slopes(
        self,
        objective: RowObjective,
        kernel: Kernel,
        likelihood: Likelihood,
        form: AdditiveForm,
        inputs: bool = False,
    ) -> Slopes:
        """The objective and its derivatives with respect to all it depends on, in natural values.

        ``form`` is that of the sites. The derivatives with respect to the basis inputs are computed
        if ``inputs``, which takes a kernel with ``KernelInputPullback``.
        """
        basis_inputs = self.basis_inputs
        T = form.T
        weights = form.functions.T @ form.coefficient  # W m
        counted, all_rows = self.rows_counted(objective), self.counts_all_rows(objective)
        linearise = linearised_in_inputs if inputs else in_hyperparameters

        def part(block: slice) -> Slopes:
            K, pullbacks = linearise(kernel, basis_inputs, self.X[block])
            prior, pullback_diag = linearised_diag(kernel, self.X[block])
            M = T @ K
            rows = self._rows(form, M, prior, block, likelihood)
            with calling("objective", objective, "row_loss"):
                loss = objective.row_loss(rows)
                if np.shape(loss.value) != (len(rows),):
                    raise ValueError(f"wanted {len(rows)} losses, found {np.shape(loss.value)}")
            share = np.full(len(rows), 1.0 / counted)
            if not all_rows:
                share[rows.active] = 0.0
            g_log_z = share * loss.d_log_z
            g_mean = g_log_z * rows.alpha + share * loss.d_mean
            g_var = g_log_z * (rows.alpha**2 - rows.nu) / 2 + share * loss.d_variance
            V = T.T @ M
            G = V * (-2.0 * g_var)
            d_K_uu = -0.5 * (G @ V.T)
            if len(weights):  # G += weights g_meanᵀ, in one pass
                G = dger(1.0, g_mean, weights, a=G.T, overwrite_a=True).T
            own, moving = pullbacks(G)
            d_likelihood = likelihood_gradient(likelihood, rows, g_log_z)
            if loss.pullback is not None:
                with calling("objective", objective, "the pullback of row_loss"):
                    d_likelihood = d_likelihood + complete(likelihood, loss.pullback(share))
            return Slopes(
                float(share @ loss.value),
                own + pullback_diag(g_var),
                d_likelihood,
                V @ g_mean,
                moving,
                d_K_uu,
            )

        found = reduce(Slopes.__add__, self._over_blocks(part))
        return attrs.evolve(found, gram=found.gram - np.outer(found.mean, weights))

    def _over_blocks(self, function: Callable[[slice], R]) -> Iterator[R]:
        """The function of every block, which has so few rows that a matrix with d of each stays
        cached: memory is what two threads would otherwise wait for."""
        n = len(self.y)
        rows = min(self.block_rows, max(LEAST_ROWS, CACHED // max(1, len(self.precision))))
        return over_blocks(function, [slice(at, min(at + rows, n)) for at in range(0, n, rows)], n)

    def _rows(
        self, form: AdditiveForm, M: Floats, prior: Floats, block: slice, likelihood: Likelihood
    ) -> Rows:
        """The rows of a block under given hyperparameters, from their part of M."""
        mean = (form.coefficient / np.sqrt(form.shrinkage)) @ M
        variance = prior - np.einsum("ij,ij->j", M, M)
        settle(variance, prior)
        active = np.zeros(block.stop - block.start, dtype=np.bool_)
        inside = (self.basis >= block.start) & (self.basis < block.stop)
        active[self.basis[inside] - block.start] = True
        return Rows(
            read_only(self.y[block]),
            read_only(mean),
            read_only(variance),
            read_only(active),
            likelihood,
        )
