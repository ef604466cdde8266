"""What a formula in JAX computes over blocks of rows: values and pullbacks, in few shapes.

JAX compiles a program for every shape that it meets, which takes a tenth of a second or more.
Blocks differ in length, so rows are padded to lengths of which there are few; what belongs to
padding is cut off, or has the cotangent zero. Padding copies the last row: a formula is never asked
for a pair of inputs that the user does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import attrs
import numpy as np

from sgpc_framework.protocols import Floats, Inputs

Theta = dict[str, Floats]
"""Hyperparameters by name, in the order of the gradients."""

EVEN = 256
"""Lengths are powers of two up to here; beyond it there are four to an octave."""


def padded_length(length: int) -> int:
    """The next of the few lengths; beyond 256 it is at most a quarter longer.

    >>> [padded_length(length) for length in (1, 2, 9, 200, 257, 1000, 1025, 10_000)]
    [1, 2, 16, 256, 320, 1024, 1280, 10240]
    """
    power = 1 << max(length - 1, 0).bit_length()
    if power <= EVEN:
        return power
    step = power // 8
    return -(-length // step) * step


PIECE = 16
"""Rows whose gradients are taken at a time; every padded length is a multiple of it, or shorter."""


@attrs.frozen
class Passes:
    """The programs of one formula, which JAX compiles when it first meets a shape."""

    _gram: Callable[..., Any]
    _gram_pullback: Callable[..., Any]
    _gram_pullbacks: Callable[..., Any]
    _diagonal: Callable[..., Any]
    _diagonal_pullback: Callable[..., Any]

    def gram(self, theta: Theta, X: Inputs, Z: Inputs) -> Floats:
        """K = k(X, Z)"""
        X, Z = _matrix(X), _matrix(Z)
        shape = len(X), len(Z)
        return np.array(_run(self._gram, theta, X, Z)[: shape[0], : shape[1]])

    def gram_pullback(self, theta: Theta, X: Inputs, Z: Inputs, G: Floats) -> Floats:
        """sum(G * dK/dθ)"""
        slopes = _run(self._gram_pullback, theta, _matrix(X), _matrix(Z), cotangent=G)
        return _vector(theta, slopes)

    def gram_pullbacks(
        self, theta: Theta, X: Inputs, Z: Inputs, G: Floats
    ) -> tuple[Floats, Floats]:
        """The same, and d sum(G * K) / dX"""
        X = _matrix(X)
        d_theta, d_X = _run(self._gram_pullbacks, theta, X, _matrix(Z), cotangent=G)
        return _vector(theta, d_theta), np.array(d_X[: len(X)])

    def diagonal(self, theta: Theta, X: Inputs) -> Floats:
        """The diagonal of k(X, X)"""
        X = _matrix(X)
        return np.array(_run(self._diagonal, theta, X)[: len(X)])

    def diagonal_pullback(self, theta: Theta, X: Inputs, G: Floats) -> Floats:
        """sum(G * d diagonal / dθ)"""
        return _vector(theta, _run(self._diagonal_pullback, theta, _matrix(X), cotangent=G))


@cache
def passes_of(function: Callable[..., Any]) -> Passes:
    """The programs of a function of two inputs and hyperparameters; one number comes out."""
    jax = _jax()

    def pair(theta: Any, x: Any, z: Any) -> Any:
        value = jax.numpy.asarray(function(x, z, **theta))
        if value.shape != () or value.dtype != "float64":
            raise TypeError(
                f"wanted {function.__name__} to return one number for two inputs, each a vector, "
                f"found an array of {value.dtype} of shape {value.shape}"
            )
        return value

    columns = jax.vmap(pair, (None, None, 0))
    gram = jax.vmap(columns, (None, 0, None))
    diagonal = jax.vmap(lambda theta, x: pair(theta, x, x), (None, 0))

    def gram_pullbacks(theta: Any, X: Any, Z: Any, G: Any) -> Any:
        def add(total: Any, piece: Any) -> Any:
            X, G = piece
            slopes, d_X = jax.vjp(lambda theta, X: gram(theta, X, Z), theta, X)[1](G)
            return jax.tree.map(jax.numpy.add, total, slopes), d_X

        total, d_X = jax.lax.scan(add, jax.tree.map(jax.numpy.zeros_like, theta), _pieces(X, G))
        return total, d_X.reshape(X.shape)

    def gram_pullback(theta: Any, X: Any, Z: Any, G: Any) -> Any:
        return gram_pullbacks(theta, X, Z, G)[0]  # what nobody wants is not computed

    def diagonal_pullback(theta: Any, X: Any, G: Any) -> Any:
        return jax.vjp(lambda theta: diagonal(theta, X), theta)[1](G)[0]

    programs = gram, gram_pullback, gram_pullbacks, diagonal, diagonal_pullback
    return Passes(*map(jax.jit, programs))


def _pieces(*arrays: Any) -> tuple[Any, ...]:
    """Some rows at a time, so that what is kept for the way back, an entry for each pair and
    feature, stays in the cache: that is three times as fast."""
    rows = min(PIECE, len(arrays[0]))
    return tuple(each.reshape(-1, rows, *each.shape[1:]) for each in arrays)


def _run(program: Any, theta: Theta, *inputs: Floats, cotangent: Floats | None = None) -> Any:
    """What a program says of padded inputs, as arrays of NumPy."""
    shape = tuple(map(padded_length, map(len, inputs)))
    filled = [_filled(X, length) for X, length in zip(inputs, shape, strict=True)]
    if cotangent is not None:
        whole = np.zeros(shape)
        whole[tuple(map(slice, np.shape(cotangent)))] = cotangent
        filled.append(whole)
    jax = _jax()
    with jax.enable_x64(True):  # for this thread, as long as it is here
        return jax.tree.map(np.asarray, program(theta, *filled))


def _matrix(X: Inputs) -> Floats:
    matrix: Floats = np.asarray(X, dtype=np.float64)
    if matrix.ndim != 2:
        raise TypeError(f"wanted a row for each input, found an array of shape {matrix.shape}")
    return matrix


def _filled(X: Floats, length: int) -> Floats:
    if not len(X):  # nothing of the answer will be kept
        return np.ones((length, X.shape[1]))
    return X if len(X) == length else np.pad(X, ((0, length - len(X)), (0, 0)), mode="edge")


def _vector(theta: Theta, slopes: Theta) -> Floats:
    """In the order of theta: JAX returns dictionaries in that of the alphabet."""
    return np.concatenate([np.zeros(0), *(slopes[name].ravel() for name in theta)])


@cache
def _jax() -> Any:
    try:
        import jax
    except ImportError as error:
        raise ImportError(
            "a kernel from a function of JAX needs JAX, which is not installed: "
            "pip install 'sgpc-framework[jax]'"
        ) from error
    return jax
