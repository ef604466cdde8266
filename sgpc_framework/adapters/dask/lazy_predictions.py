"""Predictions of Dask collections: a lazy Dask array, computed where the rows are."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from sgpc_framework.adapters.dask.collections import partitions_of


def lazy_prediction(predictor: Any, method: str, X: Any) -> Any:
    """``predictor.method(X)`` for each partition of X, when somebody computes it.

    A row for each row of X; the columns are the classes, if there are any.
    """
    classes = predictor.classes
    width = () if method == "predict" else (len(classes),)
    kind = classes.dtype if method == "predict" else np.dtype(np.float64)
    sender = delayed(predictor, pure=False)
    blocks = []
    for part, rows in partitions_of(X):
        block = delayed(_predicted, pure=False)(sender, method, part, width, kind)
        blocks.append(da.from_delayed(block, (rows, *width), dtype=kind))
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def _predicted(predictor: Any, method: str, part: Any, width: tuple[int, ...], kind: Any) -> Any:
    if not len(part):
        return np.empty((0, *width), dtype=kind)
    return getattr(predictor, method)(part)
