"""Where what happened is kept besides a log, so that a fit which died can be resumed.

A resumed fit is the same program, run again. What took long, it recalls: a stage, step 6, a run of
a refiner. All else is computed again, and what that adds to the log must be what the journal has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import attrs


class Kept(Protocol):
    """A record of an earlier life; it is made when it is asked for."""

    @property
    def kind(self) -> type: ...

    def record(self, so_far: Callable[[], Any], /) -> Any:
        """What happened. ``so_far()`` is the state of the stages of the present iteration, whose
        end is kept as other hyperparameters of that."""
        ...

    def agrees(self, record: Any, /) -> bool:
        """Whether that is what happened, as far as it can happen again."""
        ...


class Journal(Protocol):
    """The records of a fit and of the fits inside it, each by its place: "class 2/size 40"."""

    def within(self, place: str, /) -> Journal:
        """The journal of a fit inside this one."""
        ...

    def earlier(self) -> Mapping[str, Sequence[Kept]]:
        """What an earlier life has left, by place; here is ``""``."""
        ...

    def keep(self, record: Any, /) -> None:
        """Something new happened here."""
        ...


class Nowhere:
    """The journal of a fit that nobody wants to resume."""

    def within(self, place: str, /) -> Nowhere:
        return self

    def earlier(self) -> Mapping[str, Sequence[Kept]]:
        return {}

    def keep(self, record: Any, /) -> None:
        pass


NOWHERE = Nowhere()


@attrs.frozen
class Carried:
    """What a fit in another process may recall, and what it brings back: records by their place."""

    recalled: Mapping[str, Sequence[Kept]]
    new: list[tuple[str, Any]] = attrs.field(factory=list)
    place: str = ""

    @classmethod
    def from_(cls, journal: Journal) -> Carried:
        """All that a journal has."""
        return cls(journal.earlier())

    def within(self, place: str, /) -> Carried:
        return attrs.evolve(self, place=join_places(self.place, place))

    def earlier(self) -> Mapping[str, Sequence[Kept]]:
        return below(self.recalled, self.place)

    def keep(self, record: Any, /) -> None:
        self.new.append((self.place, record))

    def brought_to(self, journal: Journal) -> None:
        """Keep what is new in the journal that this was carried away from."""
        for place, record in self.new:
            (journal.within(place) if place else journal).keep(record)


def join_places(outer: str, inner: str) -> str:
    """The place of a fit inside another.

    >>> join_places("", "class 2"), join_places("class 2", "size 40")
    ('class 2', 'class 2/size 40')
    """
    return f"{outer}/{inner}" if outer else inner


def below(records: Mapping[str, Sequence[Kept]], place: str) -> dict[str, Sequence[Kept]]:
    """The records at a place and inside it, by their places as seen from there."""
    inside = f"{place}/"
    return {
        other.removeprefix(inside) if other != place else "": kept
        for other, kept in records.items()
        if not place or other == place or other.startswith(inside)
    }
