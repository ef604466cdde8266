"""The fully corrective step: all sites, hyperparameters and basis inputs at once."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import attrs
import numpy as np

from sgpc_framework.authors import (
    InputError,
    KernelInputPullback,
    NumericalError,
    NumericalWarning,
    Refined,
    State,
    Tell,
    TrainingRows,
    input_pullback,
    positive_number,
    predictive_loss,
    share,
)
from sgpc_plugins.refiners.corrective.choosing import choose
from sgpc_plugins.refiners.corrective.joint_loss import JointLoss
from sgpc_plugins.refiners.corrective.search import Search

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


def _deprecated_share(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:
        raise ValueError(f"{field.name} must be a number from 0 to 1, found {value!r}")
    text = "the option 'caution' of refiner 'corrective' is called 'elbo_share' now"
    warnings.warn(text, DeprecationWarning, stacklevel=2)


@attrs.frozen
class Corrective:
    """Minimises a loss of all rows over everything that the stages fixed one by one.

        loss + penalty · KL(q(u) ‖ p(u)) / n

    over hyperparameters, site precisions, site means and basis inputs, with exact gradients and
    L-BFGS in whitened coordinates (``joint_loss``). KL, the relative entropy between the
    function's distribution at the basis vectors with and without the sites, is what the model took
    from the data, in nats. With a penalty of one, a nat taken must make the rows' predictions a nat
    better. Priors keep lengthscales from differing and basis vectors from going far.

    Doubt is cheap under the predictive loss, NLP_a, and what was fitted to noise hides behind it.
    So a share of the loss, ``elbo_share``, is the expected loss of a function drawn from the model
    (``mixed_loss``), which is that of variational inference: with all of it, and a penalty of one,
    the evidence lower bound (ELBO) is maximised.

    With ``penalty = "auto"`` rows that are held out say how bold to be: the penalty starts at one
    and is halved, twice at most, and then that share is given up, as long as each step is clearly
    better. They also say whether the lengthscales of a kernel with one for each feature may change
    their ratios. Then all rows are fitted in the way that was chosen.
    """

    name: ClassVar[str] = "corrective"

    move_basis: Literal["auto"] | bool = _auto_or(bool, "true or false")
    """Whether basis vectors leave the rows they were; ``"auto"``: if the kernel knows how."""

    penalty: Literal["auto"] | float = _auto_or(float, "a number above zero")
    """The weight of the relative entropy."""

    elbo_share: float = share(0.25, all_of_it=True)
    """The share of the expected loss: 0 for the predictive loss alone, 1 for the expected one."""

    iterations: Literal["auto"] | int = _auto_or(int, "a whole number above zero")
    """The most iterations of the last run; ``"auto"``: more for small models, 60 for large ones."""

    tolerance: float = positive_number(0.3)
    """A run ends when ten iterations gained less than this, in nats over all rows."""

    prior_width: float = positive_number(1.0)
    """How far, in free coordinates, one of several lengthscales is expected to move from the rest.

    All of them together, and every other hyperparameter, twice as far."""

    caution: float | None = attrs.field(default=None, validator=_deprecated_share)
    """The old name of ``elbo_share``; it is going to be removed."""

    def loss(self, state: State, rows: TrainingRows) -> float:
        """What is minimised, without the priors; with ``penalty = "auto"``, NLP_a + KL / n."""
        return JointLoss(state, rows, *self._nominal).value(state)

    def refine(
        self, state: State, rows: TrainingRows, rng: np.random.Generator, tell: Tell
    ) -> Refined:
        if not len(state):
            return Refined(state)
        try:
            return self._refined(state, rows, rng, tell)
        except NumericalError as error:
            text = f"the model was not refined: {error}. The one of the stages is returned"
            warnings.warn(text, NumericalWarning, stacklevel=2)
            return Refined(state, (text,))

    def _refined(
        self, start: State, rows: TrainingRows, rng: np.random.Generator, tell: Tell
    ) -> Refined:
        search = Search.around(
            start,
            rows,
            self._moves(start),
            self.prior_width,
            self.tolerance,
            self._elbo_share,
            tell,
        )
        iterations = self._most_iterations(start)
        penalty, begin = self.penalty, start
        if penalty == "auto":
            choice = choose(search, rows, rng)
            search, penalty, begin = choice.search, choice.penalty, choice.begin
        end = search.run(begin, rows, penalty, iterations, f"penalty {penalty:g}")
        before, after = self.loss(start, rows), self.loss(end, rows)
        if self.penalty == "auto" and not after < before:
            penalty, elbo_share = self._nominal  # which have the last word
            search = attrs.evolve(search, elbo_share=elbo_share)
            end = search.run(start, rows, penalty, iterations, f"penalty {penalty:g}")
            after = self.loss(end, rows)
        best = end if after < before else start
        note = (
            f"penalty {penalty:.2g}, elbo_share {search.elbo_share:.2g}, "
            f"{'features tied, ' if search.tied else ''}"
            f"basis vectors {'moved' if search.moves else 'left in place'}: "
            f"loss from {before:.4g} to {min(before, after):.4g}, NLP over all rows from "
            f"{predictive_loss(start, rows):.4g} to {predictive_loss(best, rows):.4g}"
        )
        return Refined(best, (note,))

    @property
    def _elbo_share(self) -> float:
        return self.elbo_share if self.caution is None else self.caution

    @property
    def _nominal(self) -> tuple[float, float]:
        """The penalty and the share of what the refiner never makes worse."""
        return (1.0, 0.0) if self.penalty == "auto" else (self.penalty, self._elbo_share)

    def _most_iterations(self, state: State) -> int:
        if self.iterations == "auto":
            Z = state.inputs
            features = Z.shape[1] if isinstance(Z, np.ndarray) and Z.ndim == 2 else 0
            return max(LEAST, EFFORT // (len(state) * (38 + features)))
        return self.iterations

    def _moves(self, state: State) -> bool:
        if self.move_basis is False:
            return False
        able = _can_move(state)
        if self.move_basis is True and not able:
            raise InputError(
                "refiner 'corrective' with move_basis = true wants feature vectors and a kernel "
                "all of which has input_pullback (KernelInputPullback), found kernel "
                f"{state.kernel.name!r} and inputs of type {type(state.inputs).__name__}: "
                "use another kernel, or move_basis = 'auto', which leaves such a basis in place"
            )
        return able


def _can_move(state: State) -> bool:
    """Whether inputs are vectors, and the kernel, with all its parts, has derivatives in them."""
    Z, kernel = state.inputs, state.kernel
    vectors = isinstance(Z, np.ndarray) and Z.ndim == 2 and Z.dtype.kind == "f"
    if not vectors or not isinstance(kernel, KernelInputPullback):
        return False
    try:
        input_pullback(kernel, Z[:1], Z[:1], np.ones((1, 1)))
    except InputError:  # a sum or product, one of whose parts has none
        return False
    return True
