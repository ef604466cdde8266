"""Where rows come from: the partitions of Dask collections, looked at once, then cut to blocks.

The first pass looks at every partition, where it is: how many rows it has, which labels, and
whether anything is wrong with it. Only that comes to the driver. From then on it is known which
rows of which partition make a block, and Dask's own tasks bring them to the stores, from worker
to worker. A partition is read again when a worker that had some of its rows has died; should it
have other contents then, that is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise
from operator import getitem
from typing import Any, Protocol

import attrs
import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Future
from numpy.typing import NDArray

from sgpc_framework.adapters.dask.block_runs import Run, lay_runs, overlaps, runs_of
from sgpc_framework.adapters.dask.worker_pool import Worker, WorkerPool
from sgpc_framework.algebra.rounding import Storage
from sgpc_framework.errors import ClusterError, InputError
from sgpc_framework.protocols import Inputs
from sgpc_framework.rows.blocks import Contents
from sgpc_framework.rows.checking import (
    checked_inputs,
    checked_label_array,
    checked_weights,
    class_positions,
    distinct_labels,
)

Floats = NDArray[np.float64]

MOST_CLASSES = 10_000
"""More different labels in a partition are a quantity, and would be too many for the driver."""


@attrs.frozen(eq=False)
class Survey:
    """What is known of a partition. ``problem`` says what is wrong with it, if anything is."""

    rows: int = 0
    labels: NDArray[Any] | None = None
    """The different labels of rows that count, in order."""
    kept: int = 0
    """How many rows have a weight above zero."""
    weight: float = 0.0
    unweighted: bool = True
    """Whether every row counts one."""
    digest: bytes = b""
    facts: Any = None
    """What its reader says of it."""
    problem: str | None = None


@attrs.frozen(eq=False)
class Part:
    """One partition, as Dask knows it: inputs, labels and weights."""

    X: Delayed
    y: Delayed
    weight: Delayed | None


class Reader(Protocol):
    """From a partition to arrays, on the worker where it is."""

    def contents(self, X: Any, y: Any, weight: Any) -> Contents | None:
        """Inputs, labels and weights, checked; None if the partition is empty."""
        ...

    def facts(self, contents: Contents) -> Any:
        """What else is to be known of a partition."""
        ...

    def arrays(self, X: Inputs) -> Sequence[NDArray[Any]]:
        """All that the inputs consist of."""
        ...

    def inputs(self, X: Inputs) -> Inputs:
        """What a fit sees of the inputs."""
        ...


class ArrayReader:
    """Matrices of numbers, or objects, with labels beside them."""

    def contents(self, X: Any, y: Any, weight: Any) -> Contents | None:
        if not len(X):
            if len(y):
                raise InputError(f"y must have a label for each of the 0 rows, found {len(y)}")
            return None
        inputs = checked_inputs(X)
        labels = checked_label_array(y, len(inputs))
        return Contents(inputs, labels, given_weights(weight, len(inputs)))

    def facts(self, contents: Contents) -> int | None:
        """The number of features; None for objects."""
        return contents.X.shape[1] if contents.X.ndim == 2 else None

    def arrays(self, X: Inputs) -> Sequence[NDArray[Any]]:
        return (X,)

    def inputs(self, X: Inputs) -> Inputs:
        return X


def given_weights(weight: Any, rows: int) -> Floats | None:
    """Weights of a partition, checked; elsewhere some may count if here none does."""
    if weight is None:
        return None
    given = np.asarray(weight, dtype=np.float64)
    if given.shape != (rows,) or given.any():
        checked_weights(given, rows)
    return given


def survey(reader: Reader, X: Any, y: Any, weight: Any) -> Survey:
    """Look at a partition, on the worker where it is."""
    try:
        contents = reader.contents(X, y, weight)
        if contents is None:
            return Survey()
        w = contents.weight
        labels = contents.y if w is None else contents.y[w > 0.0]
        found = distinct_labels(labels)
        if len(found) > MOST_CLASSES:
            raise InputError(
                f"y must hold classes, found {len(found)} different values: this looks like a "
                "quantity; cut it into classes first"
            )
        facts = reader.facts(contents)
    except InputError as error:
        return Survey(problem=str(error))
    return Survey(
        len(contents.y),
        found,
        len(labels),
        float(len(labels)) if w is None else float(w.sum()),
        w is None or bool(np.all(w == 1.0)),
        _digest(reader, contents),
        facts,
    )


def cut(
    X: Any,
    y: Any,
    weight: Any,
    reader: Reader,
    known: Survey,
    classes: NDArray[Any],
    weighed: bool,
    numbered: bool,
    before: int,
    edges: Sequence[int],
) -> list[Contents]:
    """The rows of a partition that count, between each two of some edges, with positions among the
    classes as labels."""
    contents = reader.contents(X, y, weight)
    if contents is None or _digest(reader, contents) != known.digest:
        raise ClusterError(
            "a partition has other contents than when it was looked at first: rows must not change "
            "during a fit. If they are computed at random, call persist() before"
        )
    w = np.ones(known.rows) if contents.weight is None else contents.weight
    kept = np.flatnonzero(w)
    some = contents if len(kept) == len(w) else contents[kept]
    labels = class_positions(classes, some.y).astype(np.float64)
    X = reader.inputs(some.X)
    whole = Contents(X, labels, w[kept] if weighed else None, before + kept if numbered else None)
    return [whole[start:stop] for start, stop in pairwise(edges)]


def _digest(reader: Reader, contents: Contents) -> bytes:
    """What tells contents from others."""
    sum_ = blake2b(digest_size=16)
    for array in (*reader.arrays(contents.X), contents.y, contents.weight):
        if array is None:
            continue
        if array.dtype.hasobject:
            for each in array:
                plain = each.tobytes() if isinstance(each, np.ndarray) else each
                sum_.update(repr(plain).encode())
        else:
            sum_.update(np.ascontiguousarray(array).data.cast("B"))
    return sum_.digest()


@attrs.frozen(eq=False)
class Partitions:
    """Partitions that have been looked at, and how they make blocks."""

    pool: WorkerPool
    reader: Reader
    parts: Sequence[Part]
    surveys: Sequence[Survey]
    classes: NDArray[Any]
    weighed: bool
    numbered: bool
    """Whether blocks have to know what their rows were called, because some were left out."""
    starts: NDArray[np.intp]
    """The numbers of the blocks' first rows and, at the end, that of all rows that count."""
    storage: Storage

    def make(self, name: str, by_worker: Mapping[Worker, tuple[int, ...]]) -> None:
        """Lay some blocks, each where it belongs."""
        runs = runs_of(by_worker, self.starts)
        edges = np.cumsum([0, *(survey.kept for survey in self.surveys)])
        wanted: dict[int, set[int]] = {}
        for run in runs:
            for part, begin, end in overlaps(edges, run.start, run.stop):
                wanted.setdefault(part, set()).update((begin, end))
        cuts = {part: sorted(ends) for part, ends in wanted.items()}
        client = self.pool.client
        tasks = [self._cut(part, ends) for part, ends in cuts.items()]
        whole = dict(zip(cuts, client.compute(tasks), strict=True))

        def pieces(run: Run) -> Iterator[Future]:
            for part, begin, end in overlaps(edges, run.start, run.stop):
                for at in range(cuts[part].index(begin), cuts[part].index(end)):
                    yield client.submit(getitem, whole[part], at, pure=False)

        lay_runs(self.pool, name, runs, self.storage, pieces)

    def _cut(self, part: int, edges: list[int]) -> Delayed:
        each = self.parts[part]
        known = attrs.evolve(self.surveys[part], facts=None)
        before = sum(survey.rows for survey in self.surveys[:part])
        return delayed(cut, pure=False)(
            *(each.X, each.y, each.weight, self.reader, known),
            *(self.classes, self.weighed, self.numbered, before, edges),
        )
