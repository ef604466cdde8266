"""The registry: which parts there are, by kind and name, and who provides them.

A registry is an ordinary object that whoever needs parts is given; there may be several.
:func:`default_registry` is the one of the installed plugins, made when somebody first asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import cache
from threading import RLock
from typing import Any

import attrs
import pluggy

from sgpc_framework.errors import PluginError, suggestion
from sgpc_framework.plugin.admission import checked_name, kind_of
from sgpc_framework.plugin.allowlist import normalise
from sgpc_framework.plugin.kinds import KINDS, KindName
from sgpc_framework.plugin.loading import (
    Announcement,
    load,
    load_built_in,
    load_installed,
    new_manager,
)
from sgpc_framework.plugin.mentions import mentioning
from sgpc_framework.plugin.records import HERE, Absence, Catalogue, Import, Origin, Part


@attrs.define(slots=False, eq=False)
class Registry:
    """The parts that plugins provide.

    ``Registry()`` has those of the installed plugins and loads them when first asked for
    something. ``Registry.of(A, B)`` has just these classes, ``Registry.of_plugins(module)`` what
    these plugins return, and ``registry.extended(A)`` all it had and ``A``.

    A plugin that fails costs its own parts only: see :meth:`quarantined`. A name that two plugins
    provide is an error for whoever asks for that name, and for nobody else; ``distribution:name``
    says which is meant. The name of a built-in part alone means the built-in part, so that it is
    found without importing a stranger's package.
    """

    _load: Callable[[pluggy.PluginManager], Catalogue] = attrs.field(
        default=load_installed, repr=False
    )
    _load_first: Callable[[], Catalogue] = attrs.field(repr=False)
    """What can be had without importing all: the built-in parts, or nothing."""

    @_load_first.default
    def _default_first(self) -> Callable[[], Catalogue]:
        return load_built_in if self._load is load_installed else Catalogue

    manager: pluggy.PluginManager = attrs.field(factory=new_manager, init=False, repr=False)
    _loaded: Catalogue | None = attrs.field(default=None, init=False, repr=False)
    _loaded_first: Catalogue | None = attrs.field(default=None, init=False, repr=False)
    _partial: dict[str, Catalogue] = attrs.field(factory=dict, init=False, repr=False)
    """What was loaded to find a name, by that name."""
    _names: dict[type, str] = attrs.field(factory=dict, init=False, repr=False)
    """What files call classes: every state of a checkpoint asks."""
    _lock: RLock = attrs.field(factory=RLock, init=False, repr=False)
    _depth: int = attrs.field(default=0, init=False, repr=False)
    """How many loads are going on, one inside the other."""

    @classmethod
    def of(cls, *classes: type) -> Registry:
        """A registry of these classes alone; ``PluginError`` if one of them can be no part."""
        return _of_catalogue(Catalogue(tuple(map(_part, classes))))

    @classmethod
    def of_plugins(cls, *plugins: Any) -> Registry:
        """A registry of modules (or other objects) with hooks, which need not be installed."""
        announcements = [_announcement(*numbered) for numbered in enumerate(plugins)]
        return cls(lambda manager: load(manager, announcements))

    @classmethod
    def of_distributions(cls, names: Collection[str]) -> Registry:
        """A registry of the plugins of these distributions; no other one is imported."""
        wanted = frozenset(map(normalise, names))
        return cls(lambda manager: load_installed(manager, wanted))

    def limited(self, names: Collection[str]) -> Registry:
        """Another registry that has the parts with these names and no others."""

        def load_some(manager: pluggy.PluginManager) -> Catalogue:
            some = tuple(part for part in self._catalogue.parts if part.name in names)
            return attrs.evolve(self._catalogue, parts=some)

        return Registry(load_some)

    def extended(self, *classes: type) -> Registry:
        """Another registry with these classes besides; this one stays as it is."""
        parts = tuple(map(_part, classes))

        def load_both(manager: pluggy.PluginManager) -> Catalogue:
            return attrs.evolve(self._catalogue, parts=(*self._catalogue.parts, *parts))

        return Registry(load_both)

    def __reduce__(self) -> tuple[Callable[..., Registry], tuple[Any, ...]]:
        """Another process gets its own installed plugins, or this registry's classes by name."""
        if self is default_registry():
            return default_registry, ()
        return _of_catalogue, (self._catalogue,)

    @property
    def _catalogue(self) -> Catalogue:
        """What the plugins brought: loaded once, by one thread while others wait.

        A plugin that asks for parts while it is itself being imported gets what can be had without
        it, from a load of its own of which nothing stays.
        """
        if self._loaded is not None:
            return self._loaded
        with self._lock:
            if self._loaded is not None:
                return self._loaded
            if self._depth == 2:
                raise PluginError("asks for parts whenever it is asked for its own")
            self._depth += 1
            try:
                loaded = self._load(self.manager if self._depth == 1 else new_manager())
            finally:
                self._depth -= 1
            if self._depth == 0:
                self._loaded = loaded
            return loaded

    @property
    def _first(self) -> Catalogue:
        """What is looked at before anybody else's package is imported."""
        if self._loaded_first is None:
            with self._lock:
                if self._loaded_first is None:
                    self._loaded_first = self._load_first()
        return self._loaded_first

    def _catalogues(self, name: str) -> Iterator[Catalogue]:
        """What can be had at once; what the distribution of a full name has, or those that mention
        a bare one; then, for who goes on, everything."""
        yield self._first
        if self._load is load_installed and self._loaded is None:
            if name not in self._partial:
                distribution, colon, own = name.rpartition(":")
                among = {normalise(distribution)} if colon else mentioning(own)
                self._partial[name] = load_installed(new_manager(), among)
            yield self._partial[name]
        yield self._catalogue

    def parts(self) -> tuple[Part, ...]:
        """Every part, by kind and name; those whose name is taken twice included."""
        order = list(KINDS)
        return tuple(
            sorted(self._catalogue.parts, key=lambda part: (order.index(part.kind), part.name))
        )

    def quarantined(self) -> tuple[Absence, ...]:
        """The entry points that failed, each with its reason."""
        return tuple(a for a in self._catalogue.absences if a.status == "quarantined")

    def left_out(self) -> tuple[Absence, ...]:
        """The entry points that ``SGPC_LOAD_PLUGINS`` did not let in."""
        return tuple(a for a in self._catalogue.absences if a.status == "left out")

    def names(self, kind: KindName) -> tuple[str, ...]:
        """The names of a kind that mean one part, in alphabetical order."""
        known = {part.name for part in self._catalogue.parts if part.kind == kind}
        return tuple(sorted(known - {*self.ambiguous(kind)}))

    def ambiguous(self, kind: KindName) -> tuple[str, ...]:
        """The names of a kind that several distributions provide, none of them this framework."""
        every = Counter(part.name for part in self._catalogue.parts if part.kind == kind)
        built_in = {part.name for part in self._first.parts if part.kind == kind}
        return tuple(sorted(name for name in every if every[name] > 1 and name not in built_in))

    def imports(self) -> tuple[Import, ...]:
        """What the import of each entry point took, in the order of the imports."""
        return self._catalogue.imports

    def get(self, kind: KindName, name: str) -> type:
        """The class of that kind and name.

        ``PluginError`` if there is none (it suggests a name, and tells of plugins that failed and
        might have had it) or more than one (it lists who provides them).
        """
        return self.part(kind, name).cls

    def part(self, kind: KindName, name: str) -> Part:
        """The record of that kind and name; like :meth:`get` otherwise."""
        if kind not in KINDS:
            raise PluginError(f"wanted a kind of part, found {kind!r}; {suggestion(kind, KINDS)}")
        for catalogue in self._catalogues(name):
            rivals = [p for p in catalogue.parts if p.kind == kind and p.is_called(name)]
            if len(rivals) == 1:
                return rivals[0]
        if rivals:
            providers = " and by ".join(str(part.origin) for part in rivals)
            raise PluginError(
                f"the name {name!r} of {KINDS[kind].noun} is provided by {providers}: "
                f"{_remedy(rivals)}, because none is picked for you"
            )
        raise PluginError(self._unknown(kind, name))

    def kinds_of(self, name: str) -> tuple[KindName, ...]:
        """The kinds that have a part of that name, or full name: for a built-in part's name those
        of built-in parts, and nobody else's package is imported."""
        for catalogue in self._catalogues(name):
            kinds = dict.fromkeys(part.kind for part in catalogue.parts if part.is_called(name))
            if kinds:
                return tuple(kinds)
        return ()

    def name_of(self, cls: type) -> str | None:
        """What a file calls a class: its name or, where that means another part, the full one;
        ``None`` if the registry does not have it."""
        if cls not in self._names:
            part = self.provider(cls)
            if part is None:
                return None
            self._names[cls] = part.name if self._means(part) else part.full_name
        return self._names[cls]

    def _means(self, part: Part) -> bool:
        """Whether the name of a part means this one, and nobody else's."""
        try:
            return self.get(part.kind, part.name) is part.cls
        except PluginError:  # the name is taken twice
            return False

    def _unknown(self, kind: KindName, name: str) -> str:
        text = f"wanted the name of {KINDS[kind].noun}, found {name!r}; "
        text += suggestion(name, self.names(kind))
        elsewhere = [part.kind for part in self._catalogue.parts if part.name == name]
        if elsewhere:
            text += f" ({name!r} is the name of a part for the slot {elsewhere[0]!r})"
        absent = "; ".join(map(str, self._catalogue.absences))
        return f"{text}; it may be missing because {absent}" if absent else text

    def _at_hand(self) -> Iterator[Catalogue]:
        """What has been loaded already, then everything."""
        yield self._first
        yield from self._partial.values()
        yield self._catalogue

    def provider(self, cls: type) -> Part | None:
        """The record of a class; ``None`` if the registry does not have it."""
        for catalogue in self._at_hand():
            for part in catalogue.parts:
                if part.cls is cls:
                    return part
        return None


def _remedy(rivals: list[Part]) -> str:
    """How to say which of several parts of one name is meant, if that can be said."""
    full = sorted({part.full_name for part in rivals})
    if len(full) < len(rivals):
        return "rename or leave out all but one"
    return f"say {' or '.join(map(repr, full))}"


def _of_catalogue(catalogue: Catalogue) -> Registry:
    return Registry(lambda manager: catalogue)


def _part(cls: type) -> Part:
    if not isinstance(cls, type):
        raise PluginError(f"wanted a class, found an object of type {type(cls).__name__}")
    kind = kind_of(cls)
    return Part(kind.name, checked_name(kind, cls), cls, HERE)


def _announcement(number: int, plugin: Any) -> Announcement:
    return Announcement(Origin(HERE.distribution, HERE.version, str(number)), lambda: plugin)


@cache
def default_registry() -> Registry:
    """The registry of the installed plugins, the same object every time."""
    return Registry()
