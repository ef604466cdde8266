"""The laws of an objective. Each docstring is what a failing check says was wanted.

Values and gradients are judged where they are used: by way of the algebra of step 6, in which
they become those of the kernel's and the likelihood's hyperparameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import attrs
import numpy as np

from sgpc_framework.engine.refinement import Refinable
from sgpc_framework.engine.step6 import Theta
from sgpc_framework.protocols import (
    Floats,
    GramObjective,
    HyperObjective,
    Penalised,
    RowObjective,
)
from sgpc_framework.testing.differences import EXACT, require_gradient, slope, variations
from sgpc_framework.testing.randomness import repeated
from sgpc_framework.testing.states import corner_states, ordinary_states
from sgpc_framework.testing.verdict import (
    Laws,
    require,
    require_close,
    require_equal,
    require_finite,
    scale_of,
)


def finite(objective: HyperObjective) -> None:
    """The loss and its gradient are finite."""
    for fitted, where in _fits():
        value, gradient = _evaluated(objective, fitted)
        require_finite(value, "loss", where)
        require_finite(gradient, "gradient", where)


def gradient_agrees_with_differences(objective: HyperObjective) -> None:
    """The derivatives that come with the loss are its derivatives."""
    for fitted, where in _fits():

        def loss(theta: Theta, fitted: Refinable = fitted) -> float:
            moved = attrs.evolve(fitted, kernel=theta.kernel, likelihood=theta.likelihood)
            return _evaluated(objective, moved)[0]

        for theta in variations(Theta(fitted.kernel, fitted.likelihood)):
            moved = attrs.evolve(fitted, kernel=theta.kernel, likelihood=theta.likelihood)
            value, gradient = _evaluated(objective, moved)
            require_gradient(gradient, theta, loss, scale_of([1.0, value]), where)


def deterministic(objective: HyperObjective) -> None:
    """The same rows and hyperparameters give the same bits."""
    for fitted, where in _fits():
        first, second = repeated(partial(_evaluated, objective, fitted))
        require_equal(first[0], second[0], "loss", where)
        require_equal(first[1], second[1], "gradient", where)


def unchanged_by_block_size(objective: HyperObjective) -> None:
    """The loss is the same, up to rounding, however many blocks the rows are in."""
    for fitted, where in _fits():
        wanted, gradient = _evaluated(objective, fitted)
        for rows in (1, 5):
            blocks = attrs.evolve(fitted, sites=attrs.evolve(fitted.sites, block_rows=rows))
            value, again = _evaluated(objective, blocks)
            what = f"{where}, blocks of {rows} rows"
            require_close(value, wanted, 1e-8 * scale_of([1.0, wanted]), "loss", what)
            require_close(again, gradient, 1e-8 * (1 + scale_of(gradient)), "gradient", what)


def leaves_the_sites_alone(objective: HyperObjective) -> None:
    """An evaluation changes neither the rows nor the sites."""
    for fitted, where in _fits():
        before = [array.copy() for array in _arrays(fitted)]
        _evaluated(objective, fitted)
        for name, old, new in zip(
            ("X", "y", "site precisions", "site means"), before, _arrays(fitted), strict=True
        ):
            require(np.array_equal(old, new), f"{name} were changed ({where})")


def over_all_or_inactive_rows(objective: RowObjective) -> None:
    """``over`` says which rows the mean is taken over: "all" or "inactive"."""
    require(objective.over in ("all", "inactive"), f"over = {objective.over!r}")


def penalty_agrees_with_differences(objective: Penalised) -> None:
    """penalty(displacement) is finite and comes with its gradient, one entry for each number."""
    rng = np.random.default_rng(9)
    for displacement in (np.zeros(3), rng.standard_normal(3), rng.standard_normal(1)):
        where = f"displacement {np.round(displacement, 3).tolist()}"
        given = displacement.copy()
        value, gradient = objective.penalty(given)
        require(np.array_equal(given, displacement), f"the displacement was changed ({where})")
        require_finite(value, "penalty", where)
        require_finite(gradient, "gradient", where)
        units = np.eye(len(displacement))
        found = [slope(partial(_moved_penalty, objective, displacement, u), 1e-3) for u in units]
        wanted, error = np.transpose(found)
        tolerance = EXACT * (scale_of([1.0, value]) + scale_of(wanted)) + error
        require_close(gradient, wanted, tolerance, "gradient of the penalty", where)


_OF_BOTH = (
    finite,
    gradient_agrees_with_differences,
    deterministic,
    unchanged_by_block_size,
    leaves_the_sites_alone,
)
LAWS: Laws = {
    RowObjective: (*_OF_BOTH, over_all_or_inactive_rows),
    GramObjective: _OF_BOTH,
    Penalised: (penalty_agrees_with_differences,),
}


def _fits() -> Iterator[tuple[Refinable, str]]:
    for state in (*ordinary_states()[1:], corner_states()[0]):
        yield state.refinable(), state.title


def _evaluated(objective: HyperObjective, fitted: Refinable) -> tuple[float, Floats]:
    return fitted.sites.value_and_gradient(objective, fitted.kernel, fitted.likelihood)


def _arrays(fitted: Refinable) -> list[Floats]:
    sites = fitted.sites
    return [sites.X, sites.y, sites.precision, sites.mean]


def _moved_penalty(objective: Penalised, displacement: Floats, unit: Floats, t: float) -> float:
    return objective.penalty(displacement + t * unit)[0]
