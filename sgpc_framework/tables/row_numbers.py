"""Columns of numbers that are no measurements, but numbers of the rows."""

from __future__ import annotations

import re

import numpy as np

from sgpc_framework.tables.table import Column

FEWEST = 20
"""In fewer rows, numbers that all differ are no surprise, unless they count the rows."""

_NAME = re.compile(
    r"(.*[\W_])?(id|ids|uid|uuid|key|index|idx|no|nr|num|number|row|rowid|record)", re.IGNORECASE
)
_CAMEL = re.compile(r".*[a-z](Id|ID|No|Nr|Key|Number|Index)")


def looks_like_row_number(column: Column) -> bool:
    """Whether each row has a whole number of its own, and they count, rise, or have such a name.

    >>> looks_like_row_number(Column("case", np.arange(7.0)))
    True
    >>> looks_like_row_number(Column("customer_id", np.random.default_rng(0).permutation(50) * 7.0))
    True
    >>> looks_like_row_number(Column("income", np.random.default_rng(0).permutation(50) * 7.0))
    False
    """
    values = column.values
    if not column.is_numeric or len(values) < 3 or not np.isfinite(values).all():
        return False
    if np.any(values % 1.0) or len(np.unique(values)) < len(values):
        return False
    if np.all(np.diff(values) == 1.0):
        return True
    if len(values) < FEWEST:
        return False
    dense = values.max() - values.min() == len(values) - 1
    rises = bool(np.all(np.diff(values) > 0.0))
    return bool(dense) or rises or is_identifier(column.name)


def is_identifier(name: str) -> bool:
    """Whether a column is called like something that tells rows apart.

    >>> [*filter(is_identifier, ("id", "order-no", "userId", "paid", "valid", "age"))]
    ['id', 'order-no', 'userId']
    """
    return bool(_NAME.fullmatch(name) or _CAMEL.fullmatch(name))
