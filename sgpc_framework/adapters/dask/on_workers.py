"""The placement over Dask's workers: one call a worker and a trip.

What is needed to make a thing again is kept here, at the driver: of what it was made, how, and the
calls that have changed it since. That is little: an inclusion is a few rows. A trip makes again
what is missing before it asks.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar
from uuid import uuid4

import attrs
import cloudpickle
import numpy as np
from distributed import Future
from numpy.typing import NDArray

from sgpc_framework.adapters.dask.crew import Crew, Family, Lost, Post, persistently
from sgpc_framework.adapters.dask.laying import lay_runs, overlaps, pick, runs_of
from sgpc_framework.adapters.dask.station import Again, Answer, Gather, Keep, Order
from sgpc_framework.errors import PluginError
from sgpc_framework.rows.placement import Placement
from sgpc_framework.rows.tree_sums import Node, joined_sum, root

T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")
P = ParamSpec("P")
Numbers = NDArray[np.intp]


class Origin(Protocol):
    """How the things of a placement come about, on the posts where they belong."""

    def make(self, name: str, by_post: Mapping[Post, tuple[int, ...]]) -> None:
        """Make some things under a name; ``Lost`` if a worker is."""
        ...


class OnWorkers(Generic[T]):
    """Things in the stations of a crew, one for each block of a family."""

    def __init__(self, family: Family, origin: Origin) -> None:
        self._family = family
        self._crew = self.crew = family.crew
        self.storage = family.storage
        self._origin = origin
        self.name = uuid4().hex[:16]
        self._at: list[Post | None] = [None] * len(family)
        """Where each thing is, if it is."""
        self._changes: list[bytes] = []
        """The calls that changed the things, in order."""
        self._changed = [0] * len(family)
        """How many of them each thing has seen."""
        self._habits: dict[int, int] = {}
        """After how many of them each thing began to compute all moments."""
        self._crew.unneeded(self, self.name)
        self.be_there(range(len(family)))

    def __len__(self) -> int:
        return len(self._family)

    def __reduce__(self) -> tuple[Any, ...]:
        """A row-local function may refer to all rows, as a method of who has them does. On the
        workers it cannot reach them."""
        return OutOfReach, (len(self),)

    def post(self, number: int) -> Post:
        """Where a thing belongs."""
        return self._family.posts[number]

    # -- the seam ------------------------------------------------------------------------------

    def every(
        self, function: Callable[Concatenate[Any, P], R], /, *shared: P.args, **named: P.kwargs
    ) -> Iterator[R]:
        return iter(self._one_by_one(_pickled(function, shared, named), None))

    def some(
        self, function: Callable[..., R], arguments: Mapping[int, tuple[Any, ...]], /
    ) -> list[R]:
        return self._one_by_one(_pickled(function, (), {}), arguments)

    def sum(
        self, function: Callable[Concatenate[Any, P], R], /, *shared: P.args, **named: P.kwargs
    ) -> R:
        changes = getattr(function, "changes_its_thing", False)
        call = _pickled(function, shared, named)
        sums: dict[Node, R] = {}
        for _, found in self._trip(call, "sum", None, changes):
            sums.update(found)
        return joined_sum(sums, root(len(self)), len(self))

    def merged(self, function: Callable[..., R], arguments: Mapping[int, tuple[Any, ...]], /) -> R:
        parts = self._trip(_pickled(function, (), {}), "merge", arguments)
        (_, whole), *others = parts
        for _, part in others:
            whole = whole + part
        return whole  # type: ignore[no-any-return]

    def made(
        self, function: Callable[Concatenate[Any, P], S], /, *shared: P.args, **named: P.kwargs
    ) -> Placement[S]:
        return OnWorkers(self._family, _Made(self, _pickled(function, shared, named)))

    def regrouped(self, chosen: Any, counts: Numbers, starts: Numbers, /) -> Placement[Any]:
        edges = np.cumsum([0, *counts])
        return OnWorkers(
            self._crew.family(np.diff(starts), self.storage),
            _Regrouped(self, chosen, edges, starts),
        )

    def pieces(self, chosen: Any, numbers: Iterable[tuple[int, int, int]]) -> list[Future]:
        """Tasks that bring the rows which a function chooses of blocks, from one to another."""
        return [
            self._crew.client.submit(
                pick,
                *(self._family.posts[number].station, self.name, number, chosen, begin, end),
                workers=[self._family.posts[number].address],
                allow_other_workers=False,
                pure=False,
            )
            for number, begin, end in numbers
        ]

    # -- trips ---------------------------------------------------------------------------------

    def _one_by_one(self, call: bytes, own: Mapping[int, tuple[Any, ...]] | None) -> list[Any]:
        found: dict[int, Any] = {}
        for numbers, results in self._trip(call, "each", own):
            found.update(zip(numbers, results, strict=True))
        return [found[number] for number in sorted(found)]

    def _trip(
        self,
        call: bytes,
        gather: Gather,
        own: Mapping[int, tuple[Any, ...]] | None = None,
        changes: bool = False,
    ) -> list[tuple[tuple[int, ...], Any]]:
        """Results of runs of things, whoever has to be asked for them."""
        missing = set(range(len(self)) if own is None else own)
        found: list[tuple[tuple[int, ...], Any]] = []
        if changes:
            self._changes.append(call)

        def attempt() -> None:
            self._be_there(missing)
            by_post = self._family.by_post(missing)
            answers = self._ask(by_post, call, gather, own)
            for post, answer in answers.items():
                numbers = by_post[post]
                found.append((numbers, answer.results))
                missing.difference_update(numbers)
                for number in numbers if changes else ():
                    self._changed[number] += 1
                for number in answer.habits:
                    self._habits.setdefault(number, self._changed[number])
            if missing:
                raise Lost

        persistently(self._crew, attempt)
        return found

    def _ask(
        self,
        by_post: Mapping[Post, tuple[int, ...]],
        call: bytes,
        gather: Gather,
        own: Mapping[int, tuple[Any, ...]] | None = None,
        made: str | None = None,
    ) -> dict[Post, Answer]:
        """The answers of those who gave one; the others are lost from now on."""
        order = Order(self.name, (), call, gather, len(self), made=made)
        questions = {}
        for post, numbers in by_post.items():
            each = attrs.evolve(
                order,
                numbers=numbers,
                own=None if own is None else {number: own[number] for number in numbers},
                drop=self._crew.useless(post),
                threads=post.threads,
            )
            questions[post] = _pickled_order(each)
        return self._sound(self._crew.answers(questions))

    def _sound(self, answers: Mapping[Post, Answer | None]) -> dict[Post, Answer]:
        """The answers, if none of them is an error; who gave none is lost from now on."""
        errors = [each for each in answers.values() if each is not None and each.error is not None]
        if errors:
            first = min(errors, key=lambda each: each.failed)
            assert first.error is not None
            raise first.error
        for post, answer in answers.items():
            if answer is None:
                self._crew.lose(post)
        return {post: answer for post, answer in answers.items() if answer is not None}

    # -- making things again -------------------------------------------------------------------

    def be_there(self, numbers: Any) -> None:
        """Have some things where they belong."""
        persistently(self._crew, lambda: self._be_there(numbers))

    def _be_there(self, numbers: Any) -> None:
        absent = [n for n in numbers if self._at[n] is not self._family.posts[n]]
        if not absent:
            return
        by_post = self._family.by_post(absent)
        self._origin.make(self.name, by_post)
        self._redo(by_post)
        for post, own in by_post.items():
            for number in own:
                self._at[number] = post

    def _redo(self, by_post: Mapping[Post, tuple[int, ...]]) -> None:
        """What has changed things since they were made first."""
        for done in sorted({self._changed[n] for own in by_post.values() for n in own} - {0}):
            questions = {}
            for post, numbers in by_post.items():
                own = tuple(number for number in numbers if self._changed[number] == done)
                habits = {n: self._habits[n] for n in own if n in self._habits}
                order = Again(self.name, own, tuple(self._changes[:done]), habits, post.threads)
                questions[post] = pickle.dumps(order, protocol=5)
            if len(self._sound(self._crew.answers(questions))) < len(questions):
                raise Lost

    def make_from(self, name: str, by_post: Mapping[Post, tuple[int, ...]], call: bytes) -> None:
        """Make new things of these, under a name."""
        self._be_there([number for own in by_post.values() for number in own])
        assert not self._changes, "what is made of things that change could not be made again"
        if len(self._ask(by_post, call, "nothing", made=name)) < len(by_post):
            raise Lost


@attrs.frozen(eq=False)
class Spread:
    """A ``Place``: blocks of this process go to the workers of a crew."""

    crew: Crew

    def __call__(self, blocks: Sequence[Any], rows: int) -> Placement[Any]:
        sizes = np.array([len(block) for block in blocks], dtype=np.intp)
        return OnWorkers(self.crew.family(sizes, "float64"), _Sent(self.crew, blocks))

    def __reduce__(self) -> tuple[Any, ...]:
        return OutOfReach, (0,)


@attrs.frozen(eq=False)
class _Sent:
    """Things of this process, which keeps them to send them again."""

    crew: Crew
    things: Sequence[Any]

    def make(self, name: str, by_post: Mapping[Post, tuple[int, ...]]) -> None:
        questions = {}
        for post, own in by_post.items():
            keep = Keep(name, {number: self.things[number] for number in own})
            questions[post] = bytes(cloudpickle.dumps(keep, protocol=5))
        answers = self.crew.answers(questions)
        for post, answer in answers.items():
            if answer is None:
                self.crew.lose(post)
        if any(answer is None for answer in answers.values()):
            raise Lost


@attrs.frozen
class OutOfReach:
    """What a worker has of a placement that a function refers to: that there is one."""

    _length: int

    def __len__(self) -> int:
        return self._length

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError(
            "a row-local function sees the rows of its block: it cannot ask for others, nor call "
            "the verbs of a posterior, on the workers that have the rows"
        )

    every = some = sum = merged = made = _refuse


@attrs.frozen(eq=False)
class _Made:
    """Things that a function makes of others."""

    parent: OnWorkers[Any]
    call: bytes

    def make(self, name: str, by_post: Mapping[Post, tuple[int, ...]]) -> None:
        self.parent.make_from(name, by_post, self.call)


@attrs.frozen(eq=False)
class _Regrouped:
    """Blocks of the rows that a function chooses of other blocks."""

    parent: OnWorkers[Any]
    chosen: Any
    edges: Numbers
    """How many rows were chosen of all blocks before each."""
    starts: Numbers

    def make(self, name: str, by_post: Mapping[Post, tuple[int, ...]]) -> None:
        runs = runs_of(by_post, self.starts)
        of_run = {run: [*overlaps(self.edges, run.start, run.stop)] for run in runs}
        needed = sorted({number for parts in of_run.values() for number, _, _ in parts})
        self.parent.be_there(needed)
        lay_runs(
            self.parent.crew,
            name,
            runs,
            self.parent.storage,
            lambda run: self.parent.pieces(self.chosen, of_run[run]),
            {self.parent.post(number) for number in needed},
        )


def _pickled(function: Any, shared: tuple[Any, ...], named: Mapping[str, Any]) -> bytes:
    """A call as workers get it; ``PluginError`` if that cannot be."""
    try:
        return bytes(cloudpickle.dumps((function, shared, named)))
    except Exception as error:
        raise _unsendable([function, *shared, *named.values()], error) from error


def _pickled_order(order: Order) -> bytes:
    try:
        return bytes(cloudpickle.dumps(order, protocol=5))
    except Exception as error:
        arguments = [each for own in (order.own or {}).values() for each in own]
        raise _unsendable(arguments, error) from error


def _unsendable(values: list[Any], error: Exception) -> PluginError:
    """Who is to blame that something cannot be sent."""
    for value in values:
        try:
            cloudpickle.dumps(value)
        except Exception:
            what = f"{value!r} of module {getattr(value, '__module__', '?')}"
            break
    else:
        what = "an argument"
    return PluginError(
        f"{what} cannot be sent to the workers that have the rows "
        f"({type(error).__name__}: {error}). A row-local function and what it refers to must be "
        "picklable: no locks, open files, generators or modules' state"
    )
