"""From files to arrays and back: tables of numbers and words, and classifiers that take them.

    from sgpc_framework.tables import TableClassifier, read_table

    classifier = TableClassifier.fit(read_table("train.csv"), target="species")
    classifier.predict(read_table("new.csv"))

``table_files`` reads CSV, Parquet, npz and libsvm text into a ``Table``; ``encoding`` learns how a
table becomes a matrix; ``table_classifier`` holds that together with a model.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sgpc_framework.tables.encoding import Encoding
    from sgpc_framework.tables.table import Column, Table
    from sgpc_framework.tables.table_classifier import TableClassifier
    from sgpc_framework.tables.table_files import read_table

__all__ = ["Column", "Encoding", "Table", "TableClassifier", "read_table"]

_HOME = {
    "Column": "table",
    "Encoding": "encoding",
    "Table": "table",
    "TableClassifier": "table_classifier",
    "read_table": "table_files",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
