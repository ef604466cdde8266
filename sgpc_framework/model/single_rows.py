"""One row at a time, near what its arithmetic costs: what a model does again and again, done once.

A service asks for one row, a thousand times a second. Then the checks, the kernel's preparations
and the word with BLAS about its threads cost five times what the numbers do. So the kernel is
prepared for the basis vectors once (``columns_of``), a row is checked by a single product, and BLAS
is left alone, because products this small have one thread in any case.

The numbers are those of the ordinary way, to rounding: sums are taken in another order. A row that
is out of the ordinary, or whatever goes wrong, goes the ordinary way, which has the words for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.rounding import settle
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import kernel_columns
from sgpc_framework.parts.compilation import loaded_loops_only
from sgpc_framework.protocols import Inputs, Kernel, Likelihood, LogEvidence
from sgpc_framework.rows.checking import LARGEST, checked_kernel
from sgpc_framework.rows.view import read_only

if TYPE_CHECKING:
    from sgpc_framework.algebra.additive import AdditiveForm
    from sgpc_framework.rows.state import State

Floats = NDArray[np.float64]

SMALL = 8192
"""Matrices with fewer entries are multiplied by vectors on one thread, whatever BLAS may use."""


@attrs.frozen(eq=False)
class SingleRow:
    """The prediction of one row: k̃ = F k_u(x), then eqs. 8 and 9, then log Z."""

    width: int
    kernel: Kernel
    likelihood: Likelihood
    form: AdditiveForm
    column: Callable[[Inputs], Floats]
    """From a row, of shape (1, features), to k_u(x), of shape (1, basis vectors)."""
    log_z: Callable[[Floats, Floats, Floats], Floats]
    labels: Floats
    """As the likelihood knows them."""

    @classmethod
    def of(cls, state: State, form: AdditiveForm) -> SingleRow | None:
        """The way of single rows through a state; None if there is none."""
        inputs, likelihood = state.inputs, state.likelihood
        if not len(state) or inputs.ndim != 2 or inputs.dtype != np.float64:
            return None
        if len(state) * max(inputs.shape) > SMALL:
            return None
        checked_kernel(state.kernel, inputs)
        functions = len(form.coefficient) if form.coefficient.ndim > 1 else 1
        labels = np.array([-1.0, 1.0]) if functions == 1 else np.arange(float(functions))
        column = kernel_columns(state.kernel, inputs)
        log_z = likelihood.log_z if has(likelihood, LogEvidence) else _by_moments(likelihood)
        return cls(inputs.shape[1], state.kernel, likelihood, form, column, log_z, labels)

    def takes(self, X: Any) -> bool:
        """Whether X is one row of usual numbers: its norm is finite only if all of them are."""
        return (
            type(X) is np.ndarray
            and X.shape == (1, self.width)
            and X.dtype == np.float64
            and math.sqrt(np.vdot(X, X)) <= LARGEST
        )

    def log_proba(self, X: Floats) -> Floats:
        """Log probabilities of all classes, of shape (1, classes)."""
        with loaded_loops_only():
            mean, variance = self._latent(read_only(X))
            count = len(self.labels)
            means = np.repeat(mean, count, axis=-1)
            log_z = self.log_z(self.labels, means, np.repeat(variance, count))
        if log_z.shape != (count,):
            raise ValueError(f"wanted shape {(count,)}, found {log_z.shape}")
        if mean.ndim > 1:
            log_z = log_z - log_z.max()
            log_z -= math.log(np.exp(log_z).sum())
        return log_z[None]

    def proba(self, X: Floats) -> Floats:
        """Probabilities of all classes, of shape (1, classes)."""
        if self.form.coefficient.ndim > 1:
            return np.exp(self.log_proba(X))
        with loaded_loops_only():
            log_z = self.log_z(self.labels[1:], *self._latent(read_only(X)))
        (second,) = log_z.tolist()
        return np.array([[-math.expm1(second), math.exp(second)]])

    def _latent(self, X: Floats) -> tuple[Floats, Floats]:
        """Mean and variance; of several latent functions, means of shape (functions, 1)."""
        functions = self.form.functions @ self.column(X).T
        prior = np.asarray(self.kernel.diag(X), dtype=np.float64)
        mean = self.form.coefficient @ functions
        np.square(functions, out=functions)
        variance = prior - self.form.shrinkage @ functions
        if not variance[0] >= 0.0:
            settle(variance, prior)
        return mean, variance


def _by_moments(likelihood: Likelihood) -> Callable[[Floats, Floats, Floats], Floats]:
    """log Z of a likelihood that has it as a moment only."""
    return lambda y, mean, variance: likelihood.moments(y, mean, variance).log_z
