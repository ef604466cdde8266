"""The thorough laws of a kernel: hundreds of rows, wide ranges, hyperparameters near their bounds.

A distance of points far from the origin has lost digits, so what is rounding grows with the inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar

import numpy as np

from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.hyperparameters import FreeVector, hyperparameters, replaced, values
from sgpc_framework.protocols import Floats, Inputs, Kernel, KernelColumns, KernelPullback
from sgpc_framework.testing.differences import require_gradient
from sgpc_framework.testing.samples import is_matrix, started, width
from sgpc_framework.testing.verdict import (
    ROUNDING,
    Laws,
    require,
    require_close,
    require_equal,
    require_finite,
    scale_of,
)
from sgpc_framework.testing.whole_fits import training_set

C = TypeVar("C")

ROWS = 300
FEW = 24
LARGE = 10_000
"""More rows than a block of a fit has."""


def finite_over_wide_ranges(kernel: Kernel) -> None:
    """k(X, X) and diag(X) are finite for hundreds of rows, small inputs and large, and
    hyperparameters near their bounds."""
    for varied, X, where in _cases(kernel):
        require_finite(varied(X, X), "k(X, X)", where)
        require_finite(varied.diag(X), "diag(X)", where)


def symmetric_and_positive_semidefinite_over_wide_ranges(kernel: Kernel) -> None:
    """k(X, X) of hundreds of rows is symmetric, and no eigenvalue is negative by more than
    rounding."""
    for varied, X, where in _cases(kernel):
        K = np.array(varied(X, X), dtype=np.float64)
        if not np.all(np.isfinite(K)):
            continue  # which another check reports
        rounding = _rounding(K, X)
        require_close(K.T, K, rounding, "k(X, X)ᵀ", where)
        eigenvalues = np.linalg.eigvalsh((K + K.T) / 2.0)
        require(
            eigenvalues[0] >= -len(K) * rounding,
            f"an eigenvalue {eigenvalues[0]:.6g}, where the largest is {eigenvalues[-1]:.6g} "
            f"({where})",
        )


def diagonal_agrees_over_wide_ranges(kernel: Kernel) -> None:
    """diag(X) is the diagonal of k(X, X), for hundreds of rows and wide ranges."""
    for varied, X, where in _cases(kernel):
        K = np.array(varied(X, X), dtype=np.float64)
        require_close(varied.diag(X), np.diagonal(K), _rounding(K, X), "diag(X)", where)


def same_values_in_large_blocks(kernel: Kernel) -> None:
    """Thousands of rows have the values that they have some at a time, and whatever was asked
    before."""
    X = training_set(kernel, rows=LARGE if _takes_vectors(kernel) else ROWS).X
    kernel = started(kernel, X[np.arange(ROWS)])
    Z = X[np.arange(5)]
    few = [X[part] for part in np.array_split(np.arange(len(X)), 40)]
    pieces = np.concatenate([np.array(kernel(piece, Z)) for piece in few])
    diagonals = np.concatenate([np.array(kernel.diag(piece)) for piece in few])
    where = f"{len(X)} rows at once and {len(few[0])} at a time"
    rounding = _rounding(pieces, X)
    require_close(kernel(X, Z), pieces, rounding, "k(X, Z)", where)
    require_close(np.transpose(kernel(Z, X)), pieces, rounding, "k(Z, X)ᵀ", where)
    require_close(kernel.diag(X), diagonals, rounding, "diag(X)", where)
    if has(kernel, KernelColumns):
        columns = kernel.columns_of(X)(Z)
        require_close(np.transpose(columns), pieces, rounding, "columns_of(X)(Z)ᵀ", where)


def a_second_large_call_leaves_the_first_result_alone(kernel: Kernel) -> None:
    """A large block of values stays as it is while the kernel is asked for another one."""
    X = training_set(kernel, rows=LARGE if _takes_vectors(kernel) else ROWS).X
    kernel = started(kernel, X[np.arange(ROWS)])
    for Z in (X[np.arange(5)], X[np.arange(1)]):
        first, diagonal = kernel(X, Z), kernel.diag(X)
        kept, kept_diagonal = np.array(first), np.array(diagonal)
        other = X[np.arange(len(X))[::-1]]
        kernel(other, Z)
        kernel.diag(other)
        where = f"{len(X)} rows against {len(Z)}, then others"
        require_equal(first, kept, "k(X, Z) after another call", where)
        require_equal(diagonal, kept_diagonal, "diag(X) after another call", where)


def pullbacks_agree_near_the_bounds(kernel: Kernel) -> None:
    """linearised and linearised_diag have the derivatives of the values with hyperparameters near
    their bounds, too."""
    assert has(kernel, KernelPullback)
    X = training_set(kernel, rows=FEW).X
    Z = X[np.arange(FEW // 3)]
    for varied, where in _near_the_bounds(started(kernel, X)):
        K, pullback = varied.linearised(X, Z)
        G = np.random.default_rng(12).standard_normal(np.shape(K))

        def loss(moved: Kernel, G: Floats = G) -> float:
            return float(np.vdot(G, moved(X, Z)))

        require_gradient(pullback(G), varied, loss, float(np.sum(np.abs(G * K))), where)
        diagonal, pullback = varied.linearised_diag(X)
        g = G[:, 0]

        def loss_of_diagonal(moved: Kernel, g: Floats = g) -> float:
            return float(np.vdot(g, moved.diag(X)))

        size = float(np.sum(np.abs(g * diagonal)))
        require_gradient(pullback(g), varied, loss_of_diagonal, size, where)


LAWS: Laws = {
    Kernel: (
        finite_over_wide_ranges,
        symmetric_and_positive_semidefinite_over_wide_ranges,
        diagonal_agrees_over_wide_ranges,
        same_values_in_large_blocks,
        a_second_large_call_leaves_the_first_result_alone,
    ),
    KernelPullback: (pullbacks_agree_near_the_bounds,),
}


def _cases(kernel: Kernel) -> Iterator[tuple[Kernel, Inputs, str]]:
    """The kernel on inputs of all sizes and, with other hyperparameters, on ordinary ones."""
    ordinary = training_set(kernel, rows=ROWS).X
    for X, where in _inputs(kernel, ordinary):
        yield started(kernel, X), X, where
    for varied, where in _near_the_bounds(started(kernel, ordinary)):
        yield varied, ordinary, where


def _inputs(kernel: Kernel, ordinary: Inputs) -> Iterator[tuple[Inputs, str]]:
    yield ordinary, f"{ROWS} rows"
    if not is_matrix(ordinary):
        return
    yield ordinary[np.arange(ROWS) // 4], f"{ROWS} rows, four of each"
    for factor in (1e-3, 30.0, 1e3):
        yield factor * ordinary, f"{ROWS} rows, inputs times {factor:g}"
    yield ordinary + 50.0, f"{ROWS} rows, inputs plus 50"
    if all(each.position is None for each in hyperparameters(kernel)):
        for features in (1, 2, 20, 200):
            X = _normal(features)
            if width(kernel) != features:
                yield X, f"{ROWS} rows of {features} features"


def _near_the_bounds(kernel: C) -> Iterator[tuple[C, str]]:
    """Each hyperparameter by itself, and all together, at a tenth of the way from each bound."""
    box, natural = FreeVector.of(kernel), values(kernel)
    if not len(natural):
        return
    with np.errstate(divide="ignore"):  # a bound of zero is infinitely far in logarithms
        low, high = box.free(box.least), box.free(box.most)
    here = box.free(natural)
    low, high = np.maximum(low, here - 5.0), np.minimum(high, here + 5.0)
    for ends in (low + 0.1 * (high - low), high - 0.1 * (high - low)):
        for which in (*np.eye(len(here), dtype=bool), np.ones(len(here), dtype=bool)):
            theta = box.natural(np.where(which, ends, here))
            yield replaced(kernel, theta), f"hyperparameters {np.round(theta, 6).tolist()}"


@cache
def _normal(features: int) -> Floats:
    return np.random.default_rng(features).standard_normal((ROWS, features))


def _takes_vectors(kernel: Kernel) -> bool:
    return is_matrix(training_set(kernel, rows=2).X)


def _rounding(K: Floats, X: Any) -> float:
    reach = scale_of(X) if is_matrix(X) else 1.0
    return ROUNDING * scale_of(K) * max(1.0, reach)
