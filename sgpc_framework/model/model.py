"""The fitted classifier. It predicts; it needs no engine, no selector and no training data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, suppress
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from sgpc_framework.algebra.additive import AdditiveForm
from sgpc_framework.algebra.rounding import settle
from sgpc_framework.algebra.sites import Sites
from sgpc_framework.errors import InputError
from sgpc_framework.model.costs import Costs
from sgpc_framework.model.dask_collections import lazy_where_the_rows_are
from sgpc_framework.model.decider import Decider
from sgpc_framework.model.single_rows import SingleRow
from sgpc_framework.model.trace import Trace
from sgpc_framework.parts.calls import kernel_diag, kernel_values, using
from sgpc_framework.parts.compilation import loaded_loops_only
from sgpc_framework.plugin.kinds import own_name
from sgpc_framework.protocols import Inputs, Kernel, Likelihood
from sgpc_framework.rows.checking import checked_inputs, checked_kernel
from sgpc_framework.rows.state import State
from sgpc_framework.rows.threads import one_blas_thread, over_blocks
from sgpc_framework.rows.view import Rows, read_only

if TYPE_CHECKING:
    from sgpc_framework.config.provenance import Provenance
    from sgpc_framework.model.explanation import Explanation
    from sgpc_framework.plugin.registry import Registry

Floats = NDArray[np.float64]

BLOCK_ROWS = 2048

MANY_NUMBERS = 100_000
"""So many rows times latent functions are worth the time that compiled loops take to load."""


@attrs.frozen(eq=False, repr=False)
class Model(Decider):
    """A sparse Gaussian process classifier: a state, the classes it tells apart, and the trace.

    ========== =======================================================================
    classes    the labels, sorted; columns of probabilities follow this order
    state      basis vectors, sites, kernel and likelihood, all that a prediction needs
    trace      what happened during the fit
    smaller    the models of the smaller sizes that a refiner ran at, in ascending order;
               ``None`` where every prefix of the basis is a model
    provenance how it was made: the configuration of the fit, and who provided the parts
    costs      what wrong decisions cost, which ``predict`` decides by; None if all the same
    ========== =======================================================================

    What the state has can be asked of the model: ``basis``, the row numbers of the basis vectors in
    the training set, ``inputs``, the vectors themselves, ``sites``, ``kernel``, ``likelihood``.

    Two classes are one latent function, high where the second is probable. More of them have one
    each, with the same kernel and basis vectors: a prediction evaluates the kernel once.
    """

    classes: NDArray[Any]
    state: State
    trace: Trace
    smaller: tuple[Model, ...] | None = None
    provenance: Provenance | None = None
    costs: Costs | None = None
    _form: AdditiveForm = attrs.field(init=False)

    @_form.default
    def _form_of_the_state(self) -> AdditiveForm:
        with one_blas_thread():
            return self.state.form()

    @property
    def basis(self) -> NDArray[np.intp]:
        """The row numbers of the basis vectors in the training set, in order."""
        return self.state.basis

    @property
    def inputs(self) -> Inputs:
        """The basis vectors themselves."""
        return self.state.inputs

    @property
    def kernel(self) -> Kernel:
        """The kernel, with the hyperparameters that were fitted."""
        return self.state.kernel

    @property
    def likelihood(self) -> Likelihood:
        """The likelihood, with the hyperparameters that were fitted."""
        return self.state.likelihood

    @property
    def sites(self) -> Sites:
        """Precision, mean, coefficient and shrinkage of each basis vector's site."""
        form = self._form
        return Sites(self.state.precision, self.state.mean, form.coefficient, form.shrinkage)

    def __len__(self) -> int:
        """The number of basis vectors."""
        return len(self.state)

    def __repr__(self) -> str:
        kernel, likelihood = (
            own_name(type(part)) or type(part).__name__ for part in (self.kernel, self.likelihood)
        )
        return (
            f"Model({len(self)} basis vectors, classes {self.classes.tolist()}, "
            f"kernel {kernel}, likelihood {likelihood})"
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that ``truncated`` accepts, in ascending order.

        All from one on, unless a refiner fitted the sites to work together: then those it ran at.
        """
        if self.smaller is None or not len(self):
            return tuple(range(1, len(self) + 1))
        return (*map(len, self.smaller), len(self))

    @lazy_where_the_rows_are
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of shape (rows, classes): the columns follow ``classes``."""
        if (single := self._single_row) is not None and single.takes(X):
            with suppress(Exception):  # the ordinary way says what is wrong
                return single.proba(X)
        return self._in_blocks(X, lambda rows: self._proba(*self._latent(rows)))

    @lazy_where_the_rows_are
    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities, finite even where a probability rounds to 0 or 1."""
        if (single := self._single_row) is not None and single.takes(X):
            with suppress(Exception):
                return single.log_proba(X)
        return self._in_blocks(X, lambda rows: self._log_proba(*self._latent(rows)))

    def predict_latent(self, X: Any) -> tuple[Floats, Floats]:
        """Mean and variance of the latent function at each row; of several of them, both of shape
        (rows, functions)."""
        both = self._in_blocks(X, lambda rows: np.stack(np.broadcast_arrays(*self._latent(rows))).T)
        return both[..., 0].copy(), both[..., 1].copy()

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """The probabilities of the model of each size, in the order of ``sizes``.

        ``zip(model.sizes, model.staged_predict_proba(X))`` has each with its size.
        """
        for model, mean, variance in self._staged_latent(X):
            yield model._proba(mean, variance)

    def staged_predict_log_proba(self, X: Any) -> Iterator[Floats]:
        """Like ``staged_predict_proba``, but logarithms."""
        for model, mean, variance in self._staged_latent(X):
            yield model._log_proba(mean, variance)

    def _staged_latent(self, X: Any) -> Iterator[tuple[Model, Floats, Floats]]:
        """For each of ``sizes`` a model with its likelihood, and the latent mean and variance."""
        if self.smaller is not None:
            for model in map(self.truncated, self.sizes):
                mean, variance = model.predict_latent(X)
                yield model, mean.T, variance if variance.ndim == 1 else variance[:, 0]
            return
        functions = self.basis_functions(X)
        prior = self._in_blocks(X, lambda rows: kernel_diag(self.kernel, rows))
        sites = self.sites
        mean = np.zeros((*sites.mean.shape[:-1], len(prior)))
        variance = prior.copy()
        for stage in range(len(self)):
            mean += sites.coefficient[..., stage, None] * functions[:, stage]
            variance -= sites.shrinkage[stage] * functions[:, stage] ** 2
            settle(variance, prior)
            yield self, mean, variance

    def basis_functions(self, X: Any) -> Floats:
        """The additive model's basis functions k̃(x, xⱼ), of shape (rows, stages).

        ``mean = functions @ sites.coefficient``, with the coefficients of one latent function, and
        ``variance = k(x, x) - functions**2 @ sites.shrinkage`` (eqs. 8 and 9).
        """
        return self._in_blocks(X, lambda rows: self._functions(rows).T)

    def explain(self, X: Any, most: int = 5) -> list[Explanation]:
        """Of each row, which basis vectors its prediction comes from: the ``most`` of largest
        contribution, the sum of the rest, and the nearest ones. ``print`` one to read it."""
        from sgpc_framework.model.explanation import explain_model

        return explain_model(self, X, most)

    def kernel_to_basis(self, X: Any) -> tuple[Floats, Floats]:
        """k(x, bⱼ) for each basis vector, of shape (rows, basis vectors), and the same divided by
        √(k(x, x) k(bⱼ, bⱼ)), which is 1 for the same input."""
        own = kernel_diag(self.kernel, self.inputs)

        def both(rows: Inputs) -> Floats:
            values = kernel_values(self.kernel, rows, self.inputs)
            scale = np.sqrt(np.outer(kernel_diag(self.kernel, rows), own))
            cosine = np.divide(values, scale, out=np.zeros_like(values), where=scale > 0.0)
            return np.stack([values, cosine], axis=1)

        stacked = self._in_blocks(X, both)
        return stacked[:, 0], stacked[:, 1]

    def kernel_between(self, X: Any, Z: Any) -> Floats:
        """k(x, z) for rows that need be no basis vectors, of shape (rows of X, rows of Z)."""
        others = self._check_inputs(Z)
        return self._in_blocks(X, lambda rows: kernel_values(self.kernel, rows, others))

    def truncated(self, size: int) -> Model:
        """The model of that size, one of ``sizes``; its trace stays that of the fit."""
        if not isinstance(size, (int, np.integer)) or size not in self.sizes:
            raise InputError(self._no_such_size(size))
        if self.smaller is not None:
            return attrs.evolve((*self.smaller, self)[self.sizes.index(size)], costs=self.costs)
        return attrs.evolve(self, state=self.state[:size])

    def save(self, path: str | PathLike[str], registry: Registry | None = None) -> None:
        """Write the model to one file, which ``sgpc_framework.load`` reads."""
        from sgpc_framework.files.model_files import save

        save(self, path, registry)

    def _no_such_size(self, size: object) -> str:
        if self.smaller is None:
            return f"this model has {len(self)} stages: ask for 1 to {len(self)}, found {size}"
        wanted = (
            "a refiner fitted the sites of this model to work together, so that it can be had in "
            f"sizes {list(self.sizes)} only, found {size}"
        )
        if not isinstance(size, (int, np.integer)) or size not in range(1, len(self)):
            return wanted
        return (
            f"{wanted}: fit with sizes=[..., {size}] in the configuration to have this one refined "
            "too, or with refiner='none', after which every size is a model"
        )

    @cached_property
    def _single_row(self) -> SingleRow | None:
        with suppress(Exception), one_blas_thread():
            return SingleRow.of(self.state, self._form)
        return None

    # -- the arithmetic ------------------------------------------------------------------------

    def _functions(self, rows: Inputs) -> Floats:
        """k̃ of each stage (rows) at some inputs (columns)."""
        functions: Floats = self._form.functions @ kernel_values(self.kernel, self.inputs, rows)
        return functions

    def _latent(self, rows: Inputs) -> tuple[Floats, Floats]:
        functions, prior = self._functions(rows), kernel_diag(self.kernel, rows)
        mean = self._form.coefficient @ functions
        np.square(functions, out=functions)
        variance = prior - self._form.shrinkage @ functions
        settle(variance, prior)
        return mean, variance

    def _proba(self, mean: Floats, variance: Floats) -> Floats:
        if mean.ndim > 1:
            return np.exp(self._log_proba(mean, variance))
        log_z = self._log_z(1.0, mean, variance)
        return np.stack([-np.expm1(log_z), np.exp(log_z)], axis=1)

    def _log_proba(self, mean: Floats, variance: Floats) -> Floats:
        if mean.ndim == 1:
            both = [self._log_z(label, mean, variance) for label in (-1.0, 1.0)]
            return np.stack(both, axis=1)
        each = [self._log_z(label, mean, variance) for label in range(len(mean))]
        normalised: Floats = log_softmax(np.stack(each, axis=1), axis=1)  # quadratures round
        return normalised

    def _log_z(self, label: float, mean: Floats, variance: Floats) -> Floats:
        y = np.full(mean.shape[-1], float(label))
        return Rows(y, mean, variance, np.zeros(0, np.bool_), self.likelihood).log_z

    def _in_blocks(self, X: Any, function: Callable[[Inputs], Floats]) -> Floats:
        with using(self.provenance.registry if self.provenance else None), one_blas_thread():
            checked = self._check_inputs(X)
            functions = len(self.state.mean) if self.state.mean.ndim > 1 else 1
            few = len(checked) * functions < MANY_NUMBERS
            with loaded_loops_only() if few else nullcontext():
                blocks = over_blocks(function, _blocks(checked), len(checked))
                return np.concatenate(list(blocks))

    def _check_inputs(self, X: Any) -> Inputs:
        width = self.inputs.shape[1] if self.inputs.ndim == 2 else None
        checked = checked_inputs(X, width)
        checked_kernel(self.kernel, checked)
        return read_only(checked)


def nest_sizes(models: Iterable[Model]) -> Model:
    """The last of some refined models in order of size; each gets those before as ``smaller``."""
    smaller: tuple[Model, ...] = ()
    for model in models:
        smaller = (*smaller, attrs.evolve(model, smaller=smaller))
    return smaller[-1]


def _blocks(X: Inputs) -> Iterator[Inputs]:
    for start in range(0, len(X), BLOCK_ROWS):
        yield X[start : start + BLOCK_ROWS]
