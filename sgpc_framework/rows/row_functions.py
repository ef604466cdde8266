"""Row-local functions of plugins: what they return is checked, and summed for each trial."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.parts.calls import fault
from sgpc_framework.rows.view import Rows

Floats = NDArray[np.float64]
RowFunction = Callable[[Rows], NDArray[np.float64] | NDArray[np.bool_]]


def check_likelihood(rows: Rows) -> None:
    """Raise if a moment is not finite: that is the likelihood's fault."""
    for name, values in rows.moments._asdict().items():
        bad = np.flatnonzero(~np.isfinite(values).reshape(-1, len(rows)).all(axis=0))
        if len(bad):
            i = int(bad[0])
            raise fault(
                "likelihood",
                rows.likelihood,
                "moments",
                f"wanted finite {name}, found {values[..., i]} for label {rows.y[i]}, "
                f"mean {rows.mean[..., i]}, variance {rows.variance[i]}",
            )


def one_a_row(row_function: RowFunction, rows: Rows) -> Floats:
    """The values of a row-local function, if it returns one for each row."""
    values = np.asarray(row_function(rows), dtype=np.float64)
    if values.shape != (len(rows),):
        raise ValueError(
            f"a row-local function must return one number for each of {len(rows)} rows, "
            f"found shape {values.shape}{_advice(rows)}"
        )
    return values


def _advice(rows: Rows) -> str:
    if rows.mean.ndim == 1:
        return ""
    return (
        f": {len(rows.mean)} latent functions have mean, alpha and nu with a row each. A part that "
        'knows one function only can be used with strategy = "one-vs-rest"'
    )


def sums_of_trials(values: object, trials: int, rows: Rows) -> Floats:
    """The sums of each trial (first axis), of rows that stand one trial after the other."""
    array = np.asarray(values)
    if array.shape[-1:] != (len(rows),):
        raise ValueError(
            f"a row-local function must return a number for each of {len(rows)} rows along its "
            f"last axis, found shape {array.shape}"
        )
    sums = rows.weighed(array).reshape(*array.shape[:-1], trials, -1).sum(axis=-1)
    return sums if sums.ndim == 1 else np.moveaxis(sums, -1, 0)
