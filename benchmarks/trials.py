"""One evaluation of step 6: an objective and its gradient, at the hyperparameters of a state."""

from __future__ import annotations

from sgpc_framework.engine.trial import Trial
from sgpc_framework.parts.hyperparameters import FreeVector, values
from sgpc_framework.protocols import HyperObjective, Loss
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows


def value_and_gradient(objective: HyperObjective, state: State, rows: TrainingRows) -> Loss:
    """What the optimiser asks for first, before anything has moved."""
    here = FreeVector.of(state).free(values(state))
    loss = objective.loss(Trial.at(here, state, rows, start=state))
    assert loss is not None, f"{objective!r} says nothing of hyperparameters"
    return loss
