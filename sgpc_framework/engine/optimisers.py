"""Minimising a smooth function in a box without ever accepting a step that is not finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import NumericalError

Floats = NDArray[np.float64]
Function = Callable[[Floats], tuple[float, Floats]]
Method = Literal["conjugate-gradients", "l-bfgs-b"]

RESTARTS = 8
SHRINK = 0.25
"""Where the function does not exist, the box shrinks by this factor around the best point."""


MEMORY = 20
"""Steps whose curvature L-BFGS-B remembers. With ten, its default, a joint refinement takes a
fourth more iterations; with forty no fewer."""


@attrs.frozen(eq=False)
class Minimum:
    """The best point seen, the values there and at the start, and how it went."""

    point: Floats
    value: float
    start_value: float
    evaluations: int
    message: str


class _NotFinite(Exception):
    """Leaves an optimiser whose line search stepped to where the function does not exist."""


def minimise(
    function: Function,
    start: Floats,
    lower: Floats,
    upper: Floats,
    method: Method,
    steps: int,
    gain: float = 0.0,
    patience: int = 1,
    go_on: Callable[[int, float], bool] = lambda step, value: True,
) -> Minimum:
    """Minimise from ``start``, which must be finite there; never returns a worse point.

    Ends after ``steps`` iterations, or when the last ``patience`` of them gained less than ``gain``
    (relative to the value where that is above one), or when ``go_on``, which is asked after each
    iteration with its number and the least value so far, says no.

    Where the function raises ``NumericalError`` or is not finite, the search goes on from the best
    point so far in a smaller box around it.
    """
    watched = _Watched(function)
    watched(start)
    message = "converged"
    for _ in range(RESTARTS):
        try:
            message = _search(
                watched, watched.point, lower, upper, method, steps, gain, patience, go_on
            )
            break
        except _NotFinite:
            message = f"ended where the objective is not finite: {watched.reason}"
            lower = watched.point + SHRINK * (lower - watched.point)
            upper = watched.point + SHRINK * (upper - watched.point)
    return Minimum(watched.point, watched.value, watched.start_value, watched.evaluations, message)


class _Watched:
    """The function with a memory: counts evaluations, keeps the best point and what is there.

    Who comes back to the best point, as every search does when it begins, gets the same answer.
    """

    def __init__(self, function: Function) -> None:
        self._function = function
        self.evaluations = 0
        self.value = self.start_value = np.inf
        self.point: Floats = np.empty(0)
        self.reason = ""
        self._gradient: Floats = np.empty(0)

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        if self.evaluations and np.array_equal(point, self.point):
            return self.value, self._gradient.copy()
        self.evaluations += 1
        try:
            value, gradient = self._function(point)
        except NumericalError as error:
            if self.evaluations == 1:
                raise
            self.reason = str(error)
            raise _NotFinite from error
        if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
            self.reason = f"value {value}, gradient {gradient}"
            if self.evaluations == 1:
                raise NumericalError(f"the objective is not finite at the start: {self.reason}")
            raise _NotFinite
        if self.evaluations == 1:
            self.start_value = value
        if value < self.value or self.evaluations == 1:
            self.value, self.point, self._gradient = value, point.copy(), gradient.copy()
        return value, gradient


def _search(
    function: _Watched,
    start: Floats,
    lower: Floats,
    upper: Floats,
    method: Method,
    steps: int,
    gain: float,
    patience: int,
    go_on: Callable[[int, float], bool],
) -> str:
    from scipy.optimize import fmin_l_bfgs_b, minimize  # here because it is slow to import

    if start.size == 0:
        return "nothing to optimise"
    start = np.clip(start, lower, upper)
    values = [function.value]

    def watch(_: Floats) -> None:
        values.append(function.value)
        if not go_on(len(values) - 1, function.value):
            raise StopIteration
        if len(values) > patience:
            gained = values[-1 - patience] - values[-1]
            if gained < gain * max(1.0, abs(values[-1])):
                raise StopIteration

    if method == "l-bfgs-b":
        # Not by minimize, which turns all bounds into objects and back, and forth once more: with
        # ten thousands of them that takes as long as the search.
        bounds = list(zip(lower.tolist(), upper.tolist(), strict=True))
        _, _, how = fmin_l_bfgs_b(
            function, start, bounds=bounds, m=MEMORY, maxiter=steps, maxls=20, callback=watch
        )
        return str(how["task"])
    # Conjugate gradients know no bounds: search u with point = centre + radius tanh(u).
    centre, radius = (lower + upper) / 2, np.maximum((upper - lower) / 2, 1e-12)

    def unbounded(u: Floats) -> tuple[float, Floats]:
        squashed = np.tanh(u)
        value, gradient = function(centre + radius * squashed)
        return value, gradient * radius * (1.0 - squashed**2)

    inside = np.clip((start - centre) / radius, -1.0 + 1e-6, 1.0 - 1e-6)
    result = minimize(
        unbounded,
        np.arctanh(inside),
        jac=True,
        method="CG",
        options={"maxiter": steps},
        callback=watch,
    )
    return str(result.message)
