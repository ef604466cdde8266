"""The column with the weights of the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError
from sgpc_framework.tables.table import Table

Floats = NDArray[np.float64]


def weights_of(table: Table, which: str | int) -> tuple[str, Floats]:
    """The name of a column and the weights in it: finite numbers of at least zero."""
    column = table.column(which)
    if not column.is_numeric:
        words = ", ".join(repr(word) for word in column.values[:3].tolist())
        raise InputError(
            f"{table.source}: wanted numbers in column {column.name!r}, the weights of the rows, "
            f"found {words}"
        )
    weights = column.values
    improper = ~(np.isfinite(weights) & (weights >= 0.0))
    if improper.any():
        row = int(improper.argmax())
        found = "none" if np.isnan(weights[row]) else f"{weights[row]:g}"
        raise InputError(
            f"{table.where(row, column.name)}: wanted a weight of at least 0, found {found}; a row "
            "that is not to count has the weight 0"
        )
    return column.name, weights
