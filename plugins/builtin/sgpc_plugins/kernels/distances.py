"""Weighted squared distances between rows, and the sums over pairs that their derivatives need.

Nothing here builds a rows x rows x features tensor: products of matrices do the work. Distances
do not change when both arguments move together, so both are first moved to a common point near
the origin; otherwise |x|² - 2 x·z + |z|² would lose its digits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sgpc_framework.authors import Floats, compiled

_TWIN = "sgpc_plugins.kernels.distances_compiled"
FAR = 1e3  # squared norms below this cost no digit that matters: r² is known to some 1e-13
NEAR = 1e-4  # a pair this much closer than it is far out has lost four digits of r²
_BLOCK = 1 << 16  # numbers in a temporary: half a megabyte, which stays in the cache


def squared_distances(X: Floats, Z: Floats, weights: Floats) -> Floats:
    """The matrix of r²_ij = Σ_f weights_f (x_if - z_jf)², a new array.

    Nothing is negative, and pairs that rounding cannot tell from equal ones are at distance zero:
    a square root would make 1e-8 out of a rounding error of 1e-16.
    """
    if len(Z) == 1:
        return to_point(X, Z[0], weights)[:, None]
    if len(X) == 1:
        return to_point(Z, X[0], weights)[None, :]
    A, B = centred(X, Z)
    a, b = _squared_norms(A, weights), _squared_norms(B, weights)
    # Two more columns let the product add the norms: two passes over the matrix less.
    r2: Floats = _with_columns(A * (-2.0 * weights), a, 1.0) @ _with_columns(B, 1.0, b).T
    if a.max(initial=0.0) + b.max(initial=0.0) > FAR:
        _recompute_near_pairs(r2, a, b, X, Z, weights)
    else:
        rounding = (8 + len(weights)) * np.finfo(np.float64).eps
        r2[r2 <= rounding * a[:, None]] = 0.0  # near pairs have equal norms: one of them will do
    return r2


def _recompute_near_pairs(
    r2: Floats, a: Floats, b: Floats, X: Floats, Z: Floats, weights: Floats
) -> None:
    """Pairs that are near each other but far out have lost their digits: take differences."""
    rows, columns = np.nonzero(r2 < NEAR * (a[:, None] + b))
    step = max(1, _BLOCK // max(1, len(weights)))
    for start in range(0, len(rows), step):
        i, j = rows[start : start + step], columns[start : start + step]
        r2[i, j] = _squared_norms(X[i] - Z[j], weights)


def distances_to(X: Floats, weights: Floats) -> Callable[[Floats], Floats]:
    """The function from Z to the squared distances of its rows (rows) to those of X (columns).

    The squared norms of X are computed once. Rows that are far out go the careful way.
    """
    norms = _squared_norms(X, weights)
    if norms.max(initial=0.0) > FAR:
        return lambda Z: squared_distances(Z, X, weights)
    nearly_zero = (8 + len(weights)) * np.finfo(np.float64).eps * norms
    doubled = -2.0 * weights

    def distances(Z: Floats) -> Floats:
        if len(Z) == 1:  # what every stage asks for
            z = Z[0]
            scaled = z * doubled
            r2: Floats = X @ scaled
            _add_norms(r2, norms, nearly_zero, -0.5 * float(scaled @ z))
            return r2[None]
        r2 = (Z * doubled) @ X.T
        r2 += norms
        r2 += _squared_norms(Z, weights)[:, None]
        r2[r2 <= nearly_zero] = 0.0
        return r2

    return distances


def _add_norms(products: Floats, norms: Floats, nearly_zero: Floats, norm: float) -> None:
    """From -2 x·z to |x|² - 2 x·z + |z|², in place; what rounding cannot tell from zero is zero."""
    if twin := compiled(_TWIN):
        twin.add_norms(products, norms, nearly_zero, norm)
        return
    products += norms
    products += norm
    products[products <= nearly_zero] = 0.0


def to_point(X: Floats, z: Floats, weights: Floats) -> Floats:
    """Σ_f weights_f (x_if - z_f)² for every row, by direct differences: as accurate as can be."""
    r2 = np.empty(len(X))
    rows = max(1, _BLOCK // max(1, len(weights)))
    for start in range(0, len(X), rows):
        block = slice(start, start + rows)
        r2[block] = _squared_norms(X[block] - z, weights)
    return r2


def centred(X: Floats, Z: Floats) -> tuple[Floats, Floats]:
    """Copies of both, moved by the mean of the one with fewer rows."""
    fewer = X if len(X) < len(Z) else Z
    centre = fewer.sum(axis=0) / max(1, len(fewer))
    return X - centre, Z - centre


class PairSums:
    """Sums over pairs of rows of what differs between them, weighted by a matrix W."""

    def __init__(self, W: Floats, X: Floats, Z: Floats) -> None:
        self._W = W
        self._A, self._B = centred(X, Z)
        self._weights = W.sum(axis=1)
        self._crossed: Floats = W @ self._B

    def differences(self) -> Floats:
        """Σ_j W_ij (x_if - z_jf) for every row i and feature f."""
        weighted: Floats = self._A * self._weights[:, None]
        weighted -= self._crossed
        return weighted

    def other_differences(self) -> Floats:
        """Σ_i W_ij (z_jf - x_if) for every row j and feature f."""
        weighted: Floats = self._B * self._W.sum(axis=0)[:, None]
        weighted -= self._W.T @ self._A
        return weighted

    def squares(self) -> Floats:
        """Σ_ij W_ij (x_if - z_jf)² for every feature f."""
        A, B = self._A, self._B
        crossed: Floats = np.einsum("if,if->f", A, self._crossed)
        sums: Floats = self._weights @ (A * A) - 2.0 * crossed + self._W.sum(axis=0) @ (B * B)
        return sums


def _with_columns(A: Floats, *columns: Floats | float) -> Floats:
    """The matrix with more columns to its right."""
    wider = np.empty((len(A), A.shape[1] + len(columns)))
    wider[:, : A.shape[1]] = A
    for position, column in enumerate(columns, start=A.shape[1]):
        wider[:, position] = column
    return wider


def _squared_norms(A: Floats, weights: Floats) -> Floats:
    norms: Floats = (A * A) @ weights
    return norms
