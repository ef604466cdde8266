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

Steps 3 to 5 are in ``inner_loop``, step 6 in ``reestimation``. The best model over all iterations
is kept (``history``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.config.config import Config
from sgpc_framework.engine.log import Designed, History
from sgpc_framework.engine.refinement import Refining
from sgpc_framework.engine.slopes import FixedSites
from sgpc_framework.engine.stages import stages
from sgpc_framework.engine.step6 import Theta, reestimate, tunes, unchanged
from sgpc_framework.errors import NumericalError, PluginError, StopFitting
from sgpc_framework.model.trace import Stage
from sgpc_framework.parts.calls import calling
from sgpc_framework.protocols import Inputs, StartsFromData, Subsampled
from sgpc_framework.rows.checking import checked_kernel
from sgpc_framework.rows.posterior import Posterior

Floats = NDArray[np.float64]
C = TypeVar("C")


@attrs.frozen
class Progress:
    """Where a fit is; callers of ``fit`` may ask to be told after every stage.

    While a refiner works, it is told how far that is, in ``refining``; the rest stays as it was
    after the last stage. Who is told may raise ``StopFitting``: the fit ends with what it has.

    With more than two classes there are several ``models``, one for each class; ``model`` says
    which of them it is, counted from one.
    """

    iteration: int
    max_iterations: int
    basis: int
    max_basis: int
    stage: Stage
    model: int = 1
    models: int = 1
    refining: Refining | None = None


Watcher = Callable[[Progress], object]


def design_classifier(config: Config, X: Inputs, y: Floats, watch: Watcher) -> Designed:
    """Algorithm 1 on inputs ``X`` and labels ``y`` in {-1, +1}, whatever the arithmetic does."""
    # 1. Initialize the hyperparameters θ.
    start = _start(config, X)
    checked_kernel(start.kernel, X)
    history = History(X, y, config)
    try:
        _repeat(config, start, history, watch)
    except NumericalError as error:
        history.give_up(error)
    except StopFitting:
        history.stop()
    except PluginError as error:
        error.iteration, error.stage = history.place()
        raise
    return history.outcome()


def _repeat(config: Config, start: Theta, history: History, watch: Watcher) -> None:
    theta = start
    d_max = history.max_basis
    for iteration in range(1, config.max_iterations + 1):
        # 2. Initialize A := K, u = {}, uᶜ = {1, ..., n}, means and sites to zero.
        history.begin(theta)
        posterior = Posterior(
            history.X,
            history.y,
            theta.kernel,
            theta.likelihood,
            d_max,
            config.block_rows,
            config.storage,
        )
        rng = np.random.default_rng([config.seed, iteration])
        # 3., 4., 5. until |u| = d_max
        for stage in stages(posterior, config.selector, config.sites, d_max, rng):
            history.add(stage)
            watch(Progress(iteration, config.max_iterations, posterior.size, d_max, stage))
        if posterior.rounded_to_zero:
            history.note(f"rounding took {posterior.rounded_to_zero} variances below zero")
        # 6. Re-estimate θ, keeping u and the corresponding site parameters constant.
        if not tunes(config.objective):
            history.end(unchanged(theta, history.predictive_loss(), "the hyperparameters stay"))
            break
        found = reestimate(
            config.objective,
            _judging(config, history.sites()),
            theta,
            start,
            config.optimizer,
            config.optimizer_steps,
        )
        history.end(found)
        theta = found.theta
        # until iter = iter_max or change in the loss function value < tol
        if history.change() < config.tolerance:
            break


def _judging(config: Config, sites: FixedSites) -> FixedSites:
    """The rows that step 6 looks at: all, unless the objective makes do with some."""
    objective = config.objective
    if isinstance(objective, Subsampled) and objective.subset:
        return sites.some_rows(objective.subset, config.seed)
    return sites


def started(config: Config, X: Inputs) -> Config:
    """The configuration with the hyperparameters that are taken from the data."""
    start = _start(config, X)
    return attrs.evolve(config, kernel=start.kernel, likelihood=start.likelihood)


def _start(config: Config, X: Inputs) -> Theta:
    return Theta(_started("kernel", config.kernel, X), _started("likelihood", config.likelihood, X))


def _started(kind: str, component: C, X: Inputs) -> C:
    if not isinstance(component, StartsFromData):
        return component
    with calling(kind, component, "started"):
        return component.started(X)
