"""Step 6 of Algorithm 1: re-estimate the hyperparameters, keeping basis and sites constant."""

from __future__ import annotations

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.optimisers import Method, minimise
from sgpc_framework.engine.slopes import FixedSites
from sgpc_framework.parts import hyperparameters as hyper
from sgpc_framework.parts.calls import calling
from sgpc_framework.protocols import (
    GramObjective,
    HyperObjective,
    Kernel,
    Likelihood,
    Penalised,
    RowObjective,
)

Floats = NDArray[np.float64]

REACH = 2.0
"""How far one step 6 may move a free hyperparameter. The sites were made for the old values and
mean little far from them; the outer loop goes further, with new sites, if it pays."""


ENOUGH = 1e-4
"""A step of the optimiser that gains less ends step 6. The next round of the outer loop goes on
from there with new sites, which change the objective by more: searching on would double the
evaluations and gain nothing."""


@attrs.frozen
class Theta:
    """All hyperparameters: those of the kernel, then those of the likelihood."""

    kernel: Kernel
    likelihood: Likelihood

    def named(self) -> dict[str, float]:
        """Every number by its path, such as ``kernel.lengthscale``."""
        return {h.path: h.value for h in hyper.hyperparameters(self)}


@attrs.frozen(eq=False)
class Reestimate:
    """The outcome of step 6.

    ``theta`` are the new hyperparameters, ``before`` and ``after`` the objective at the old and at
    the new ones. ``best`` is the better of the two by ``loss``, which is comparable between bases.
    """

    theta: Theta
    best: Theta
    before: float
    after: float
    loss: float
    evaluations: int
    message: str


def tunes(objective: HyperObjective) -> bool:
    """Whether an objective has anything to say about hyperparameters."""
    return isinstance(objective, (RowObjective, GramObjective))


def unchanged(theta: Theta, loss: float, why: str) -> Reestimate:
    """The outcome of a step 6 that was not taken."""
    return Reestimate(theta, theta, loss, loss, loss, 0, why)


def reestimate(
    objective: HyperObjective,
    sites: FixedSites,
    theta: Theta,
    start: Theta,
    method: Method,
    steps: int,
) -> Reestimate:
    """Minimise the objective from ``theta``; ``start`` is where the fit began (for priors)."""
    box = hyper.FreeVector.of(theta)
    per = sites.rows_counted(objective) if isinstance(objective, RowObjective) else 1
    here, origin = box.free(hyper.values(theta)), box.free(hyper.values(start))

    def function(free: Floats) -> tuple[float, Floats]:
        natural = box.natural(free)
        moved = hyper.replaced(theta, natural)
        value, gradient = sites.value_and_gradient(objective, moved.kernel, moved.likelihood)
        gradient = box.chain(natural, gradient)
        if isinstance(objective, Penalised):
            with calling("objective", objective, "penalty"):
                penalty, pull = objective.penalty(free - origin)
            value, gradient = value + penalty / per, gradient + pull / per
        return value, gradient

    lower = np.maximum(box.free(box.least), here - REACH)
    upper = np.minimum(box.free(box.most), here + REACH)
    found = minimise(function, here, lower, upper, method, steps, ENOUGH)
    best = new = hyper.replaced(theta, box.natural(found.point))
    loss = found.value
    if isinstance(objective, GramObjective):
        loss, best = min(
            ((sites.predictive_loss(t.kernel, t.likelihood), t) for t in (new, theta)),
            key=lambda pair: pair[0],
        )
    message = found.message
    if isinstance(objective, RowObjective) and sites.counts_all_rows(objective):
        message += " (the mean is over all rows)"
    return Reestimate(new, best, found.start_value, found.value, loss, found.evaluations, message)
