"""How a fit ends: with the stages it wanted, by rounding, or because someone stops it.

Whatever the arithmetic does, the log ends with an iteration, and its best state can be used.
"""

from __future__ import annotations

import warnings

from sgpc_framework.algebra.additive import smallest_pivot, sound_prefix
from sgpc_framework.engine.log import Log
from sgpc_framework.engine.log_records import Cut, Note, Stopped
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.engine.step6 import Reestimate
from sgpc_framework.errors import NumericalError, NumericalWarning
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows


def step6_not_taken(state: State, rows: TrainingRows, log: Log, why: str) -> Reestimate:
    """A step 6 that was not taken: the loss is NLP over all rows after the newest stage."""
    stages = log.stages
    loss = stages[-1].predictive_loss if stages else predictive_loss(state, rows)
    return Reestimate.unchanged(state, loss, why)


def why_stages_ended(posterior: Posterior, d_max: int) -> str:
    if posterior.size == d_max:
        return f"max_basis {d_max} was reached"
    if posterior.exhausted:
        return f"after {posterior.size} stages no inactive row had any variance left to give"
    return f"after {posterior.size} stages the selector had enough"


def give_up(error: NumericalError, rows: TrainingRows, log: Log) -> None:
    """The algebra failed: say where, and end with the best model so far.

    If not one iteration was completed, that is the model of the stages before the failure.
    """
    state = log.state_so_far(rows)
    numbers = ", ".join(f"{path} = {value:.6g}" for path, value in state.theta.items())
    pivot = smallest_pivot(state.gram(), state.precision)
    text = (
        f"the fit ended early in iteration {len(log.ended) + 1}: {error} "
        f"(kernel {state.kernel.name!r}; {numbers}; smallest pivot {pivot:.6g}). "
        "The best model before that is returned"
    )
    log.add(Note(text))
    warnings.warn(text, NumericalWarning, stacklevel=4)
    if not log.ended:
        log.end(step6_not_taken(state, rows, log, "not reached"), str(error))


def stop(rows: TrainingRows, log: Log) -> None:
    """Someone wants the fit to end: with the best iteration so far, or the stages there are."""
    log.add(Stopped())
    log.add(
        Note(
            f"the fit was stopped in iteration {len(log.ended) + 1}, after stage {len(log.stages)}"
        )
    )
    if not log.ended:
        reached = step6_not_taken(log.state_so_far(rows), rows, log, "not reached")
        log.end(reached, "the fit was stopped")


def sound_state(log: Log) -> State:
    """The best state, of which only the stages are kept that have a Cholesky factor."""
    state = log.state()
    try:
        state.form()
    except NumericalError:
        sound = sound_prefix(state.gram(), state.precision)
        log.add(Note(f"only the first {sound} stages have a Cholesky factor and are kept"))
        log.add(Cut(sound))
    return log.state()
