"""From Dask arrays and data frames to training rows on workers."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Client, default_client
from numpy.typing import NDArray

from sgpc_framework.adapters.dask.on_workers import OnWorkers
from sgpc_framework.adapters.dask.partitions import (
    ArrayReader,
    Part,
    Partitions,
    Reader,
    Survey,
    survey,
)
from sgpc_framework.adapters.dask.worker_pool import WorkerPool
from sgpc_framework.config.config import Config
from sgpc_framework.errors import ClusterError, InputError
from sgpc_framework.rows.blocks import Block, block_starts
from sgpc_framework.rows.checking import check_classes, is_dask_collection, warn_of_shares
from sgpc_framework.rows.numbering import NumbersElsewhere
from sgpc_framework.rows.training_rows import TrainingRows

PAYS = 100_000
"""With fewer rows than this a trip takes longer than the work that it shares out
(``benchmarks.scale``)."""


def rows_of_collections(
    X: Any, y: Any, sample_weight: Any, config: Config
) -> tuple[TrainingRows, NDArray[Any]]:
    """Rows on the workers of the present client, labelled by positions, and the classes."""
    parts = parts_of_collections(X, y, sample_weight)
    pool, reader = WorkerPool(present_client()), ArrayReader()
    surveys = surveyed(pool, parts, reader)
    widths = {each.facts for each in surveys if each.rows}
    if len(widths) > 1:
        raise InputError(f"X must have the same columns in all partitions, found {widths} of them")
    return laid_rows(pool, parts, reader, surveys, config)


def laid_rows(
    pool: WorkerPool, parts: list[Part], reader: Reader, surveys: list[Survey], config: Config
) -> tuple[TrainingRows, NDArray[Any]]:
    """Rows of partitions that were looked at, laid in blocks of ``config.block_rows`` rows."""
    rows, kept = sum(each.rows for each in surveys), sum(each.kept for each in surveys)
    weighed = not all(each.unweighted for each in surveys)
    classes = _classes(surveys, rows, weighed)
    if weighed:
        warn_of_shares(kept, sum(each.weight for each in surveys))
    starts = block_starts(kept, config.block_rows)
    origin = Partitions(
        pool, reader, parts, surveys, classes, weighed, kept < rows, starts, config.storage
    )
    layout = pool.layout(np.diff(starts), config.storage)
    blocks: OnWorkers[Block] = OnWorkers(layout, origin)
    total = blocks.sum(Block.total_weight) if weighed else None
    numbers = NumbersElsewhere(blocks, starts, Block.given_numbers) if kept < rows else None
    remark = _does_not_pay(kept) if kept < PAYS else None
    laid = TrainingRows(blocks, starts, weight=total, numbers=numbers, remark=remark)
    return laid, classes


def _does_not_pay(rows: int) -> str:
    return (
        f"{rows} rows were fitted on workers, where every stage waits for a few trips of some "
        f"milliseconds each: below some {PAYS} rows arrays in one process are faster"
    )


def present_client() -> Client:
    """The client that was made last; ``ClusterError`` if there is none."""
    try:
        return default_client()
    except ValueError:
        raise ClusterError(
            "rows of Dask collections stay on workers, and there is no connection to any: make one "
            "first, client = dask.distributed.Client('tcp://host:8786'), or Client() for workers "
            "on this machine"
        ) from None


def parts_of_collections(X: Any, y: Any, weight: Any) -> list[Part]:
    """The partitions of inputs, labels and weights, which have the same rows."""
    pieces = [_partitions(X), _partitions(_alike(y, X, "y"))]
    pieces.append(
        [None] * len(pieces[0])
        if weight is None
        else _partitions(_alike(weight, X, "sample_weight"))
    )
    names = ("y", "sample_weight")
    for name, other in zip(names, pieces[1:], strict=True):
        if len(other) != len(pieces[0]):
            raise InputError(
                f"{name} must have the partitions of X, {len(pieces[0])}, found {len(other)}: "
                "repartition one of them, or take both from one data frame"
            )
    return [Part(*each) for each in zip(*pieces, strict=True)]


def _alike(other: Any, X: Any, name: str) -> Any:
    """A collection with the partitions of X, where these are known."""
    known = isinstance(X, da.Array) and not np.isnan(X.chunks[0]).any()
    if not is_dask_collection(other):
        if not known:
            raise InputError(
                f"{name} must be a Dask collection with the partitions of X, found "
                f"{type(other).__name__}"
            )
        other = da.from_array(np.asarray(other), chunks=-1)
    if isinstance(other, da.Array):
        if other.ndim == 2 and other.shape[1] == 1:
            other = other[:, 0]
        if known and not np.isnan(other.chunks[0]).any():
            if other.shape[0] != X.shape[0]:
                raise InputError(
                    f"{name} must have a number for each of the {X.shape[0]} rows, found "
                    f"{other.shape[0]}"
                )
            other = other.rechunk({0: X.chunks[0]})
    return other


def partitions_of(X: Any) -> list[tuple[Delayed, float]]:
    """The partitions of a collection, and how many rows each has; NaN where nobody knows."""
    parts = _partitions(X)
    rows = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(parts)
    return list(zip(parts, rows, strict=True))


def _partitions(collection: Any) -> list[Delayed]:
    """Partitions by rows, each with all columns."""
    if isinstance(collection, da.Array) and collection.ndim == 2 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    return list(np.ravel(collection.to_delayed()))


def surveyed(pool: WorkerPool, parts: list[Part], reader: Reader) -> list[Survey]:
    """One pass over all partitions; ``InputError`` for the first that has something wrong."""
    tasks = [delayed(survey, pure=False)(reader, part.X, part.y, part.weight) for part in parts]
    surveys: list[Survey] = pool.cluster.computed(*tasks)
    before = 0
    for number, each in enumerate(surveys):
        if each.problem is not None:
            raise InputError(
                f"partition {number}, whose first row is row {before} of all: {each.problem}"
            )
        before += each.rows
    if not before:
        raise InputError("X must have at least one row, found none in any partition")
    return surveys


def _classes(surveys: list[Survey], rows: int, weighed: bool) -> NDArray[Any]:
    found = [each.labels for each in surveys if each.labels is not None and len(each.labels)]
    if not found:
        raise InputError(
            f"sample_weight must be above zero somewhere, found zero in all {rows} rows"
        )
    classes = np.unique(np.concatenate(found))
    if weighed and len(classes) < 2:
        raise InputError(
            "y must have at least 2 classes among the rows whose sample_weight is above 0, found "
            f"{classes.tolist()} only"
        )
    check_classes(classes, rows)
    return classes
