"""Algorithm 1 of the paper, SGPC design, composed from plugins.

    1.  Initialize the hyperparameters θ. Set d_max, tol, iter_max and iter = 0.
    repeat
        2.  Initialize A := K, u = {}, uᶜ = {1, ..., n}, f̂ᵢ = pᵢ = mᵢ = 0. iter = iter + 1.
        repeat
            3.  Select a basis vector j from uᶜ as per the chosen selection method.
            4.  Update the site parameters pⱼ, mⱼ, posterior mean f̂ and variance diag(A).
            5.  Set u = u ∪ {j} and uᶜ = uᶜ \\ {j}.
        until |u| = d_max
        6.  Re-estimate θ by optimizing a suitable loss function, keeping u and the sites constant.
    until iter = iter_max or change in the loss function value < tol

Steps 3 to 5 are in ``stages``, step 6 is in ``step6``, and what ends a fit early in ``endings``.
What happens goes into the log, which knows the best model over all iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar

import numpy as np

from sgpc_framework.config.config import Config
from sgpc_framework.engine.chance import Chance
from sgpc_framework.engine.continuing import Earlier, InOrder, as_last_stage
from sgpc_framework.engine.endings import (
    give_up,
    sound_state,
    step6_not_taken,
    stop,
    why_stages_ended,
)
from sgpc_framework.engine.log import Log, include_again
from sgpc_framework.engine.log_records import Began, Note, Tried
from sgpc_framework.engine.progress import Progress, Watcher
from sgpc_framework.engine.stages import stages
from sgpc_framework.engine.step6 import Judges, reestimate
from sgpc_framework.errors import NumericalError, PluginError, StopFitting
from sgpc_framework.model.trace import Stage
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import blame
from sgpc_framework.protocols import Inputs, SelectsWithMemory, StartsFromData
from sgpc_framework.rows.checking import checked_kernel
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows

C = TypeVar("C")

SAMPLE = 10_000
"""The most rows that hyperparameters start from."""


def algorithm1(
    config: Config, rows: TrainingRows, log: Log, watch: Watcher, earlier: Earlier | None = None
) -> State:
    """The best classifier of Algorithm 1, whatever the arithmetic does.

    With an ``earlier`` model, whose hyperparameters the configuration has, the first iteration
    begins with its basis, and the first after it that is not better is the last.
    """
    # 1. Initialize the hyperparameters θ. Set d_max, tol, iter_max and iter = 0.
    start = initial(config, rows)
    d_max = most_basis(config, rows)
    if d_max != config.max_basis:
        text = f"max_basis {config.max_basis} was cut to the number of training rows, {d_max}"
        log.add(Note(text))
    try:
        _outer_loop(config, rows, start, d_max, log, watch, earlier)
    except NumericalError as error:
        give_up(error, rows, log)
    except StopFitting:
        stop(rows, log)
    except PluginError as error:
        iteration, stage = log.place
        error.iteration, error.stage = iteration, min(stage, d_max)
        raise
    return sound_state(log)


def _outer_loop(
    config: Config,
    rows: TrainingRows,
    start: State,
    d_max: int,
    log: Log,
    watch: Watcher,
    earlier: Earlier | None,
) -> None:
    theta = start
    given, first = earlier.beginning(d_max) if earlier is not None else (None, [])
    judges = Judges.of(config.objective, rows, config.seed)
    for iteration in range(1, config.max_iterations + 1):

        def tell(size: int, stage: Stage, iteration: int = iteration) -> None:
            watch(Progress(iteration, config.max_iterations, size, d_max, stage))

        log.add(Began(theta, earlier=given))
        if not log.recalls_iteration(rows, tell):
            if given is None:
                # 2. Initialize A := K, u = {}, uᶜ = {1, ..., n}, means and sites to zero.
                posterior = rows.posterior(theta.kernel, theta.likelihood, d_max, config.storage)
                # 3., 4., 5. until |u| = d_max
                _inner_loop(config, posterior, iteration, d_max, log, tell, first)
                state, why = posterior.state(), why_stages_ended(posterior, d_max)
            else:
                state, why = given, "basis and sites are those of the model it started from"
            # 6. Re-estimate θ, keeping u and the corresponding site parameters constant.
            step6 = reestimate(
                config.objective,
                state,
                rows,
                start,
                config.optimizer,
                config.optimizer_steps,
                judges,
            )
            log.end(step6 or step6_not_taken(state, rows, log, "the hyperparameters stay"), why)
        latest = log.ended[-1].step6
        if given is not None and len(given):
            tell(len(given), as_last_stage(latest.best, rows))
        theta, given, first = latest.state[:0], None, []
        # until iter = iter_max or change in the loss function value < tol
        if not latest.tuned or log.change() < config.tolerance:
            break
        if earlier is not None and log.best < iteration - 1:  # it was better before
            break


def _inner_loop(
    config: Config,
    posterior: Posterior,
    iteration: int,
    d_max: int,
    log: Log,
    tell: Callable[[int, Stage], None],
    first: Sequence[int],
) -> None:
    """The stages of an iteration, which includes the rows ``first``. Those of an earlier life are
    not chosen again, unless the selector has to have seen them."""
    if not has(config.selector, SelectsWithMemory):
        for tried, stage in log.recalled_stages():
            include_again(posterior, tried, stage)
            tell(posterior.size, stage)
    chance = Chance(config.seed, iteration)
    selectors = (InOrder(first), config.selector) if first else (config.selector,)
    for stage in chain.from_iterable(
        stages(posterior, selector, config.sites, d_max, chance) for selector in selectors
    ):
        log.add(Tried(posterior.tried))
        log.add(stage)
        tell(posterior.size, stage)
    if posterior.rounded_to_zero:
        text = f"rounding took {posterior.rounded_to_zero} variances below zero"
        log.add(Note(f"iteration {iteration}: {text}"))


def initial(config: Config, rows: TrainingRows) -> State:
    """θ at the start: the hyperparameters that are taken from the data, from a sample of it."""
    numbers = rows.draw(SAMPLE, np.random.default_rng([config.seed, 0, 2]))
    X = rows.inputs(numbers)
    kernel = _start_from_data("kernel", config.kernel, X)
    checked_kernel(kernel, X)
    likelihood = _start_from_data("likelihood", config.likelihood, X)
    return State.prior(kernel, likelihood, X[:0].copy())


def _start_from_data(kind: str, part: C, X: Inputs) -> C:
    if not has(part, StartsFromData):
        return part
    with blame(kind, part, "started"):
        return part.started(X)


def most_basis(config: Config, rows: TrainingRows) -> int:
    """d_max: as many basis vectors as are wanted, but no more than there are rows."""
    assert config.max_basis != "auto"  # ``size_search`` has chosen a number
    return min(config.max_basis, len(rows))
