"""Checking what users pass in, with errors that point at the culprit."""

from __future__ import annotations

import math
import warnings
from functools import reduce
from numbers import Integral
from operator import add
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.parts.calls import fault, kernel_diag, kernel_values
from sgpc_framework.protocols import Inputs, Kernel
from sgpc_framework.rows.room import room

Floats = NDArray[np.float64]

_PLAIN = (np.number, np.bool_, np.str_)
"""Scalars of NumPy's that stand for numbers and strings of Python's."""

LARGEST = 1e50
"""The largest number in X: kernels square it, polynomials more than that."""

FEW = 0.1
"""Weights whose mean is less are probably meant as shares."""

SUMS = 1e-50, 1e50
"""Between which weights add up: they are squared, and divided by one another."""

ROWS = 1 << 16
"""How many rows are looked at together."""


def checked_inputs(X: Any, width: int | None = None) -> Inputs:
    """A finite float matrix, or a one-dimensional array of objects (strings, graphs, ...).

    ``width`` is the number of features a fitted model expects.
    """
    array = _as_array(X)
    if array.dtype.kind in "OUS" and array.ndim == 1:
        if width is not None:
            raise InputError(f"X must be a matrix of {width} columns, found a list of objects")
        if len(array) == 0:
            raise InputError("X must have at least one row, found none")
        return array.astype(object)
    if array.dtype.kind not in "fiubO":
        raise InputError(f"X must hold real numbers, found {array.dtype}")
    try:
        matrix = _as_float64_file(array) if isinstance(X, np.memmap) else None
        matrix = np.ascontiguousarray(array, dtype=np.float64) if matrix is None else matrix
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"X must hold numbers{_place_of_none(array)}: {error}") from None
    if matrix.ndim != 2:
        raise InputError(
            f"X must have 2 dimensions, rows and features, found shape {matrix.shape}; "
            f"{_remedy(matrix.ndim)}"
        )
    if width is not None and matrix.shape[1] != width:
        raise InputError(f"X must have {width} columns, as in training, found {matrix.shape[1]}")
    if matrix.size == 0:
        raise InputError(f"X must have at least one row and one column, found shape {matrix.shape}")
    blocks = (Defects.of(matrix[at : at + ROWS], at) for at in range(0, len(matrix), ROWS))
    reduce(add, blocks).check()
    return matrix


@attrs.frozen
class Defects:
    """What a block of numbers may have wrong with it: the first that is not finite, how many are
    not, and the size of the largest."""

    first: tuple[float, int, int] | None
    """The number, its row and its column."""
    count: int
    largest: float

    @classmethod
    def of(cls, X: Floats, start: int) -> Defects:
        """What there is to say of a block whose first row has that number."""
        largest = max(-float(X.min()), float(X.max()))  # no copy: X may be most of the memory
        if math.isfinite(largest):
            return cls(None, 0, largest)
        bad = ~np.isfinite(X)
        row, column = np.argwhere(bad)[0].tolist()
        return cls((float(X[row, column]), start + row, column), int(np.count_nonzero(bad)), 0.0)

    def __add__(self, other: Defects) -> Defects:
        """Of two blocks, one after the other."""
        return Defects(
            self.first or other.first,
            self.count + other.count,
            max(self.largest, other.largest),
        )

    def check(self) -> None:
        """Raise if anything is wrong."""
        if self.first is not None:
            number, row, column = self.first
            raise InputError(
                f"X must be finite, found {number} at row {row}, column {column} "
                f"({self.count} such entries in all)"
            )
        if self.largest > LARGEST:
            raise InputError(
                f"X must not exceed {LARGEST:g} in size, found {self.largest:g}: rescale the "
                "features, or products of them overflow"
            )


def checked_labels(y: Any, rows: int) -> tuple[NDArray[Any], NDArray[np.unsignedinteger]]:
    """The classes in sorted order, at least two, and the position of each label among them."""
    labels = checked_label_array(y, rows)
    classes = distinct_labels(labels)
    check_classes(classes, rows)
    return classes, class_positions(classes, labels)


