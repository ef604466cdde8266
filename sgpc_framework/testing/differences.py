"""Derivatives by differences, each with an estimate of its own error: the judges of gradients.

Differences of fourth order at a step and at half of it; how much the two disagree bounds what the
better one is worth, whatever the function's curvature and rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from sgpc_framework.parts.hyperparameters import FreeVector, replaced, values
from sgpc_framework.protocols import Floats
from sgpc_framework.testing.verdict import require, require_close, scale_of

C = TypeVar("C")
Function = Callable[[float], Any]

STEP = 2e-3
"""A step in free coordinates, where hyperparameters have a scale of one."""

EXACT = 1e-6
"""An exact gradient agrees with differences to this, relative to the numbers it is made of."""


def slope(f: Function, step: float) -> tuple[Floats, Floats]:
    """f'(0) and its error, for a function of one number with one value or an array of them."""
    return _refined(lambda h: (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h), step)


def curvature(f: Function, step: float) -> tuple[Floats, Floats]:
    """f''(0) and its error."""

    def second(h: float) -> Any:
        return (16 * (f(h) + f(-h)) - (f(2 * h) + f(-2 * h)) - 30 * f(0.0)) / (12 * h * h)

    return _refined(second, step)


def _refined(difference: Function, step: float) -> tuple[Floats, Floats]:
    coarse, fine = np.asarray(difference(step)), np.asarray(difference(step / 2))
    return fine, 10.0 * np.abs(fine - coarse)


def require_gradient(
    gradient: Floats,
    component: C,
    loss: Callable[[C], float],
    scale: float,
    where: str,
    free: bool = False,
) -> None:
    """``gradient`` is that of ``loss`` in the component's hyperparameters: in natural values, or in
    the optimiser's ``free`` coordinates.

    ``scale`` is the size of the numbers that the loss is a sum of. The component must lie inside
    its bounds, as ``variations`` of it do.
    """
    box, natural = FreeVector.of(component), values(component)
    here = box.free(natural)
    require(
        np.shape(gradient) == here.shape,
        f"a gradient of shape {np.shape(gradient)} for {len(here)} hyperparameters ({where})",
    )
    if not len(here):
        return

    def along(unit: Floats) -> tuple[Floats, Floats]:
        return slope(lambda t: loss(replaced(component, box.natural(here + t * unit))), STEP)

    wanted, error = np.transpose([along(unit) for unit in np.eye(len(here))])
    given = np.asarray(gradient, dtype=np.float64)
    slopes = given if free else box.chain(natural, given)
    tolerance = EXACT * (scale + scale_of(wanted)) + error
    require_close(slopes, wanted, tolerance, "gradient by free coordinates", where)


def variations(component: C) -> list[C]:
    """The component as it is and with two other sets of hyperparameters, all inside the bounds."""
    box, natural = FreeVector.of(component), values(component)
    if not len(natural):
        return [component]
    with np.errstate(divide="ignore"):  # a bound of zero is infinitely far in logarithms
        low, high = box.free(box.least), box.free(box.most)
    margin = np.minimum(5 * STEP, (high - low) / 4)
    moves = np.random.default_rng(7).uniform(-1.0, 1.0, (2, len(natural)))
    frees = box.free(natural) + np.vstack([np.zeros_like(natural), moves])
    return [
        replaced(component, box.natural(np.clip(f, low + margin, high - margin))) for f in frees
    ]
