"""Where blocks and shards live: the whole seam between the arithmetic and the machines.

A placement is a list of things, one for each block of rows, that may live anywhere. Whoever has one
calls a function of every thing, or of some, and gets the results in the order of the blocks; one
call is one trip to the machines. What a function returns is small. What is made of the things stays
where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from sgpc_framework.rows.threads import over_blocks

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")
P = ParamSpec("P")


class Placement(Protocol[T_co]):
    """Things that live somewhere, one for each block."""

    def __len__(self) -> int: ...

    def every(
        self, function: Callable[Concatenate[Any, P], R], /, *shared: P.args, **named: P.kwargs
    ) -> Iterator[R]:
        """``function(thing, *shared)`` of every thing, in order. One trip."""
        ...

    def some(
        self, function: Callable[..., R], arguments: Mapping[int, tuple[Any, ...]], /
    ) -> list[R]:
        """``function(thing, *arguments[i])`` of the things numbered so, in order. One trip."""
        ...

    def made(
        self, function: Callable[Concatenate[Any, P], S], /, *shared: P.args, **named: P.kwargs
    ) -> Placement[S]:
        """New things that stay where those are which they were made of."""
        ...


class ThisProcess(Generic[T]):
    """The placement of one process, over threads where there are many rows."""

    def __init__(self, things: Sequence[T], rows: int) -> None:
        self._things = things
        self._rows = rows

    def __len__(self) -> int:
        return len(self._things)

    def every(
        self, function: Callable[Concatenate[Any, P], R], /, *shared: P.args, **named: P.kwargs
    ) -> Iterator[R]:
        return over_blocks(
            lambda thing: function(thing, *shared, **named), self._things, self._rows
        )

    def some(
        self, function: Callable[..., R], arguments: Mapping[int, tuple[Any, ...]], /
    ) -> list[R]:
        if len(arguments) == 1:
            ((number, given),) = arguments.items()
            return [function(self._things[number], *given)]
        pairs = [(self._things[number], arguments[number]) for number in sorted(arguments)]
        return list(over_blocks(lambda pair: function(pair[0], *pair[1]), pairs, self._rows))

    def made(
        self, function: Callable[Concatenate[Any, P], S], /, *shared: P.args, **named: P.kwargs
    ) -> Placement[S]:
        return ThisProcess(list(self.every(function, *shared, **named)), self._rows)
