"""Strings as arrays of bytes, so that numpy can compare all of them at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sgpc_framework.authors import InputError, Inputs

Strings = tuple[str, ...]
Bytes = NDArray[np.uint8]


def strings(kernel: str, X: Inputs) -> Strings:
    """The rows as a tuple, which can be the key of a cache: strings remember their hashes.

    Strings of numpy's own type are equal to ordinary ones, so they need no conversion.
    """
    rows: Sequence[object] = X.tolist() if isinstance(X, np.ndarray) else list(X)
    for number, row in enumerate(rows):
        if not isinstance(row, str):
            raise InputError(
                f"kernel {kernel!r} wants strings, found an object of type "
                f"{type(row).__name__} at row {number}"
            )
    return tuple(rows)  # type: ignore[arg-type]  # every one of them was just asked


def letters(rows: Strings) -> tuple[Bytes, NDArray[np.intp]]:
    """One column for each string, padded with zeros at the end, and the strings' lengths.

    Position comes first: an operation at one position is then one pass over contiguous rows.
    """
    lengths = np.array([len(row) for row in rows], dtype=np.intp)
    longest = int(lengths.max(initial=0))
    try:
        text = "".join(row.ljust(longest, "\0") for row in rows).encode("latin-1")
    except UnicodeEncodeError as error:
        letter = error.object[error.start]
        raise InputError(
            f"letters must be among the first 256 of Unicode (one byte each), found {letter!r}"
        ) from None
    columns = np.frombuffer(text, dtype=np.uint8).reshape(len(rows), longest).T
    return np.ascontiguousarray(columns), lengths


def sample(rows: int, rng: np.random.Generator, alphabet: str = "ACGT") -> NDArray[np.object_]:
    """Random strings of 8 to 12 letters, for whoever needs some inputs."""
    made = ["".join(rng.choice(list(alphabet), size=rng.integers(8, 13))) for _ in range(rows)]
    return np.array(made, dtype=object)
