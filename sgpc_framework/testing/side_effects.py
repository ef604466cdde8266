"""What a part must not leave in the wrong place: in its row functions, or in its memory."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.testing.verdict import Violation

VERBS = ("argmin", "sample", "total")
GENERATORS = (
    np.random.Generator,
    np.random.BitGenerator,
    np.random.RandomState,
    random.Random,
)
MOST = 10_000
"""So many objects of a memory are looked at."""


class WatchedPosterior:
    """A posterior whose verbs look whether a row function changes what it was made with."""

    def __init__(self, posterior: Posterior, where: str) -> None:
        self._posterior, self._where = posterior, where

    def __len__(self) -> int:
        return len(self._posterior)

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._posterior, name)
        return self._watched(verb) if name in VERBS else verb

    def _watched(self, verb: Callable[..., Any]) -> Callable[..., Any]:
        def call(function: Any, *others: Any, **named: Any) -> Any:
            before, said = deepcopy(dict(_closed_over(function))), list[tuple[Any, Any]]()

            def heard(rows: Any) -> Any:
                answer = function(rows)
                said.append((answer, deepcopy(answer)))
                return answer

            answer = verb(heard, *others, **named)
            for now, was in said:
                if not _same(was, now):
                    raise Violation(
                        f"what a row function said of a block was changed by its next call "
                        f"({self._where}): return a new array each time, not one that is kept"
                    )
            for name, now in _closed_over(function):
                if not _same(before[name], now):
                    raise Violation(
                        f"{name!r} was changed by a row function ({self._where}): return numbers "
                        "instead, because where the rows are elsewhere it changes a copy"
                    )
            return answer

        return call


class CountedPosterior:
    """A posterior that counts how often it is asked for something of the rows."""

    def __init__(self, posterior: Posterior) -> None:
        self._posterior, self.trips = posterior, 0

    def __len__(self) -> int:
        return len(self._posterior)

    def __getattr__(self, name: str) -> Any:
        if name in (*VERBS, "candidates", "marginals", "eligible"):
            self.trips += 1
        return getattr(self._posterior, name)


def holds_generator(memory: object) -> bool:
    """Whether a random generator can be reached from an object."""
    left, seen = [memory], set[int]()
    while left and len(seen) < MOST:
        each = left.pop()
        if isinstance(each, GENERATORS):
            return True
        if id(each) not in seen and not isinstance(each, type | ModuleType | Posterior):
            seen.add(id(each))
            left.extend(_inside(each))
    return False


def _inside(each: object) -> Iterator[object]:
    if isinstance(each, dict):
        yield from each.values()
    elif isinstance(each, list | tuple | set | frozenset):
        yield from each
    elif isinstance(each, FunctionType):
        yield from (value for _, value in _cells(each))
    elif not isinstance(each, np.ndarray | str | bytes):
        yield from getattr(each, "__dict__", {}).values()
        for name in getattr(type(each), "__slots__", ()):
            yield getattr(each, name, None)


def _cells(function: Any) -> Iterator[tuple[str, Any]]:
    cells = getattr(function, "__closure__", None) or ()
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, cells, strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # empty, as yet
            continue


def _closed_over(function: Any) -> Iterator[tuple[str, Any]]:
    """What a function may change without anybody's knowing, by name."""
    for name, value in _cells(function):
        if isinstance(value, np.ndarray | list | dict | set | bytearray):
            yield name, value


def _same(before: Any, now: Any) -> bool:
    if isinstance(before, np.ndarray):
        return np.array_equal(before, now, equal_nan=before.dtype.kind == "f")
    try:
        return bool(before == now)
    except ValueError:  # arrays inside, which have no single answer
        return len(before) == len(now)