def checked_label_array(y: Any, rows: int) -> NDArray[Any]:
    """A label for each row, none of them missing."""
    labels = _as_array(y)
    if labels.dtype.kind in "US" and not isinstance(y, np.ndarray):
        kinds = {type(label).__name__ for label in y}
        if not kinds <= {"str", "str_", "bytes", "bytes_"}:
            raise InputError(f"the labels of y must be of one type, found {sorted(kinds)}")
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(f"y must have one dimension, found shape {labels.shape}")
    if len(labels) != rows:
        raise InputError(f"y must have a label for each of the {rows} rows, found {len(labels)}")
    refuse_missing_labels(labels)
    return labels


def distinct_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """The different labels in sorted order; objects of NumPy's become those of Python, which are
    equal to them and can be saved."""
    try:
        classes = np.unique(labels)
    except TypeError:
        raise InputError("the labels of y must be of one type that can be sorted") from None
    if classes.dtype.kind == "O":
        plain = (each.item() if isinstance(each, _PLAIN) else each for each in classes)
        return np.fromiter(plain, dtype=object, count=len(classes))
    return classes


def check_classes(classes: NDArray[Any], rows: int) -> None:
    """Raise if these cannot be the classes of so many rows."""
    if len(classes) < 2:
        raise InputError(f"y must have at least 2 classes, found {classes.tolist()} only")
    kinds = sorted({type(each).__name__ for each in classes.tolist()})
    if len(kinds) > 1:
        raise InputError(f"the labels of y must be of one type, found {kinds}")
    if classes.dtype.kind == "f" and not np.all(np.isfinite(classes)):
        raise InputError(f"the labels of y must be finite, found {classes.tolist()}")
    if len(classes) > max(2, rows // 2) and _fractional(classes):
        raise InputError(
            f"y must hold classes, found {len(classes)} different fractions in {rows} rows: this "
            "looks like a quantity; cut it into classes first"
        )


def class_positions(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.unsignedinteger]:
    """The position of each label among the classes."""
    small = np.min_scalar_type(len(classes))  # one byte a row for most: X may be most of the memory
    positions: NDArray[np.unsignedinteger] = np.searchsorted(classes, labels).astype(small)
    return positions


def refuse_missing_labels(labels: NDArray[Any]) -> None:
    """``InputError`` if there is a row without a label."""
    if labels.dtype.kind == "O":
        missing = np.fromiter(map(is_missing, labels), dtype=np.bool_, count=len(labels))
    else:
        missing = labels != labels  # NaN is the only value that differs from itself
    if np.any(missing):
        raise InputError(f"y must not have missing labels, found one at row {missing.argmax()}")


def checked_jobs(n_jobs: Any) -> int | None:
    """A number of processes as joblib has it: not zero, and below zero "all but some"."""
    if n_jobs is None or (isinstance(n_jobs, Integral) and n_jobs != 0):
        return n_jobs if n_jobs is None else int(n_jobs)
    raise InputError(
        "n_jobs must be a number of processes, -1 for one a processor, or None for this process "
        f"alone, found {n_jobs!r}"
    )


def is_missing(value: Any) -> bool:
    """Whether an object stands for nothing: None, NaN, or NA and NaT of data frames."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA does not say whether it differs from itself
        return True


def checked_weights(weights: Any, rows: int) -> Floats | None:
    """A finite weight of at least zero for each row, some above; None if every row counts one."""
    if weights is None:
        return None
    try:
        given = _as_array(weights)
        if given.dtype.kind not in "fiubO":
            raise TypeError(f"found {given.dtype}")
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"sample_weight must hold numbers: {error}") from None
    if array.shape != (rows,):
        raise InputError(
            f"sample_weight must have a number for each of the {rows} rows, found shape "
            f"{array.shape}"
        )
    improper = ~(np.isfinite(array) & (array >= 0.0))
    if improper.any():
        row = int(improper.argmax())
        raise InputError(
            f"sample_weight must be finite and not below 0, found {array[row]} at row {row} "
            f"({np.count_nonzero(improper)} such rows in all)"
        )
    if not array.any():
        raise InputError(
            f"sample_weight must be above zero somewhere, found zero in all {rows} rows"
        )
    with np.errstate(over="ignore"):
        total = array.sum()
    least, most = SUMS
    if not least <= total <= most:
        raise InputError(
            f"sample_weight must add up to between {least:g} and {most:g}, found {total:g}: divide "
            "it by its mean, or what is computed with it overflows"
        )
    return None if np.all(array == 1.0) else array


def warn_of_shares(rows: int, total: float) -> None:
    """Weights of rows that add up to one, say, are meant as shares; a fit takes them for a single
    row."""
    if total < FEW * rows:
        warnings.warn(
            f"sample_weight adds up to {total:.3g}, so that {rows} rows are taken for as much "
            "evidence as so few, and penalties and priors outweigh them. If the weights are meant "
            "as shares, pass weight * len(weight) / weight.sum()",
            UserWarning,
            stacklevel=3,
        )


def classes_with_weight(
    classes: NDArray[Any], positions: NDArray[np.unsignedinteger], weight: Floats
) -> tuple[NDArray[Any], NDArray[np.unsignedinteger]]:
    """The same without classes all of whose rows have the weight zero, as if these were not there.

    >>> classes_with_weight(np.array(["a", "b", "c"]), np.array([0, 1, 2]), np.array([1.0, 0, 2]))
    (array(['a', 'c'], dtype='<U1'), array([0, 0, 1]))
    """
    counted = np.bincount(positions, weight > 0.0, len(classes)) > 0
    if np.count_nonzero(counted) < 2:
        raise InputError(
            "y must have at least 2 classes among the rows whose sample_weight is above 0, found "
            f"{classes[counted].tolist()} only"
        )
    places = np.maximum(np.cumsum(counted) - 1, 0)
    return classes[counted], places[positions].astype(positions.dtype)


def _place_of_none(matrix: NDArray[Any]) -> str:
    """Where the first object is that is no number, if there are rows and columns."""
    if matrix.ndim != 2:
        return ""
    for (row, column), each in np.ndenumerate(matrix):
        try:
            float(each)
        except (TypeError, ValueError, OverflowError):
            return f", found none at row {row}, column {column}"
    return ""


def _remedy(dimensions: int) -> str:
    """What to write instead of an array of so many dimensions."""
    if dimensions < 2:
        return "write X.reshape(-1, 1) for a single feature"
    return (
        "numpy stacks arrays of one shape: if each of them is an object of its own (a graph, an "
        "image), use a 1-D object array, X = np.fromiter(items, dtype=object, count=len(items)); "
        "if all numbers are features, write X.reshape(len(X), -1)"
    )


def _fractional(classes: NDArray[Any]) -> bool:
    return classes.dtype.kind == "f" and bool(np.any(classes % 1 != 0))


def checked_kernel(kernel: Kernel, X: Inputs) -> None:
    """Try the kernel on one row: a clear error now is better than a strange one later."""
    value, variance = kernel_values(kernel, X[:1], X[:1])[0, 0], kernel_diag(kernel, X[:1])[0]
    if not math.isclose(value, variance, rel_tol=1e-6, abs_tol=1e-12):
        problem = f"wanted diag(X) to be the diagonal of k(X, X), {value} here, found {variance}"
        raise fault("kernel", kernel, "diag", problem)


def _as_float64_file(array: NDArray[Any]) -> Floats | None:
    """A matrix in a file as float64 in another; None where it can be used as it is."""
    if array.ndim != 2 or (array.dtype == np.float64 and array.flags.c_contiguous):
        return None
    copy = room(array.shape, np.float64, on_disk=True)
    for at in range(0, len(array), ROWS):
        copy[at : at + ROWS] = array[at : at + ROWS]
    return copy


def is_dask_collection(X: Any) -> bool:
    """Whether something is a Dask array, series or data frame; Dask need not be there to tell."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "__dask_graph__")


def _as_array(X: Any) -> NDArray[Any]:
    if type(X).__module__.split(".")[0] == "scipy":
        raise InputError("a sparse matrix is not taken; pass X.toarray()")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise InputError("masked entries are missing values, which must be filled or left out")
    if isinstance(X, np.ndarray):
        return np.asarray(X)
    try:
        return np.asarray(X)
    except ValueError:  # rows of different lengths: a list of objects
        return np.fromiter(X, dtype=object, count=len(X))
