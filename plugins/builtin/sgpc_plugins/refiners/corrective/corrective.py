"""The fully corrective step: all sites, hyperparameters and basis inputs at once."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.joint import JointLoss
from sgpc_framework.engine.refinement import Refinable
from sgpc_framework.errors import InputError, NumericalError, NumericalWarning
from sgpc_framework.parts.derivatives import input_pullback
from sgpc_framework.parts.options import positive_number, share
from sgpc_framework.protocols import KernelInputPullback
from sgpc_plugins.refiners.corrective.choosing import chosen
from sgpc_plugins.refiners.corrective.search import Search

Floats = NDArray[np.float64]

EFFORT, LEAST = 130_000, 60
"""With ``iterations = "auto"``, the last run has EFFORT / (d · (38 + features)) iterations for d
basis vectors, at least LEAST: small models need more of them, and theirs cost less."""


def _auto_or(kind: type, what: str) -> Any:
    def validate(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        boolean = isinstance(value, bool)
        if value == "auto" or (kind is bool and boolean):
            return
        numbers = (int,) if kind is int else (int, float)
        if kind is bool or boolean or not isinstance(value, numbers) or not 0 < value < np.inf:
            raise ValueError(f"{field.name} must be 'auto' or {what}, found {value!r}")

    return attrs.field(default="auto", validator=validate)


@attrs.frozen
class Corrective:
    """Minimises a loss of all rows over everything that the stages fixed one by one.

        loss + penalty · KL(q(u) ‖ p(u)) / n

    over hyperparameters, site precisions, site means and basis inputs, with exact gradients and
    L-BFGS in whitened coordinates (``engine.joint``). KL, the relative entropy between the
    function's distribution at the basis vectors with and without the sites, is what the model took
    from the data, in nats. With a penalty of one, a nat taken must make the rows' predictions a nat
    better. Priors keep lengthscales from differing and basis vectors from going far.

    Doubt is cheap under the predictive loss, NLP_a, and what was fitted to noise hides behind it.
    So a share of the loss, ``caution``, is the expected loss of a function drawn from the model
    (``engine.row_losses``), which is that of variational inference.

    With ``penalty = "auto"`` rows that are held out say how bold to be: the penalty starts at one
    and is halved, twice at most, and then caution is given up, as long as each step is clearly
    better. They also say whether the lengthscales of a kernel with one for each feature may change
    their ratios. Then all rows are fitted in the way that was found.
    """

    name: ClassVar[str] = "corrective"

    move_basis: Literal["auto"] | bool = _auto_or(bool, "true or false")
    """Whether basis vectors leave the rows they were; ``"auto"``: if the kernel knows how."""

    penalty: Literal["auto"] | float = _auto_or(float, "a number above zero")
    """The weight of the relative entropy."""

    caution: float = share(0.25, all_of_it=True)
    """The share of the expected loss: 0 for the predictive loss alone, 1 for the expected one."""

    iterations: Literal["auto"] | int = _auto_or(int, "a whole number above zero")
    """The most iterations of the last run; ``"auto"``: more for small models, 60 for large ones."""

    tolerance: float = positive_number(0.3)
    """A run ends when ten iterations gained less than this, in nats over all rows."""

    prior_width: float = positive_number(1.0)
    """How far, in free coordinates, one of several lengthscales is expected to move from the rest.

    All of them together, and every other hyperparameter, twice as far."""

    def loss(self, fitted: Refinable) -> float:
        """What is minimised, without the priors; with ``penalty = "auto"``, NLP_a + KL / n."""
        return JointLoss(fitted, *self._nominal).value(fitted)

    def refine(self, fitted: Refinable, rng: np.random.Generator) -> Refinable:
        if not len(fitted.sites.mean):
            return fitted
        try:
            return self._refined(fitted, rng)
        except NumericalError as error:
            text = f"the model was not refined: {error}. The one of the stages is returned"
            warnings.warn(text, NumericalWarning, stacklevel=2)
            return attrs.evolve(fitted, notes=(text,))

    def _refined(self, fitted: Refinable, rng: np.random.Generator) -> Refinable:
        search = Search.around(
            fitted, self._moves(fitted), self.prior_width, self.tolerance, self.caution
        )
        iterations = self._most_iterations(fitted)
        if self.penalty == "auto":
            choice = chosen(search, rng)
            search, penalty, begin = choice.search, choice.penalty, choice.begin
        else:
            penalty, begin = self.penalty, fitted
        found = search.run(begin, penalty, iterations)
        if self.penalty == "auto" and not self.loss(found) < self.loss(fitted):
            penalty, caution = self._nominal  # which have the last word
            search = attrs.evolve(search, caution=caution)
            found = search.run(fitted, penalty, iterations)
        best = min(fitted, found, key=self.loss)
        note = (
            f"penalty {penalty:.2g}, caution {search.caution:.2g}, "
            f"{'features alike, ' if search.alike else ''}"
            f"basis vectors {'moved' if search.moves else 'left in place'}: "
            f"loss from {self.loss(fitted):.4g} to {self.loss(best):.4g}, NLP over all rows from "
            f"{fitted.predictive_loss():.4g} to {best.predictive_loss():.4g}"
        )
        return attrs.evolve(best, notes=(note,))

    @property
    def _nominal(self) -> tuple[float, float]:
        """The penalty and the caution of what the refiner never makes worse."""
        return (1.0, 0.0) if self.penalty == "auto" else (self.penalty, self.caution)

    def _most_iterations(self, fitted: Refinable) -> int:
        if self.iterations == "auto":
            Z = fitted.sites.basis_inputs
            features = Z.shape[1] if isinstance(Z, np.ndarray) and Z.ndim == 2 else 0
            return max(LEAST, EFFORT // (len(fitted.sites.mean) * (38 + features)))
        return self.iterations

    def _moves(self, fitted: Refinable) -> bool:
        if self.move_basis is False:
            return False
        able = _can_move(fitted)
        if self.move_basis is True and not able:
            raise InputError(
                "refiner 'corrective' with move_basis = true wants feature vectors and a kernel "
                "all of which has input_pullback (KernelInputPullback), found kernel "
                f"{fitted.kernel.name!r} and inputs of type {type(fitted.sites.X).__name__}: "
                "use another kernel, or move_basis = 'auto', which leaves such a basis in place"
            )
        return able


def _can_move(fitted: Refinable) -> bool:
    """Whether inputs are vectors, and the kernel, with all its parts, has derivatives in them."""
    X, kernel = fitted.sites.X, fitted.kernel
    vectors = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"
    if not vectors or not isinstance(kernel, KernelInputPullback):
        return False
    try:
        input_pullback(kernel, X[:1], X[:1], np.ones((1, 1)))
    except InputError:  # a sum or product, one of whose parts has none
        return False
    return True
