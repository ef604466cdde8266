"""What lives on a worker: blocks and shards, and the one call that reaches them.

A store is an actor of Dask, of which a fit has one on every worker. It is asked by bytes and
answers by bytes: the question is pickled once for all workers, and nobody on the way has to
understand it. Things are known by the name of their placement and the number of their block.
"""

from __future__ import annotations

import os
import pickle
import platform
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from importlib.metadata import PackageNotFoundError, version
from operator import add
from typing import Any, Literal
from weakref import WeakValueDictionary

import attrs
import cloudpickle

from sgpc_framework.rows.threads import MANY_ROWS, one_blas_thread, over_blocks
from sgpc_framework.rows.tree_sums import Node, largest_nodes, tree_sum

STORES: WeakValueDictionary[str, WorkerStore] = WeakValueDictionary()
"""The stores of this process by name. Dask keeps them alive, as long as their driver does."""

Gather = Literal["each", "sum", "merge", "nothing"]
"""What comes back: the result of every thing, the sums of nodes, one merged result, or nothing."""


@attrs.frozen
class Order:
    """What to do with the things of one placement: ``function(thing, *shared, **named)``, or with
    arguments for each thing."""

    placement: str
    numbers: tuple[int, ...]
    call: bytes
    """Function, shared arguments and named ones, pickled."""
    gather: Gather
    blocks: int
    """How many blocks there are in all."""
    own: Mapping[int, tuple[Any, ...]] | None = None
    """Arguments for each thing, instead of shared ones."""
    made: str | None = None
    """The placement of what is made, if the results are to stay here."""
    drop: tuple[str, ...] = ()
    """Placements that nobody needs any more."""
    threads: int = 1


@attrs.frozen
class Replay:
    """Do again what has changed some things: the calls in their order, and after how many of them
    each of the things began to compute all moments, if it did."""

    placement: str
    numbers: tuple[int, ...]
    calls: tuple[bytes, ...]
    with_moments: Mapping[int, int]
    threads: int = 1


@attrs.frozen
class Keep:
    """Keep new things."""

    placement: str
    things: Mapping[int, Any]
    threads: int = 1


@attrs.frozen
class Answer:
    """What came of an order. A thing that raised is known by its number."""

    results: Any = None
    with_moments: tuple[int, ...] = ()
    """The things that have begun to compute all moments."""
    failed: int = -1
    error: BaseException | None = None
    unknown: str | None = None
    """The placement that is not here, as in a process that began anew."""


class WorkerStore:
    """The things of one fit in one process."""

    def __init__(self, name: str) -> None:
        self._things: dict[str, dict[int, Any]] = {}
        self._with_moments: set[tuple[str, int]] = set()
        STORES[name] = self

    def versions(self) -> dict[str, str]:
        """What the bits depend on in this process."""
        return versions()

    def call(self, question: bytes) -> bytes:
        """Carry out an order; whatever happens is an answer."""
        try:
            order = pickle.loads(question)
            threads = order.threads
            with one_blas_thread(threads):
                answer = self._answer(order)
        except Exception as error:
            answer = Answer(error=_sendable(error))
        return _pickled(answer)

    def _answer(self, order: Order | Replay | Keep) -> Answer:
        if isinstance(order, Keep):
            self.put(order.placement, order.things)
            return Answer()
        return self._redo(order) if isinstance(order, Replay) else self._carry_out(order)

    def put(self, placement: str, things: Mapping[int, Any]) -> None:
        """Keep new things."""
        self._things.setdefault(placement, {}).update(things)
        self._with_moments.difference_update((placement, number) for number in things)

    def peek(self, placement: str, number: int) -> Any:
        """One of the things."""
        return self._things[placement][number]

    def _carry_out(self, order: Order) -> Answer:
        for name in order.drop:
            self._things.pop(name, None)
        mine = self._things.get(order.placement, {})
        if any(number not in mine for number in order.numbers):
            return Answer(unknown=order.placement)
        function, shared, named = pickle.loads(order.call)

        def one(number: int) -> Any:
            arguments = shared if order.own is None else order.own[number]
            try:
                return function(mine[number], *arguments, **named)
            except Exception as error:
                raise _Failure(number, error) from error

        try:
            values = over_blocks(one, order.numbers, MANY_ROWS)
            return self._gathered(order, values)
        except _Failure as failure:
            return Answer(failed=failure.number, error=_sendable(failure.error))

    def _gathered(self, order: Order, values: Iterator[Any]) -> Answer:
        results: Any = None
        if order.made is not None:
            self.put(order.made, dict(zip(order.numbers, values, strict=True)))
        elif order.gather == "each":
            results = list(values)
        elif order.gather == "sum":
            results = _sums(values, order.numbers, order.blocks)
        elif order.gather == "merge":
            results = reduce(add, values)
        else:
            for _ in values:
                pass
        return Answer(results, self._new_with_moments(order.placement, order.numbers))

    def _redo(self, order: Replay) -> Answer:
        mine = self._things.get(order.placement, {})
        if any(number not in mine for number in order.numbers):
            return Answer(unknown=order.placement)
        calls = [pickle.loads(call) for call in order.calls]

        def one(number: int) -> None:
            thing = mine[number]
            for done, (function, shared, named) in enumerate(calls):
                if order.with_moments.get(number) == done:
                    thing.compute_all_moments()
                function(thing, *shared, **named)
            if order.with_moments.get(number) == len(calls):
                thing.compute_all_moments()

        for _ in over_blocks(one, order.numbers, MANY_ROWS):
            pass
        return Answer(with_moments=self._new_with_moments(order.placement, order.numbers))

    def _new_with_moments(self, placement: str, numbers: Iterable[int]) -> tuple[int, ...]:
        mine = self._things[placement]
        new = [
            number
            for number in numbers
            if getattr(mine[number], "computes_all_moments", False)
            and (placement, number) not in self._with_moments
        ]
        self._with_moments.update((placement, number) for number in new)
        return tuple(new)


def versions() -> dict[str, str]:
    """What the bits of a fit depend on besides the numbers: packages, and the kind of machine."""
    found = {"machine": platform.machine(), "SGPC_FAST": os.environ.get("SGPC_FAST", "")}
    for package in ("sgpc-framework", "numpy", "scipy", "numba"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "none"
    return found


class _Failure(Exception):
    def __init__(self, number: int, error: Exception) -> None:
        super().__init__(number)
        self.number = number
        self.error = error


def _sums(values: Iterator[Any], numbers: Sequence[int], blocks: int) -> dict[Node, Any]:
    return {node: tree_sum(values, node, blocks) for node in largest_nodes(numbers, blocks)}


def _sendable(error: BaseException) -> BaseException:
    """An error that the driver can unpickle, with a note of where it was raised."""
    where = "".join(traceback.format_exception(error))
    try:
        pickle.loads(cloudpickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    error.__cause__ = error.__context__ = None
    error.__traceback__ = None
    error.add_note(f"raised on a worker:\n{where}")
    return error


def _pickled(answer: Answer) -> bytes:
    try:
        return pickle.dumps(answer, protocol=5)
    except Exception:
        return bytes(cloudpickle.dumps(answer))
