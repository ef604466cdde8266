"""The fully corrective step: all sites, hyperparameters and basis inputs at once."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework import hyperparameters as hyper
from sgpc_framework.differentiation import input_pullback
from sgpc_framework.engine.fixed_sites import FixedSites
from sgpc_framework.engine.joint import PRECISION_UNIT, JointLoss
from sgpc_framework.engine.optimisers import minimise
from sgpc_framework.engine.reestimation import Theta
from sgpc_framework.engine.refinement import Refinable, Refining
from sgpc_framework.errors import InputError, NumericalError, NumericalWarning
from sgpc_framework.fields import positive_number
from sgpc_framework.protocols import KernelInputPullback
from sgpc_plugins.refiners.held_out import splits
from sgpc_plugins.refiners.relevance import RelevancePrior

Floats = NDArray[np.float64]

PENALTIES = (4.0, 2.0, 1.0, 0.5, 0.25)
"""What ``"auto"`` chooses from, in the order of trial: one, and what lies around it."""

FIRST, NEXT = 25, 12
"""Iterations for the first penalty tried, and for each that starts where the one before ended."""

EFFORT, LEAST = 3000, 60
"""With ``iterations = "auto"``, the last run visits basis vectors so many times in all, and has
at least so many iterations: small models need more of them, and theirs cost less."""

PATIENCE = 10
"""Over how many iterations a run must gain something to go on."""

REACH = 5.0
"""How far a free hyperparameter may move: far out are the linear limit and other poor minima."""

SITE_REACH = 4.0
"""The same for the logarithm of a precision, in its unit."""


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
    """Minimises the predictive loss over everything that the stages fixed one by one.

        NLP_a + penalty · KL(q(u) ‖ p(u)) / n

    over hyperparameters, site precisions, site means and basis inputs, with exact gradients and
    L-BFGS in whitened coordinates (``engine.joint``). KL, the relative entropy between the
    function's distribution at the basis vectors with and without the sites, is what the model took
    from the data, in nats. With a penalty of one, a nat taken must make the rows' predictions a nat
    better.

    With ``penalty = "auto"`` five penalties from 4 down to 0.25 are tried on some of the rows, each
    from where the one before ended, and the rows that were held out choose. The last run, on all
    rows, goes on from there.
    """

    name: ClassVar[str] = "corrective"

    move_basis: Literal["auto"] | bool = _auto_or(bool, "true or false")
    """Whether basis vectors leave the rows they were; ``"auto"``: if the kernel knows how."""

    penalty: Literal["auto"] | float = _auto_or(float, "a number above zero")
    """The weight of the relative entropy."""

    iterations: Literal["auto"] | int = _auto_or(int, "a whole number above zero")
    """The most iterations of the last run; ``"auto"``: 150 for 20 basis vectors, 60 from 50 on."""

    tolerance: float = positive_number(0.3)
    """A run ends when ten iterations gained less than this, in nats over all rows."""

    prior_width: float = positive_number(1.0)
    """How far, in free coordinates, one of several lengthscales is expected to move from the rest.

    All of them together, and every other hyperparameter, twice as far."""

    def loss(self, fitted: Refinable) -> float:
        """The penalised loss; with ``penalty = "auto"``, for a penalty of one."""
        return JointLoss(fitted, self._nominal).value(fitted)

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
        search = Search.around(fitted, self._moves(fitted), self.prior_width, self.tolerance)
        found, penalty, iterations = fitted, self._nominal, self._most_iterations(fitted)
        if self.penalty == "auto":
            penalty, begin = self._chosen(search, rng)
            found = search.run(begin, penalty, iterations)
        if not self.loss(found) < self.loss(fitted):  # the nominal penalty has the last word
            penalty = self._nominal
            found = search.run(fitted, penalty, iterations)
        best = min(fitted, found, key=self.loss)
        note = (
            f"penalty {penalty:g}, basis vectors {'moved' if search.moves else 'left in place'}: "
            f"loss from {self.loss(fitted):.4g} to {self.loss(best):.4g}, NLP over all rows from "
            f"{fitted.predictive_loss():.4g} to {best.predictive_loss():.4g}"
        )
        return attrs.evolve(best, notes=(note,))

    @property
    def _nominal(self) -> float:
        return 1.0 if self.penalty == "auto" else self.penalty

    def _most_iterations(self, fitted: Refinable) -> int:
        if self.iterations == "auto":
            return max(LEAST, EFFORT // len(fitted.sites.mean))
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

    def _chosen(self, search: Search, rng: np.random.Generator) -> tuple[float, Refinable]:
        """The penalty that held-out rows like best, and the model that the last trial ended at."""
        # In nats, with a normal prior on log₂ penalty: each doubling must earn its keep.
        losses, ends = 0.5 * np.log2(PENALTIES) ** 2, [search.start] * len(PENALTIES)
        for trial, judges in splits(search.start.sites.X, rng):
            here = search.start
            for i, penalty in enumerate(PENALTIES):
                here = search.run(here, penalty, NEXT if i else FIRST, trial)
                held_out = here.sites.judged_by(judges)
                losses[i] += len(judges) * held_out.predictive_loss(here.kernel, here.likelihood)
                ends[i] = here
        best = int(np.argmin(losses))
        return PENALTIES[best], ends[best]


@attrs.frozen(eq=False)
class Search:
    """The box that a refinement stays in, the prior in it, and the runs through it."""

    start: Refinable
    moves: bool
    scale: Floats
    lower: Floats
    upper: Floats
    prior: RelevancePrior
    tolerance: float

    @classmethod
    def around(cls, start: Refinable, moves: bool, width: float, tolerance: float) -> Search:
        """The box around a start: basis vectors may leave the data by the width of the data."""
        theta, sites = Theta(start.kernel, start.likelihood), start.sites
        box = hyper.FreeVector.of(theta)
        free = box.free(hyper.values(theta))
        log_precision = np.log(sites.precision) / PRECISION_UNIT
        unbounded = np.full(len(sites.mean), 1e6)
        lower = [np.maximum(box.free(box.least), free - REACH), log_precision - SITE_REACH]
        upper = [np.minimum(box.free(box.most), free + REACH), log_precision + SITE_REACH]
        lower.append(-unbounded)
        upper.append(unbounded)
        scale = np.ones(1)
        if moves:
            least, most = np.min(sites.X, axis=0), np.max(sites.X, axis=0)
            scale = _scale(sites.X)
            lower.append(np.tile((2.0 * least - most) / scale, len(sites.mean)))
            upper.append(np.tile((2.0 * most - least) / scale, len(sites.mean)))
        prior = RelevancePrior.over(hyper.hyperparameters(theta), width)
        return cls(
            start, moves, scale, np.concatenate(lower), np.concatenate(upper), prior, tolerance
        )

    def run(
        self,
        begin: Refinable,
        penalty: float,
        iterations: int,
        rows: NDArray[np.intp] | None = None,
    ) -> Refinable:
        """The best state found from ``begin`` with this penalty, judged by all rows or by some."""
        sites = begin.sites if rows is None else begin.sites.judged_by(rows)
        loss = JointLoss(attrs.evolve(begin, sites=sites), penalty, self.moves, self.scale)
        n = len(sites.y)
        origin = loss.pieces(loss.point(self.start)).theta

        def function(point: Floats) -> tuple[float, Floats]:
            value, gradient = loss(point)
            prior, pull = self.prior(loss.pieces(point).theta - origin)
            gradient[: len(pull)] += pull / n
            return value + prior / n, gradient

        what = f"penalty {penalty:g}" if rows is None else f"trying penalty {penalty:g}"
        tell = self.start.tell

        found = minimise(
            function,
            loss.point(begin),
            self.lower,
            self.upper,
            "l-bfgs-b",
            iterations,
            self.tolerance / n,
            PATIENCE,
            lambda step, value: tell(Refining(what, step, iterations, value)),
        )
        end = loss.state(found.point)
        return attrs.evolve(end, sites=_updated(begin.sites, end.sites))


def _updated(sites: FixedSites, found: FixedSites) -> FixedSites:
    """What was found, with the rows of ``sites``."""
    return attrs.evolve(
        sites, precision=found.precision, mean=found.mean, basis_inputs=found.basis_inputs
    )


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


def _scale(X: Floats) -> Floats:
    """The unit in which basis vectors move: half the median distance of rows that differ in all
    features alike, which is what a quasi-Newton method likes best beside the other unknowns."""
    deviation = X.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    scale: Floats = 0.5 * deviation * np.sqrt(2.0 * X.shape[1])
    return scale
