"""The laws of a kernel's derivatives: in its hyperparameters, and in its inputs."""

from __future__ import annotations

import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.parts.abilities import has
from sgpc_framework.protocols import (
    Floats,
    Inputs,
    Kernel,
    KernelFusedPullback,
    KernelInputPullback,
    KernelPullback,
)
from sgpc_framework.testing.differences import EXACT, require_gradient, slope, variations
from sgpc_framework.testing.samples import is_matrix, ready, samples_for
from sgpc_framework.testing.verdict import ROUNDING, Laws, require, require_close, scale_of


def pullback_agrees_with_differences(kernel: Kernel) -> None:
    """linearised(X, Z) gives k(X, Z), and a function from G to sum(G * dK/dθ) for every θ."""
    assert has(kernel, KernelPullback)
    for varied in variations(ready(kernel)):
        for sample in samples_for(kernel):
            X, Z = sample.rest, sample.some
            K, pullback = varied.linearised(X, Z)  # type: ignore[attr-defined]
            wanted = np.array(varied(X, Z))
            require_close(K, wanted, ROUNDING * scale_of(wanted), "linearised K", sample.title)
            G = _cotangent(wanted.shape)

            def loss(moved: Kernel, X: Inputs = X, Z: Inputs = Z, G: Floats = G) -> float:
                return float(np.vdot(G, moved(X, Z)))

            size = float(np.sum(np.abs(G * wanted)))
            require_gradient(pullback(G), varied, loss, size, sample.title)


def diagonal_pullback_agrees_with_differences(kernel: Kernel) -> None:
    """linearised_diag(X) gives diag(X), and a function from g to sum(g * d diag/dθ) for every θ."""
    assert has(kernel, KernelPullback)
    for varied in variations(ready(kernel)):
        for sample in samples_for(kernel):
            diagonal, pullback = varied.linearised_diag(sample.X)  # type: ignore[attr-defined]
            wanted = np.array(varied.diag(sample.X))
            tolerance = ROUNDING * scale_of(wanted)
            require_close(diagonal, wanted, tolerance, "linearised diagonal", sample.title)
            g = _cotangent(wanted.shape)

            def loss(moved: Kernel, X: Inputs = sample.X, g: Floats = g) -> float:
                return float(np.vdot(g, moved.diag(X)))

            size = float(np.sum(np.abs(g * wanted)))
            require_gradient(pullback(g), varied, loss, size, sample.title)


def input_pullback_agrees_with_differences(kernel: Kernel) -> None:
    """input_pullback(X, Z, C) is d sum(C * k(X, Z)) / dX, of X's shape, with Z held fixed even
    where it is the same array as X.

    A kernel whose parts cannot be differentiated declines with ``InputError``.
    """
    for varied in variations(ready(kernel)):
        for sample in samples_for(kernel):
            X, Z = sample.rest, sample.some
            if not is_matrix(X):
                continue  # nothing to take differences of
            C = _cotangent((len(X), len(Z)))
            try:
                gradient = varied.input_pullback(X, Z, C)  # type: ignore[attr-defined]
            except InputError:
                return
            require(
                np.shape(gradient) == X.shape,
                f"shape {np.shape(gradient)}, not {X.shape} as that of X",
            )
            _require_input_gradient(varied, X, Z, C, gradient, sample.title)
            own = _cotangent((len(Z), len(Z)))
            itself = varied.input_pullback(Z, Z, own)  # type: ignore[attr-defined]
            copied = varied.input_pullback(Z, Z.copy(), own)  # type: ignore[attr-defined]
            rounding = ROUNDING * scale_of(copied)
            require_close(itself, copied, rounding, "input_pullback(Z, Z)", sample.title)


def fused_pullback_agrees_with_the_single_ones(kernel: Kernel) -> None:
    """linearised_in_inputs(X, Z) gives what linearised and input_pullback give, in one go."""
    for varied in variations(ready(kernel)):
        for sample in samples_for(kernel):
            X, Z = sample.rest, sample.some
            K, pullbacks = varied.linearised_in_inputs(X, Z)  # type: ignore[attr-defined]
            wanted = np.array(varied(X, Z))
            G = _cotangent(wanted.shape)
            own, inputs = pullbacks(G)
            _, pullback = varied.linearised(X, Z)  # type: ignore[attr-defined]
            pairs = {
                "K": (K, wanted),
                "hyperparameters": (own, pullback(G)),
                "inputs": (inputs, varied.input_pullback(X, Z, G)),  # type: ignore[attr-defined]
            }
            for what, (fused, single) in pairs.items():
                require(
                    np.shape(fused) == np.shape(single),
                    f"{what} of shape {np.shape(fused)}, not {np.shape(single)}",
                )
                tolerance = ROUNDING * scale_of(np.asarray(single))
                require_close(fused, single, tolerance, f"fused {what}", sample.title)


def _require_input_gradient(
    kernel: Kernel, X: Floats, Z: Floats, C: Floats, gradient: Floats, where: str
) -> None:
    # Every row of K depends on its own row of X alone, so all rows are moved at once.
    size = scale_of(np.sum(np.abs(C * kernel(X, Z)), axis=1))
    spread = max(1e-6, float(np.std(X)))
    for feature, unit in enumerate(np.eye(X.shape[1])):

        def per_row(t: float, unit: Floats = unit) -> Floats:
            return np.asarray(np.sum(C * kernel(X + t * unit, Z), axis=1))

        wanted, error = slope(per_row, 2e-4 * spread)
        tolerance = 10.0 * EXACT * (scale_of(wanted) + size / spread) + error
        what = f"derivative by feature {feature}"
        require_close(gradient[:, feature], wanted, tolerance, what, where)


def _cotangent(shape: tuple[int, ...]) -> Floats:
    return np.random.default_rng(11).standard_normal(shape)


LAWS: Laws = {
    KernelPullback: (pullback_agrees_with_differences, diagonal_pullback_agrees_with_differences),
    KernelInputPullback: (input_pullback_agrees_with_differences,),
    KernelFusedPullback: (fused_pullback_agrees_with_the_single_ones,),
}
