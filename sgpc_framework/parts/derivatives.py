"""Derivatives of any kernel: its own exact pullback where it has one, differences where not.

Whoever needs a kernel's gradient asks here, so that a kernel that offers no more than its values
can still be tuned, alone or as a part of another kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import blame, kernel_diag, kernel_values, real_array
from sgpc_framework.parts.hyperparameters import FreeVector, replaced, values
from sgpc_framework.protocols import (
    Floats,
    Inputs,
    Kernel,
    KernelFusedPullback,
    KernelInputPullback,
    KernelPullback,
    Likelihood,
    LikelihoodPullback,
    Pullback,
)

if TYPE_CHECKING:
    from sgpc_framework.rows.view import Rows

C = TypeVar("C")
Pullbacks = Callable[[Floats], tuple[Floats, Floats]]

STEP = 6e-6
"""About the cube root of the machine precision, where a difference's rounding and truncation
errors balance: both are then some 1e-10 of the value."""


def linearised(kernel: Kernel, X: Inputs, Z: Inputs) -> tuple[Floats, Pullback]:
    """K = k(X, Z), and the function from G to sum(G * dK/dθ) for every hyperparameter θ.

    The function may remember K: do not write into K before its last call.
    """
    if not has(kernel, KernelPullback):
        return _numerically(kernel, lambda moved: kernel_values(moved, X, Z))
    with blame("kernel", kernel, "linearised"):
        K, pullback = kernel.linearised(X, Z)
        return real_array(K, (len(X), len(Z))), _checked(kernel, "linearised", pullback)


def linearised_diag(kernel: Kernel, X: Inputs) -> tuple[Floats, Pullback]:
    """The same for the diagonal of k(X, X) and a vector G."""
    if not has(kernel, KernelPullback):
        return _numerically(kernel, lambda moved: kernel_diag(moved, X))
    with blame("kernel", kernel, "linearised_diag"):
        diagonal, pullback = kernel.linearised_diag(X)
        return real_array(diagonal, (len(X),)), _checked(kernel, "linearised_diag", pullback)


def input_pullback(kernel: Kernel, X: Inputs, Z: Inputs, G: Floats) -> Floats:
    """d sum(G * k(X, Z)) / dX, of a kernel that has ``KernelInputPullback``."""
    if not has(kernel, KernelInputPullback):
        raise InputError(
            f"kernel {kernel.name!r} cannot be differentiated in its inputs: wanted one with "
            "input_pullback (KernelInputPullback), or leave the basis vectors where they are"
        )
    with blame("kernel", kernel, "input_pullback"):
        return real_array(kernel.input_pullback(X, Z, G), np.shape(X))


def in_hyperparameters(kernel: Kernel, X: Inputs, Z: Inputs) -> tuple[Floats, Pullbacks]:
    """``linearised_in_inputs`` for inputs that stay: the second gradient is empty."""
    K, pullback = linearised(kernel, X, Z)
    return K, lambda G: (pullback(G), np.empty(0))


def linearised_in_inputs(kernel: Kernel, X: Inputs, Z: Inputs) -> tuple[Floats, Pullbacks]:
    """K = k(X, Z), and the function from G to sum(G * dK/dθ) and d sum(G * K) / dX."""
    if not has(kernel, KernelFusedPullback):
        K, pullback = linearised(kernel, X, Z)
        return K, lambda G: (pullback(G), input_pullback(kernel, X, Z, G))
    call = "linearised_in_inputs"
    with blame("kernel", kernel, call):
        K, pullbacks = kernel.linearised_in_inputs(X, Z)
        K = real_array(K, (len(X), len(Z)))

    def checked(G: Floats) -> tuple[Floats, Floats]:
        with blame("kernel", kernel, f"the pullback of {call}"):
            own, inputs = pullbacks(G)
            return complete(kernel, own), real_array(inputs, np.shape(X))

    return K, checked


def _checked(kernel: Kernel, call: str, pullback: Pullback) -> Pullback:
    def checked(G: Floats) -> Floats:
        with blame("kernel", kernel, f"the pullback of {call}"):
            return complete(kernel, pullback(G))

    return checked


def complete(component: object, gradient: Floats) -> Floats:
    """The gradient, if it has an entry for each hyperparameter of the component."""
    wanted = (len(values(component)),)
    if np.shape(gradient) != wanted:
        raise ValueError(f"wanted a gradient of shape {wanted}, found {np.shape(gradient)}")
    return gradient


def _numerically(component: C, evaluate: Callable[[C], Floats]) -> tuple[Floats, Pullback]:
    def pullback(G: Floats) -> Floats:
        return np.array([np.vdot(G, slope) for slope in _slopes(component, evaluate)])

    return evaluate(component), pullback


def _slopes(component: C, evaluate: Callable[[C], Floats]) -> Iterator[Floats]:
    """dK/dθ for one hyperparameter after the other.

    A step is taken in free coordinates, where one size suits all. The three points a step apart
    are moved just so far that they lie inside the bounds; the slope is that of the parabola
    through them, which is the central difference wherever nothing had to be moved.
    """
    coordinates = FreeVector.of(component)
    natural = values(component)
    free = coordinates.free(natural)
    low, high = coordinates.free(coordinates.least), coordinates.free(coordinates.most)
    stretch = coordinates.chain(natural, np.ones_like(natural))  # d natural / d free

    for i, transform in enumerate(coordinates.transforms):
        step = STEP * max(1.0, abs(free[i])) if transform == "identity" else STEP
        middle = np.clip(free[i], low[i] + step, high[i] - step)
        t = (free[i] - middle) / step
        slope = np.zeros(())
        for side, weight in ((-1, t - 0.5), (0, -2.0 * t), (1, t + 0.5)):
            if weight:
                moved = free.copy()
                moved[i] = middle + side * step
                slope = slope + weight * evaluate(replaced(component, coordinates.natural(moved)))
        yield slope / (step * stretch[i])


def likelihood_gradient(likelihood: Likelihood, rows: Rows, cotangent: Floats) -> Floats:
    """sum(cotangent * d log_z / dθ) for every hyperparameter θ of the likelihood."""
    if has(likelihood, LikelihoodPullback):
        moments = rows.moments
        with blame("likelihood", likelihood, "pullback"):
            gradient = likelihood.pullback(rows.y, rows.mean, rows.variance, moments, cotangent)
            return complete(likelihood, gradient)
    _, pullback = _numerically(
        likelihood, lambda moved: moved.moments(rows.y, rows.mean, rows.variance).log_z
    )
    return pullback(cotangent)
