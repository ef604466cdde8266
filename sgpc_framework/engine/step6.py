"""Step 6 of Algorithm 1: re-estimate the hyperparameters, keeping basis and sites constant."""

from __future__ import annotations

from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.optimisers import Method, minimise
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.engine.trial import Trial
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import blame
from sgpc_framework.parts.hyperparameters import FreeVector, replaced, values
from sgpc_framework.protocols import HyperObjective, Loss, Subsampled
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows

Floats = NDArray[np.float64]

REACH = 2.0
"""How far one step 6 may move a free hyperparameter. The sites were made for the old values and
mean little far from them; the outer loop goes further, with new sites, if it pays."""


ENOUGH = 1e-4
"""A step of the optimiser that gains less ends step 6. The next round of the outer loop goes on
from there with new sites, which change the objective by more: searching on would double the
evaluations and gain nothing."""


@attrs.frozen(eq=False)
class Reestimate:
    """The outcome of step 6: the state with new hyperparameters, and how that came about.

    ``before`` and ``after`` are the objective at the old and at the new ones. ``best`` is the state
    with whichever has less ``loss``, which is comparable between bases.
    """

    state: State
    best: State
    before: float
    after: float
    loss: float
    evaluations: int
    message: str
    tuned: bool = True

    @classmethod
    def unchanged(cls, state: State, loss: float, why: str) -> Reestimate:
        """The outcome of a step 6 that was not taken."""
        return cls(state, state, loss, loss, loss, 0, why, tuned=False)


class Judges(NamedTuple):
    """Some of the rows, drawn once a fit, that an objective makes do with (``Subsampled``)."""

    numbers: NDArray[np.intp]
    rows: TrainingRows

    @classmethod
    def of(cls, objective: HyperObjective, rows: TrainingRows, seed: int) -> Judges | None:
        """As many as the objective says; None if it wants all."""
        if not has(objective, Subsampled) or not 0 < objective.subset < len(rows):
            return None
        numbers = rows.draw(objective.subset, np.random.default_rng([seed, 0]))
        return cls(numbers, rows.subset(numbers))


def reestimate(
    objective: HyperObjective,
    state: State,
    rows: TrainingRows,
    start: State,
    method: Method,
    steps: int,
    judges: Judges | None = None,
) -> Reestimate | None:
    """Minimise the objective over the hyperparameters; ``start`` is where the fit began (for
    priors). None if the objective has nothing to say."""
    seen, judging = (state, rows) if judges is None else (state.among(judges.numbers), judges.rows)

    def loss(trial: Trial) -> Loss | None:
        with blame("objective", objective, "loss"):
            return objective.loss(trial)

    first = loss(Trial(seen, judging, start))
    if first is None:
        return None
    box = FreeVector.of(state)
    here = box.free(values(state))

    def function(free: Floats) -> tuple[float, Floats]:
        at_first = np.array_equal(free, here)
        answer = first if at_first else loss(Trial.at(free, seen, judging, start))
        assert answer is not None  # it has answered before
        return answer.value, answer.gradient

    lower = np.maximum(box.free(box.least), here - REACH)
    upper = np.minimum(box.free(box.most), here + REACH)
    minimum = minimise(function, here, lower, upper, method, steps, ENOUGH)
    new = replaced(state, box.natural(minimum.point))
    best, least = new, minimum.value
    if not first.comparable:
        least, best = min(
            ((predictive_loss(each, judging), each) for each in (new, state)),
            key=lambda pair: pair[0],
        )
    message = minimum.message + (f" ({first.remark})" if first.remark else "")
    return Reestimate(
        new, best, minimum.start_value, minimum.value, least, minimum.evaluations, message
    )
