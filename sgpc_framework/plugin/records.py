"""What is known of a part and of a plugin: plain records, made to be listed."""

from __future__ import annotations

from typing import Literal

import attrs

from sgpc_framework.plugin.allowlist import normalise
from sgpc_framework.plugin.kinds import KindName


@attrs.frozen
class Origin:
    """Where something comes from: a distribution, its version and one of its entry points."""

    distribution: str
    version: str
    entry_point: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version} (entry point {self.entry_point!r})"


HERE = Origin("(not installed)", "-", "-")
"""The origin of classes that were handed over directly."""


class Provided:
    """What has an origin can be asked for what that says."""

    __slots__ = ()

    origin: Origin

    @property
    def distribution(self) -> str:
        """The distribution that it comes with."""
        return self.origin.distribution

    @property
    def version(self) -> str:
        """The version of that distribution."""
        return self.origin.version

    @property
    def entry_point(self) -> str:
        """The entry point through which it comes."""
        return self.origin.entry_point


@attrs.frozen
class Part(Provided):
    """A class that can fill a slot: its kind, its name and who provides it."""

    kind: KindName
    name: str
    cls: type
    origin: Origin

    @property
    def full_name(self) -> str:
        """``distribution:name``, which no other distribution can take."""
        return f"{self.distribution}:{self.name}"

    def is_called(self, name: str) -> bool:
        """Whether a name, or the full one, is this part's."""
        distribution, colon, own = name.rpartition(":")
        return own == self.name and (
            not colon or normalise(distribution) == normalise(self.distribution)
        )


@attrs.frozen
class Absence(Provided):
    """An entry point that gives nothing, and why.

    ``status`` is ``"quarantined"`` for one that is broken and ``"left out"`` for one that the
    allow-list does not name.
    """

    origin: Origin
    status: Literal["quarantined", "left out"]
    reason: str

    def __str__(self) -> str:
        return f"{self.origin} is {self.status}: {self.reason}"


@attrs.frozen
class Import(Provided):
    """What it took to import an entry point and to ask it for its parts.

    What two of them import is paid for by the first.
    """

    origin: Origin
    seconds: float


@attrs.frozen
class Catalogue:
    """Everything that was found: the parts, and the entry points that gave none."""

    parts: tuple[Part, ...] = ()
    absences: tuple[Absence, ...] = ()
    imports: tuple[Import, ...] = ()
