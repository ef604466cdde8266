"""From files to arrays: tables of numbers and words, and how they become matrices.

``files`` reads CSV, Parquet, npz and libsvm text into a ``Table``; ``encoding`` learns how a table
becomes a matrix.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sgpc_framework.tables.encoding import Encoding
    from sgpc_framework.tables.files import read_table
    from sgpc_framework.tables.table import Column, Table

__all__ = ["Column", "Encoding", "Table", "read_table"]

_HOME = {
    "Column": "table",
    "Encoding": "encoding",
    "Table": "table",
    "read_table": "files",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
