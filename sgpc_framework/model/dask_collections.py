"""Predictions of Dask collections, for every class that predicts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from sgpc_framework.rows.checking import is_dask_collection

F = TypeVar("F", bound=Callable[..., Any])


def lazy_where_the_rows_are(method: F) -> F:
    """A method that takes rows takes Dask collections, too, and returns a lazy Dask array."""

    @wraps(method)
    def predict(self: Any, *rows: Any, **named: Any) -> Any:
        given = [*rows, *named.values()]
        if len(given) == 1 and is_dask_collection(given[0]):
            from sgpc_framework.adapters.dask.lazy_predictions import lazy_prediction

            return lazy_prediction(self, method.__name__, given[0])
        return method(self, *rows, **named)

    return predict  # type: ignore[return-value]
