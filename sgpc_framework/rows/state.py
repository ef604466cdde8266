"""The state: a classifier as numbers, without the rows that it was fitted to."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.additive import AdditiveForm, additive_form
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import kernel_values
from sgpc_framework.parts.hyperparameters import hyperparameters
from sgpc_framework.protocols import Inputs, Kernel, Likelihood, SeveralFunctions

if TYPE_CHECKING:
    from sgpc_framework.rows.numbering import Numbering

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]

NO_ROW = -1
"""The row number of a basis vector that is no row, or none of the rows at hand."""


def latent_functions(likelihood: Likelihood) -> int:
    """How many latent functions a label depends on: one, unless the likelihood says otherwise."""
    return likelihood.functions if has(likelihood, SeveralFunctions) else 1


@attrs.frozen(eq=False)
class State:
    """What a posterior has become, what step 6 and refiners change, what a model is made of.

    ========== =======================================================================
    kernel     with its hyperparameters
    likelihood likewise
    basis      the row numbers of the basis vectors, in order of inclusion
    inputs     the basis vectors themselves, which a refiner may have moved
    precision  pⱼ of each site
    mean       mⱼ of each site
    ========== =======================================================================

    Several latent functions have their own site means, a row each, and share all else, above all
    the precisions: there is one covariance, which is computed once.
    Without basis vectors it is θ alone, the prior: the hyperparameters of kernel and likelihood.
    Another state is made by ``attrs.evolve``, or by ``hyperparameters.replaced``.
    """

    kernel: Kernel
    likelihood: Likelihood
    basis: Numbers
    inputs: Inputs
    precision: Floats
    mean: Floats

    @classmethod
    def prior(cls, kernel: Kernel, likelihood: Likelihood, no_inputs: Inputs) -> State:
        """θ alone; ``no_inputs`` are inputs like those of the rows, but none."""
        functions = latent_functions(likelihood)
        none = np.empty(0)
        means = none if functions == 1 else np.empty((functions, 0))
        return cls(kernel, likelihood, np.empty(0, dtype=np.intp), no_inputs, none, means)

    def __len__(self) -> int:
        """The number of basis vectors."""
        return len(self.precision)

    def __getitem__(self, which: slice | Numbers) -> State:
        """The state of some basis vectors with their sites: ``state[:t]`` is that of t stages."""
        return attrs.evolve(
            self,
            basis=self.basis[which],
            inputs=self.inputs[which],
            precision=self.precision[which],
            mean=self.mean[..., which],
        )

    @property
    def theta(self) -> dict[str, float]:
        """Every hyperparameter by its path, such as ``kernel.lengthscale``."""
        return {each.path: each.value for each in hyperparameters(self)}

    def gram(self) -> Floats:
        """K_uu, the kernel among the basis vectors."""
        return kernel_values(self.kernel, self.inputs, self.inputs)

    def form(self, K: Floats | None = None) -> AdditiveForm:
        """The additive form; ``K`` is ``gram()``, if it is known."""
        return self._own_form if K is None else additive_form(K, self.precision, self.mean)

    @cached_property
    def _own_form(self) -> AdditiveForm:
        return additive_form(self.gram(), self.precision, self.mean)

    def among(self, numbers: Numbers) -> State:
        """The same for whoever looks at some rows only, whose numbers these are, in order: basis
        vectors are then known by their places among them."""
        places = np.searchsorted(numbers, self.basis)
        here = places < len(numbers)
        here[here] = numbers[places[here]] == self.basis[here]
        return attrs.evolve(self, basis=np.where(here, places, NO_ROW))

    def numbered_by(self, numbers: Numbering) -> State:
        """The inverse of :meth:`among`: basis vectors known by the numbers of their rows."""
        return attrs.evolve(self, basis=np.where(self.basis == NO_ROW, NO_ROW, numbers[self.basis]))
