"""Raetsch's own collection: ``benchmarks.mat``, as G. Cawley and T. Diethe gave it out.

It has a MATLAB structure for each set, with the fields

    x      distinct patterns x features
    t      their labels, -1 or +1
    train  splits x training rows, the numbers of patterns from one on
    test   splits x test rows, likewise

A pattern that the set has twice is there once and its number twice in a split, so a split has as
many rows as the set.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.datasets.catalogue import Facts, check_rows
from sgpc_framework.datasets.generated import Floats
from sgpc_framework.errors import InputError

FILE_NAME = "benchmarks.mat"
FIELDS = ("x", "t", "train", "test")


def has_set(path: Path, name: str) -> bool:
    """Whether the collection has that set; a file that cannot be read is an ``InputError``."""
    from scipy.io import whosmat

    with _reading(path):
        return name in {variable for variable, *_ in whosmat(path)}


def read_raetsch(path: Path, name: str, facts: Facts, partition: int) -> tuple[Floats, Floats, str]:
    """The rows in the order training, test, their labels, and whose division it is.

    Beyond the splits of the file the division is random, the same for the same number. Where the
    signs of the classes are exchanged in the file, they are as in ``facts`` here.
    """
    x, t, train, test = _fields(path, name)
    count = min(len(train), len(test))
    split = min(partition, count - 1)
    rows = np.concatenate([train[split], test[split]]).astype(np.intp) - 1
    if rows.min(initial=0) < 0 or rows.max(initial=0) >= len(x):
        raise InputError(
            f"{path}: wanted pattern numbers of 1 to {len(x)} in split {split + 1} of {name}, "
            f"found {rows.min() + 1} to {rows.max() + 1}"
        )
    X, y = x[rows].astype(np.float64), t.ravel()[rows].astype(np.float64)
    if len(np.unique(rows)) < len(x):
        raise InputError(f"{path}: wanted every pattern in split {split + 1} of {name}")
    if int(np.sum(y == 1)) == facts.negative != facts.positive:
        y = -y
    check_rows({"X": X, "y": y}, facts, f"{path}, {name}")
    if partition < count:
        return X, y, f"Raetsch's split {partition + 1}"
    order = np.random.default_rng(partition).permutation(len(y))
    return X[order], y[order], f"random partition {partition}"


def _fields(path: Path, name: str) -> tuple[NDArray[Any], NDArray[Any], Any, Any]:
    from scipy.io import loadmat

    with _reading(path):
        structure = loadmat(path, variable_names=[name])[name]
    names = structure.dtype.names or ()
    missing = [field for field in FIELDS if field not in names]
    if missing or structure.size != 1:
        raise InputError(
            f"{path}: wanted {name} to be a structure with the fields {', '.join(FIELDS)}, "
            f"found {', '.join(names) or structure.dtype} in shape {structure.shape}"
        )
    matrices = tuple(structure[field].item() for field in FIELDS)
    x, t, train, test = matrices
    if (
        any(array.ndim != 2 or array.dtype.kind not in "fiu" for array in matrices)
        or len(x) != t.size
    ):
        shapes = ", ".join(f"{f} {a.dtype}{a.shape}" for f, a in zip(FIELDS, matrices, strict=True))
        raise InputError(f"{path}: wanted matrices of numbers in {name}, found {shapes}")
    if not len(train) or not len(test):
        raise InputError(f"{path}: wanted at least one split of {name}, found none")
    return x, t, train, test


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turns what scipy says of a file that it cannot read into an ``InputError``."""
    try:
        yield
    except Exception as error:  # of any kind, as it happens to stumble
        raise InputError(
            f"{path}: wanted a MATLAB file of version 4 to 7: {error}; fetch it again"
        ) from error
