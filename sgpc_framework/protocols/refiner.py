"""After the stages: everything at once, and how a refiner tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from sgpc_framework.rows.state import State
    from sgpc_framework.rows.training_rows import TrainingRows


class Refining(NamedTuple):
    """How far a refiner is: ``step`` of at most ``steps`` of what it does at the moment."""

    doing: str
    step: int
    steps: int
    loss: float


class Refined(NamedTuple):
    """What a refiner returns: a state, and what its user should know of the run."""

    state: State
    notes: tuple[str, ...] = ()
    settled: Refiner | None = None
    """The refiner with nothing left to choose, for a later fit that starts from this state."""


Tell = Callable[[Refining], bool]
"""Tells whoever watches the fit how far a refiner is; False if they want it to end."""

Once = Callable[[np.random.Generator, Callable[[], "State"]], "State"]
"""``once(rng, run)`` is ``run()``, or, in a fit that is resumed, where the same run ended before;
``rng`` is then left as that run left it."""


@runtime_checkable
class Refiner(Protocol):
    """After the stages: better sites, hyperparameters or basis inputs, all at once.

    ``refine`` is called once for each size that the model is to be had in, on so many of the first
    stages of the best state of the outer loop, and returns a state that is never worse than the one
    it was given, by what it minimises. That is its ``loss`` (the check "never worse than its
    start"), unless rows that it held out have chosen something else. The state may have fewer basis
    vectors or more; one that is no training row has the row number -1. What was not changed is to
    be returned as the same objects. All randomness comes from ``rng``, the same for every size.

    A refiner that takes long tells how far it is from time to time, and ends with the best it has
    when the answer is no: ``if not tell(Refining("sweeping", 3, 20, loss)): ...``. Its notes, such
    as whether it converged, are added to those of the trace.
    """

    name: ClassVar[str]

    def loss(self, state: State, rows: TrainingRows, /) -> float: ...

    def refine(
        self, state: State, rows: TrainingRows, rng: np.random.Generator, tell: Tell, /
    ) -> Refined: ...


@runtime_checkable
class Sketches(Protocol):
    """A refiner that knows how to take less care, for who only compares several of its fits.

    ``max_basis = "auto"`` asks for it once, and refines its trials with what it gets.
    """

    def sketch(self) -> Refiner:
        """A refiner that takes a part of the time and nearly gets there."""
        ...


@runtime_checkable
class RefinesInRuns(Protocol):
    """A refiner whose work is several runs of an optimiser, none of which is to be lost.

    ``refine_in_runs`` is called in place of ``refine``, and does the same. It asks ``once`` for the
    end of every run: ``end = once(rng, lambda: run(begin, rng))``. A fit with a checkpoint keeps
    that state; when it is resumed, the run is not made again. All that a run decides must be in
    the state that it returns, in its arguments and in ``rng``.
    """

    def refine_in_runs(
        self,
        state: State,
        rows: TrainingRows,
        rng: np.random.Generator,
        tell: Tell,
        once: Once,
        /,
    ) -> Refined: ...
