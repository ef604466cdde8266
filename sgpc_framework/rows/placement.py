"""Where blocks and shards live: the whole seam between the arithmetic and the machines.

A placement is a list of things, one for each block of rows, that may live anywhere. Whoever has one
calls a function of every thing, or of some, and gets the results in the order of the blocks, or
what they add up to; one call is one trip to the machines. What a function returns is small. What is
made of the things stays where they are.

Things may change by a call of a function that is marked (``changes_its_thing``): a placement whose
machines can fail calls these again, in their order, on a thing that was lost and is made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, runtime_checkable

from sgpc_framework.rows.threads import over_blocks
from sgpc_framework.rows.tree_sums import root, tree_sum

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")
P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])


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

    def sum(
        self, function: Callable[Concatenate[Any, P], R], /, *shared: P.args, **named: P.kwargs
    ) -> R:
        """The sum of ``function(thing, *shared)`` over all things (``tree_sums``). One trip."""
        ...

    def merge(self, function: Callable[..., R], arguments: Mapping[int, tuple[Any, ...]], /) -> R:
        """What ``some`` returns added up, where the order of additions does not matter to ``+``:
        the least of several, say. One trip."""
        ...

    def map(
        self, function: Callable[Concatenate[Any, P], S], /, *shared: P.args, **named: P.kwargs
    ) -> Placement[S]:
        """New things that stay where those are which they were made of."""
        ...


@runtime_checkable
class Regroups(Protocol):
    """A placement of blocks, some of whose rows can become other blocks without coming here."""

    def regroup(self, chosen: Any, counts: Any, starts: Any, /) -> Placement[Any]:
        """The rows that a function chooses of each block, so many, as blocks with these starts."""
        ...


def changes_its_thing(function: F) -> F:
    """Marks a function that changes what it is called of. All others leave things as they are."""
    function.changes_its_thing = True  # type: ignore[attr-defined]
    return function


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

    def sum(
        self, function: Callable[Concatenate[Any, P], R], /, *shared: P.args, **named: P.kwargs
    ) -> R:
        values = self.every(function, *shared, **named)
        return tree_sum(values, root(len(self)), len(self))

    def merge(self, function: Callable[..., R], arguments: Mapping[int, tuple[Any, ...]], /) -> R:
        return reduce(add, self.some(function, arguments))

    def map(
        self, function: Callable[Concatenate[Any, P], S], /, *shared: P.args, **named: P.kwargs
    ) -> Placement[S]:
        return ThisProcess(list(self.every(function, *shared, **named)), self._rows)
