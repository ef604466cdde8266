"""The floors: bare NumPy scripts of only the unavoidable operations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

Floats = NDArray[np.float64]


def inner_loop(X: Floats, y: Floats, lengthscale: float, stages: int) -> Floats:
    """A stage: one kernel column, one product with M, Phi over the rows, and the updates.

    The rows are drawn in advance and the sites are made up: choosing is not unavoidable.
    """
    n = len(y)
    M, mean, variance = np.empty((stages, n)), np.zeros(n), np.ones(n)
    norms = np.einsum("ij,ij->i", X, X)
    for stage, j in enumerate(np.random.default_rng(0).permutation(n)[:stages]):
        column = X @ X[j]
        column -= 0.5 * (norms + norms[j])
        column /= lengthscale**2
        np.exp(column, out=column)
        column -= M[:stage, j] @ M[:stage]
        log_z = log_ndtr(y * mean / np.sqrt(1.0 + variance))
        mean += 0.1 * column
        variance -= 0.1 * column**2
        M[stage] = np.sqrt(0.1) * column
    return log_z


def kernel_block(basis: Floats, rows: Floats, lengthscale: float) -> Floats:
    """The squared exponential of all pairs, in the memory of one product."""
    K = basis @ rows.T
    K -= 0.5 * np.einsum("ij,ij->i", basis, basis)[:, None]
    K -= 0.5 * np.einsum("ij,ij->i", rows, rows)
    K /= lengthscale**2
    return np.exp(K, out=K)


def value_and_gradient(X: Floats, basis: Floats, T: Floats, lengthscale: float) -> Floats:
    """Step 6: one kernel block and three products of n d² operations."""
    M = T @ kernel_block(basis, X, lengthscale)
    V = T.T @ M
    return V @ V.T


def predict(X: Floats, basis: Floats, F: Floats, lengthscale: float) -> Floats:
    """Prediction in blocks: a kernel block, one product of d² operations a row, Phi."""
    blocks = []
    for start in range(0, len(X), 8192):
        functions = F @ kernel_block(basis, X[start : start + 8192], lengthscale)
        mean = functions.sum(axis=0)
        np.square(functions, out=functions)
        blocks.append(log_ndtr(mean / np.sqrt(1.0 + functions.sum(axis=0))))
    return np.concatenate(blocks)
