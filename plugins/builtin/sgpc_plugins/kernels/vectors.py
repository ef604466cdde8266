"""What a kernel on feature vectors checks before it computes: its inputs and its settings."""

from __future__ import annotations

import numpy as np

from sgpc_framework.authors import Floats, InputError, Inputs, Kernel


def matrix(kernel: Kernel, X: Inputs) -> Floats:
    """The inputs as a float matrix, one row each; a copy only if they are another type."""
    array = np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise InputError(
            f"kernel {kernel.name!r} wants a matrix of numbers (rows x features), found "
            f"{type(X).__name__} of shape {array.shape} and type {array.dtype}"
            + ("; a single feature is X[:, None]" if array.dtype.kind in "fiub" else "")
        )
    return array.astype(np.float64, copy=False)


def matrices(kernel: Kernel, X: Inputs, Z: Inputs) -> tuple[Floats, Floats]:
    """Both arguments as float matrices of one width."""
    left, right = matrix(kernel, X), matrix(kernel, Z)
    if left.shape[1] != right.shape[1]:
        raise InputError(
            f"kernel {kernel.name!r} wants two matrices with the same features, "
            f"found {left.shape[1]} and {right.shape[1]} features"
        )
    return left, right


def number(kernel: Kernel, field: str, value: float | str) -> float:
    """A setting that must have become a number by now."""
    if isinstance(value, str):
        raise InputError(
            f"kernel {kernel.name!r} still has the word {value!r} for its {field}: a fit takes the "
            f"number from the data, kernel.started(X) does so by hand, or give a number"
        )
    return value


def per_feature(
    kernel: Kernel, field: str, value: float | tuple[float, ...] | str, width: int
) -> Floats:
    """One number for each of ``width`` features, from a setting of one number or one for each."""
    if not isinstance(value, tuple):
        return np.full(width, number(kernel, field, value))
    if len(value) != width:
        raise InputError(
            f"kernel {kernel.name!r} has {len(value)} numbers for its {field}, but the inputs have "
            f"{width} features: give one number for each feature, or one for all"
        )
    return np.array(value)
