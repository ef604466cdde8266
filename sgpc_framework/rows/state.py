"""The state: a classifier as numbers, without the rows that it was fitted to."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.additive import AdditiveForm, additive_form
from sgpc_framework.parts.calls import kernel_values
from sgpc_framework.parts.hyperparameters import hyperparameters
from sgpc_framework.protocols import Inputs, Kernel, Likelihood

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]

NO_ROW = -1
"""The row number of a basis vector that is no row, or none of the rows at hand."""


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

    A likelihood of several latent functions has ``precision`` and ``mean`` with a first axis more.
    Without basis vectors it is θ alone, the prior: the hyperparameters of kernel and likelihood.
    Another state is made by ``attrs.evolve``, or by ``hyperparameters.replaced``.
    """

    kernel: Kernel
    likelihood: Likelihood
    basis: Numbers
    inputs: Inputs
    precision: Floats
    mean: Floats

    def __len__(self) -> int:
        """The number of basis vectors."""
        return int(self.mean.shape[-1])

    def __getitem__(self, which: slice | Numbers) -> State:
        """The state of some basis vectors with their sites: ``state[:t]`` is that of t stages."""
        return attrs.evolve(
            self,
            basis=self.basis[which],
            inputs=self.inputs[which],
            precision=self.precision[..., which],
            mean=self.mean[..., which],
        )

    @property
    def theta(self) -> dict[str, float]:
        """Every hyperparameter by its path, such as ``kernel.lengthscale``."""
        return {each.path: each.value for each in hyperparameters(self)}

    def gram(self) -> Floats:
        """K_uu, the kernel among the basis vectors."""
        return kernel_values(self.kernel, self.inputs, self.inputs)

    def forms(self, K: Floats | None = None) -> tuple[AdditiveForm, ...]:
        """The additive form of each latent function; ``K`` is ``gram()``, if it is known."""
        return self._own_forms if K is None else self._forms_of(K)

    @cached_property
    def _own_forms(self) -> tuple[AdditiveForm, ...]:
        return self._forms_of(self.gram())

    def _forms_of(self, K: Floats) -> tuple[AdditiveForm, ...]:
        sites = zip(np.atleast_2d(self.precision), np.atleast_2d(self.mean), strict=True)
        return tuple(additive_form(K, precision, mean) for precision, mean in sites)

    def among(self, numbers: Numbers) -> State:
        """The same for whoever looks at some rows only, whose numbers these are, in order: basis
        vectors are then known by their places among them."""
        places = np.searchsorted(numbers, self.basis)
        here = places < len(numbers)
        here[here] = numbers[places[here]] == self.basis[here]
        return attrs.evolve(self, basis=np.where(here, places, NO_ROW))

    def numbered_by(self, numbers: Numbers) -> State:
        """The inverse of :meth:`among`: basis vectors known by the numbers of their rows."""
        return attrs.evolve(self, basis=np.where(self.basis == NO_ROW, NO_ROW, numbers[self.basis]))
