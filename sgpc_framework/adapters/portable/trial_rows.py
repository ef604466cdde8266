"""Random rows that an exported model is tried with: where the model knows something, and beyond."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.adapters.portable.formula import Formula
from sgpc_framework.tables.feature_columns import DateColumn, NumberColumn

Floats = NDArray[np.float64]

MISSING = 0.1
"""The share of missing values, in columns that have something to put there."""

DATES = (-(2**32), 2**33)
"""From 1833 to 2242, in seconds: leap days of every kind are among them."""

UNSEEN = "a word that training has not seen"


def trial_rows(formula: Formula, count: int, rng: np.random.Generator) -> list[list[Any]]:
    """Cells of so many rows: numbers, words, dates, and ``None`` where the model fills in."""
    X = _features(formula, count, rng)
    if formula.encoding is None:
        return [list(row) for row in X.tolist()]
    columns: list[list[Any]] = []
    at = 0
    for column in formula.encoding.columns:
        if isinstance(column, NumberColumn):
            values = (column.mean + column.scale * X[:, at]).tolist()
        elif isinstance(column, DateColumn):
            seconds = rng.integers(*DATES, size=count).astype("datetime64[s]")
            values = np.datetime_as_string(seconds).tolist()
        else:
            known = [*column.words, *([UNSEEN] * (formula.encoding.unseen == "zero"))]
            values = [known[i] for i in rng.integers(len(known), size=count)]
        if column.fill is not None:
            gone = rng.random(count) < MISSING
            values = [None if g else v for g, v in zip(gone, values, strict=True)]
        columns.append(values)
        at += len(column.features)
    return [list(row) for row in zip(*columns, strict=True)]


def _features(formula: Formula, count: int, rng: np.random.Generator) -> Floats:
    """Points around basis vectors, as far from them as these are from each other."""
    basis = np.concatenate([process.inputs for process in formula.processes])
    spread = basis.std(axis=0)
    spread[spread == 0.0] = 1.0
    near = basis[rng.integers(len(basis), size=count)]
    far = rng.choice([0.1, 1.0, 3.0], size=(count, 1))
    return np.asarray(near + far * spread * rng.normal(size=near.shape))
