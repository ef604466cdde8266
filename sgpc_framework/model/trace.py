"""What happened, stage by stage and iteration by iteration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.sites import ByFunction
from sgpc_framework.rows.numbering import Numbering

LOG_2 = float(np.log(2.0))


@attrs.frozen
class Stage:
    """One basis vector included: which row, with which site, and what the model was worth then.

    ``predictive_loss`` is NLP_a (eq. 5) over the training rows. ``training_error`` is the share of
    rows whose own label has a predictive probability of at most one half; it never exceeds
    ``error_bound`` = NLP_a / log 2 (eq. 6). Several latent functions have a site mean and a
    coefficient each.
    """

    row: int
    precision: float
    mean: ByFunction
    coefficient: ByFunction
    shrinkage: float
    predictive_loss: float
    training_error: float

    @property
    def error_bound(self) -> float:
        """The bound on the training error, NLP_a / log 2."""
        return self.predictive_loss / LOG_2


@attrs.frozen
class Iteration:
    """One round of the outer loop.

    ``hyperparameters`` are those the stages were built with, ``reestimated`` those after step 6;
    ``objective_before`` and ``objective_after`` are the objective's values at the two, with the
    same basis and sites. ``loss`` ranks the iterations: it is ``objective_after``, or, where values
    of different bases are not comparable, NLP at whichever of the two hyperparameters has less of
    it, which are then the model's. ``ended`` says why the inner loop stopped, ``step6`` how the
    optimiser did. How many ``seconds`` it took is known until the model is saved: no file says so.
    """

    number: int
    stages: tuple[Stage, ...]
    ended: str
    hyperparameters: Mapping[str, float]
    reestimated: Mapping[str, float]
    objective_before: float
    objective_after: float
    loss: float
    evaluations: int
    step6: str
    seconds: float | None = None


@attrs.frozen
class Size:
    """What a model of some size is worth.

    ``predictive_loss`` is NLP (eq. 5) over the rows that the model of this size was fitted to.
    Where ``max_basis = "auto"`` tried the size, ``held_out_loss`` is NLP over the rows it held out,
    and ``noise`` the standard error of its difference, row by row, to the least such loss.
    """

    size: int
    predictive_loss: float
    held_out_loss: float | None = None
    noise: float | None = None


@attrs.frozen
class Trace:
    """The history of a fit. ``best`` is the position in ``iterations`` of the returned model.

    ``sizes``, in ascending order, has the sizes that the refiner ran at and those that
    ``max_basis = "auto"`` tried. ``settled`` is the refiner with nothing left to choose, as plain
    data: what a fit uses that starts from this model. ``class_shares`` has the share of the
    training rows, by weight, that each class has; it is empty in files of earlier versions.
    """

    iterations: tuple[Iteration, ...]
    best: int
    notes: tuple[str, ...] = ()
    sizes: tuple[Size, ...] = ()
    settled: Mapping[str, Any] | None = None
    class_shares: tuple[float, ...] = ()

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of the returned model."""
        return self.iterations[self.best].stages

    def column(self, name: str) -> NDArray[np.float64]:
        """One quantity along the stages of the returned model: ``column("training_error")``.

        What each latent function has for itself makes a row a stage.
        """
        return np.array([getattr(stage, name) for stage in self.stages], dtype=np.float64)

    def numbered_by(self, numbers: Numbering) -> Trace:
        """What was fitted to some rows, told by their numbers among all rows."""
        rows = [stage.row for iteration in self.iterations for stage in iteration.stages]
        named = iter(np.asarray(numbers[np.array(rows, dtype=np.intp)]).tolist())
        iterations = tuple(
            attrs.evolve(
                iteration,
                stages=tuple(attrs.evolve(stage, row=next(named)) for stage in iteration.stages),
            )
            for iteration in self.iterations
        )
        return attrs.evolve(self, iterations=iterations)
