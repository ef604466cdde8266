"""The prior that holds hyperparameters near their start."""

from __future__ import annotations

from sgpc_framework.authors import Loss, Trial


def with_prior(loss: Loss, trial: Trial, width: float) -> Loss:
    """A loss with minus the log density of N(0, width² I) of the displacement, a row's weight of it
    where the loss is a mean over rows."""
    gradient = trial.displacement / width**2
    value = 0.5 * float(trial.displacement @ gradient)
    return loss._replace(
        value=loss.value + value / loss.rows, gradient=loss.gradient + gradient / loss.rows
    )
