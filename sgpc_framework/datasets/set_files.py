"""Where the files of benchmark sets are, and their rows in the order training, test."""

from __future__ import annotations

import os
from pathlib import Path

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.datasets.catalogue import Arrays, Facts, check_rows
from sgpc_framework.datasets.generated import Floats
from sgpc_framework.datasets.raetsch import FILE_NAME, has_set, read_raetsch
from sgpc_framework.errors import InputError

FOLDER_VARIABLE = "SGPC_DATA_DIR"


@attrs.frozen(eq=False)
class DividedRows:
    """All rows of a set, those to train with first, and how they were divided."""

    X: Floats
    y: Floats
    source: str


def folder() -> Path | None:
    """The folder that the environment variable names."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else None


def file_of(name: str) -> Path | None:
    """The file that has the set: all of Raetsch's, if it is there, or the one of the set alone."""
    where = folder()
    if where is None:
        return None
    together, alone = where / FILE_NAME, where / f"{name}.npz"
    if together.is_file() and has_set(together, name):
        return together
    return alone if alone.is_file() else None


def read_divided(name: str, facts: Facts, path: Path, partition: int) -> DividedRows:
    """The rows of the file, divided by its splits, or at random beyond them."""
    if path.name == FILE_NAME:
        return DividedRows(*read_raetsch(path, name, facts, partition))
    arrays = check_rows(_arrays(path), facts, path)
    rows, source = _division(arrays, partition, path)
    return DividedRows(
        arrays["X"].astype(np.float64)[rows], arrays["y"].astype(np.float64)[rows], source
    )


def _arrays(path: Path) -> Arrays:
    """All arrays of the file, by name. Nothing in it is ever unpickled."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except OSError:
        raise
    except Exception as problem:  # of a zip file, of compression, of a header read as Python, ...
        raise InputError(
            f"{path}: wanted an npz file of plain arrays: {problem}; fetch it again"
        ) from problem


def _division(arrays: Arrays, partition: int, path: Path) -> tuple[NDArray[np.intp], str]:
    """The rows in the order training, test; and what kind of division that is."""
    count = len(arrays["y"])
    for prefix, whose in (("", "Raetsch's"), ("libsvm_", "LIBSVM's")):
        train, test = (arrays.get(f"{prefix}{part}") for part in ("train", "test"))
        if train is None or test is None or partition >= min(len(train), len(test)):
            continue
        rows = np.concatenate([train[partition], test[partition]]).astype(np.intp)
        if not np.array_equal(np.sort(rows), np.arange(count)):
            raise InputError(f"{path}: wanted every row once in split {partition + 1}")
        return rows, f"{whose} split {partition + 1}"
    return np.random.default_rng(partition).permutation(count), f"random partition {partition}"
