"""Weighted squared distances between rows, and the sums over pairs that their derivatives need.

Nothing here builds a rows x rows x features tensor: products of matrices do the work. Distances
do not change when both arguments move together, so both are first moved to a common point near
the origin; otherwise |x|² - 2 x·z + |z|² would lose its digits.
"""

from __future__ import annotations

import numpy as np

from sgpc_framework.protocols import Floats

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
    smaller = A if len(A) < len(B) else B
    smaller *= -2.0 * weights
    r2: Floats = A @ B.T
    r2 += a[:, None]
    r2 += b
    rounding = (8 + len(weights)) * np.finfo(np.float64).eps
    r2[r2 <= rounding * a[:, None]] = 0.0  # near pairs have equal norms, so one of them will do
    return r2


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


def feature_sums(W: Floats, X: Floats, Z: Floats) -> Floats:
    """Σ_ij W_ij (x_if - z_jf)² for every feature f."""
    A, B = centred(X, Z)
    crossed: Floats = np.einsum("if,if->f", A, W @ B)
    sums: Floats = W.sum(axis=1) @ (A * A) - 2.0 * crossed + W.sum(axis=0) @ (B * B)
    return sums


def row_sums(W: Floats, X: Floats, Z: Floats) -> Floats:
    """Σ_j W_ij (x_if - z_jf) for every row i and feature f."""
    A, B = centred(X, Z)
    A *= W.sum(axis=1)[:, None]
    A -= W @ B
    return A


def _squared_norms(A: Floats, weights: Floats) -> Floats:
    norms: Floats = (A * A) @ weights
    return norms
