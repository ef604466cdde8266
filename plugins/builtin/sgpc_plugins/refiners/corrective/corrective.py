"""The fully corrective step: all sites, hyperparameters and basis inputs at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import attrs
import numpy as np

from sgpc_framework.authors import (
    InputError,
    Kernel,
    KernelInputPullback,
    Likelihood,
    NumericalError,
    NumericalWarning,
    Once,
    Refined,
    State,
    Tell,
    TrainingRows,
    WarpsInputs,
    WrapsKernel,
    input_pullback,
    positive_number,
    predictive_loss,
    share,
    whole_number,
)
from sgpc_plugins.refiners.corrective.challengers import (
    Challenger,
    half_the_penalty,
    more_terms,
    other_elbo_share,
    other_kernels,
    other_likelihoods,
    other_metrics,
    safest,
    settled,
    tied_features,
    warped_inputs,
)
from sgpc_plugins.refiners.corrective.choosing import SHORT, SKETCH, Choice, choose
from sgpc_plugins.refiners.corrective.coordinates import inside
from sgpc_plugins.refiners.corrective.joint_loss import JointLoss
from sgpc_plugins.refiners.corrective.many_rows import MANY, refine_by_batches
from sgpc_plugins.refiners.corrective.search import Effort, Search

ITERATIONS = 300
"""The most iterations over all rows, for accidents: a run ends when they gain too little."""

FURTHER = 100
"""Iterations by which it is tried whether a long run pays."""

PENALTIES = (1.0, 0.5, 0.25, 0.125)
"""What is halved in turn; the last two with several latent functions only, whose relative entropies
add up."""

SKETCH_SETTLING, SKETCH_ITERATIONS = 60, 30
"""Steps and iterations of a sketch."""

SAMPLE = 10_000
"""The most rows that the hyperparameters of other kernels start from."""


def _auto_or(kind: type, what: str, least: float = np.nextafter(0.0, 1.0)) -> Any:
    def validate(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
        boolean = isinstance(value, bool)
        if value == "auto" or (kind is bool and boolean):
            return
        numbers = (int,) if kind is int else (int, float)
        if kind is bool or boolean or not isinstance(value, numbers) or not least <= value < np.inf:
            raise ValueError(f"{field.name} must be 'auto' or {what}, found {value!r}")

    return attrs.field(default="auto", validator=validate)


def _deprecated_share(_: Any, field: attrs.Attribute[Any], value: Any) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:
        raise ValueError(f"{field.name} must be a number from 0 to 1, found {value!r}")
    text = "the option 'caution' of refiner 'corrective' is called 'elbo_share' now"
    warnings.warn(text, DeprecationWarning, stacklevel=2)


def _parts(kind: type, noun: str) -> Any:
    def validate(_: Any, field: attrs.Attribute[Any], value: tuple[Any, ...]) -> None:
        for position, part in enumerate(value):
            if isinstance(part, type) or not isinstance(part, kind):
                raise ValueError(f"{field.name}[{position}] must be a {noun}, found {part!r}")

    return attrs.field(default=(), converter=tuple, validator=validate)


@attrs.frozen
class Corrective:
    """Minimises a loss of all rows over everything that the stages fixed one by one.

        loss + penalty · KL(q(u) ‖ p(u)) / n

    over hyperparameters, site precisions, site means and basis inputs, with exact gradients: by
    batches of rows first, then by all rows (``search``), or by batches alone where there are very
    many (``many_rows``). KL, the relative entropy between the function's distribution at the basis
    vectors with and without the sites, is what the model took from the data, in nats. With a
    penalty of one, a nat taken must make the rows' predictions a nat better. Priors keep
    lengthscales from differing and basis vectors from going far.

    Doubt is cheap under the predictive loss, NLP_a, and what was fitted to noise hides behind it.
    So a share of the loss, ``elbo_share``, is the expected loss of a function drawn from the model
    (``mixed_loss``), which is that of variational inference: with all of it, and a penalty of one,
    the evidence lower bound (ELBO) is maximised.

    Rows that are held out choose (``choosing``) what is left open: among ``kernels``, ``terms``,
    ``warps``, ``metrics`` and ``likelihoods`` beside those of the design; with
    ``penalty = "auto"`` also the penalty, the share, and whether all features are equally relevant.
    """

    name: ClassVar[str] = "corrective"

    move_basis: Literal["auto"] | bool = _auto_or(bool, "true or false")
    """Whether basis vectors leave the rows they were; ``"auto"``: if the kernel knows how and
    there are not more features than rows. There a search through tens of thousands of coordinates
    takes most of the time, and gains nothing."""

    penalty: Literal["auto"] | float = _auto_or(float, "a number above zero")
    """The weight of the relative entropy."""

    elbo_share: float = share(0.25, all_of_it=True)
    """The share of the expected loss: 0 for the predictive loss alone, 1 for the expected one."""

    kernels: tuple[Kernel, ...] = _parts(Kernel, "kernel")
    """Kernels that held-out rows may prefer to the design's."""

    terms: tuple[Kernel, ...] = _parts(Kernel, "kernel")
    """Kernels that may be added to it."""

    warps: tuple[Kernel, ...] = _parts(WarpsInputs, "kernel that maps its inputs")
    """Kernels through whose maps the inputs may be seen; what is inside them does not matter."""

    metrics: tuple[Kernel, ...] = _parts(WrapsKernel, "kernel around another one")
    """Kernels into which the kernel may be put, to measure distances in another way: tried where
    there are two rows for each number that they learn, of at most 4000 that are tried on; with
    several latent functions so many for each of these."""

    likelihoods: tuple[Likelihood, ...] = _parts(Likelihood, "likelihood")
    """Likelihoods that held-out rows may prefer to the design's."""

    judges: int = whole_number(100, at_least=1)
    """How many held-out rows must have judged: when a fifth of the rows is less, several fifths
    take turns, up to five. More judges choose better, and the choice takes so much longer."""

    settling: int = whole_number(0, at_least=0)
    """How many steps are taken by batches of rows, first of all, in which hyperparameters rest."""

    batches: Literal["auto"] | int = _auto_or(int, "a whole number of at least zero", least=0.0)
    """How many more steps are taken by batches of rows; ``"auto"``: up to 300, or as many as pay
    where there are very many rows."""

    iterations: Literal["auto"] | int = _auto_or(int, "a whole number above zero")
    """The most iterations over all rows, or a sample of 10 000; ``"auto"``: 300, or none where
    there are more rows."""

    tolerance: float = positive_number(0.05)
    """A run ends when ten iterations gained less than this, in nats over all rows."""

    prior_width: float = positive_number(1.0)
    """How far, in free coordinates, one of several lengthscales is expected to move from the rest.

    All of them together, and every other hyperparameter, twice as far."""

    tied: bool = attrs.field(default=False, validator=attrs.validators.instance_of(bool))
    """Whether lengthscales, one for each feature, keep their ratios."""

    caution: float | None = attrs.field(default=None, validator=_deprecated_share)
    """The old name of ``elbo_share``; it is going to be removed."""

    def loss(self, state: State, rows: TrainingRows) -> float:
        """What is minimised, without the priors; with ``penalty = "auto"``, the negative ELBO."""
        if self.penalty == "auto":
            return JointLoss(state, rows, 1.0, 1.0).value(state)
        return JointLoss(state, rows, self.penalty, self._elbo_share).value(state)

    def sketch(self) -> Corrective:
        """The first champion, with no challenger and a short run."""
        return attrs.evolve(
            self,
            kernels=(),
            terms=(),
            warps=(),
            metrics=(),
            likelihoods=(),
            penalty=1.0 if self.penalty == "auto" else self.penalty,
            settling=SKETCH_SETTLING,
            batches=0,
            iterations=SKETCH_ITERATIONS,
        )

    def refine(
        self, state: State, rows: TrainingRows, rng: np.random.Generator, tell: Tell
    ) -> Refined:
        return self.refine_in_runs(state, rows, rng, tell, lambda _, run: run())

    def refine_in_runs(
        self, state: State, rows: TrainingRows, rng: np.random.Generator, tell: Tell, once: Once
    ) -> Refined:
        if not len(state):
            return Refined(state)
        try:
            return self._refined(state, rows, rng, tell, once)
        except NumericalError as error:
            text = f"the model was not refined: {error}. The one of the stages is returned"
            warnings.warn(text, NumericalWarning, stacklevel=2)
            return Refined(state, (text,))

    def _refined(
        self, start: State, rows: TrainingRows, rng: np.random.Generator, tell: Tell, once: Once
    ) -> Refined:
        moves = self._moves(start, len(rows))
        around = Search.around(start, rows, moves, self.prior_width, self.tolerance, tell, once)
        penalty = 1.0 if self.penalty == "auto" else self.penalty
        elbo_share = self._elbo_share if start.mean.ndim == 1 else 0.0  # see ``mixed_loss``
        search = attrs.evolve(around, penalty=penalty, elbo_share=elbo_share, tied=self.tied)
        choice = Choice(search, start)
        if challengers := list(self._challengers(search, rows, rng)):
            further = FURTHER if self.iterations == "auto" and len(rows) <= MANY else 0
            choice = choose(search, start, challengers, rows, self.judges, further, rng)
        end = self._run(choice, start, rows, rng)
        minimised = JointLoss(start, rows, choice.search.penalty, choice.search.elbo_share).value
        if not minimised(end) < minimised(start):
            end = start
        notes = tuple(self._notes(choice, start, end, rows))
        return Refined(end, notes, self._settled(choice.search, len(rows)))

    def _settled(self, search: Search, rows: int) -> Corrective:
        """What goes on from where this ended: the same choice, and no way to go beforehand."""
        return attrs.evolve(
            self,
            penalty=search.penalty,
            elbo_share=search.elbo_share,
            tied=search.tied,
            kernels=(),
            terms=(),
            warps=(),
            metrics=(),
            likelihoods=(),
            settling=0,
            batches=0 if rows <= MANY else self.batches,
            caution=None,
        )

    def _challengers(
        self, search: Search, rows: TrainingRows, rng: np.random.Generator
    ) -> Iterator[Challenger]:
        open_weights = self.penalty == "auto"
        if open_weights:
            yield safest()
            yield settled()
        if self.kernels or self.terms or self.warps or self.metrics or self.likelihoods:
            X = rows.inputs(rows.draw(SAMPLE, rng))
            yield from warped_inputs(self.warps, X, rows)
            yield from other_likelihoods(self.likelihoods, X)
            yield from other_kernels(self.kernels, X)
            functions = search.start.mean.size // len(search.start)
            yield from other_metrics(self.metrics, X, min(len(rows), SKETCH) // functions)
            yield from more_terms(self.terms, X)
        if open_weights:
            yield other_elbo_share(0.0)
            for penalty in PENALTIES[: None if search.start.mean.ndim > 1 else 2]:
                yield half_the_penalty(penalty)
            yield tied_features()

    def _run(
        self, choice: Choice, start: State, rows: TrainingRows, rng: np.random.Generator
    ) -> State:
        """The way that was chosen, on all rows."""
        search, begin = choice.search, choice.state
        if len(rows) > MANY and self.batches == "auto":
            begin = refine_by_batches(search, begin, rows, rng)
        effort = self._effort(len(rows), fresh=begin is start)
        if not choice.goes_on:
            effort = attrs.evolve(effort, iterations=SHORT)
        if effort.iterations and len(rows) > MANY:
            rows = rows.subset(rows.draw(MANY, rng))
        what = f"penalty {search.penalty:g}, elbo_share {search.elbo_share:g}"
        return search.run(begin, rows, effort, rng, what)

    def _effort(self, rows: int, fresh: bool) -> Effort:
        """How long the last run may take; it is fresh if it begins where the stages ended."""
        many = ITERATIONS if rows <= MANY else 0
        iterations = many if self.iterations == "auto" else self.iterations
        effort = Effort.fresh(rows, iterations) if fresh else Effort(iterations=iterations)
        batches = effort.batches if self.batches == "auto" else self.batches
        return attrs.evolve(effort, settling=self.settling if fresh else 0, batches=batches)

    def _notes(self, choice: Choice, start: State, end: State, rows: TrainingRows) -> Iterator[str]:
        if choice.trials:
            tried = "; ".join(map(str, choice.trials))
            yield f"held-out rows were asked (gain in NLP ± its standard error): {tried}"
        search = choice.search
        yield (
            f"kernel {end.kernel.name}, likelihood {end.likelihood.name}, "
            f"penalty {search.penalty:.2g}, elbo_share {search.elbo_share:.2g}, "
            f"{'features tied, ' if search.tied else ''}"
            f"basis vectors {'moved' if search.moves else 'left in place'}: "
            f"loss from {self.loss(start, rows):.4g} to {self.loss(end, rows):.4g}, NLP over all "
            f"rows from {predictive_loss(start, rows):.4g} to {predictive_loss(end, rows):.4g}"
        )

    @property
    def _elbo_share(self) -> float:
        return self.elbo_share if self.caution is None else self.caution

    def _moves(self, state: State, rows: int) -> bool:
        if self.move_basis is False:
            return False
        able = _can_move(inside(state))
        if self.move_basis == "auto" and able:
            return bool(state.inputs.shape[1] <= rows)
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
