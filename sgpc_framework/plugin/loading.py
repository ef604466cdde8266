"""Finding plugins and asking them for their parts, one entry point at a time.

pluggy's own loader stops at the first plugin that cannot be imported, drops a second entry point
of the same name and does not mind a misspelt hook. Here each entry point is imported, registered
and questioned by itself, and one that fails is quarantined with the reason: never more than it.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.metadata import EntryPoint, distributions, entry_points, version
from inspect import isroutine
from pathlib import Path
from time import perf_counter
from typing import Any

import attrs
import numpy as np
import pluggy

from sgpc_framework.errors import PluginError, suggestion
from sgpc_framework.parts.interruptions import comes_from_outside
from sgpc_framework.plugin import specs
from sgpc_framework.plugin.admission import checked_classes, checked_name
from sgpc_framework.plugin.allowlist import BUILT_IN, BUILT_IN_PACKAGE, exclusion, normalise
from sgpc_framework.plugin.kinds import HOOKS, KINDS, Kind
from sgpc_framework.plugin.markers import PROJECT
from sgpc_framework.plugin.records import Absence, Catalogue, Import, Origin, Part


@attrs.frozen
class Announcement:
    """A plugin that has been announced but not yet imported."""

    origin: Origin
    imported: Callable[[], Any]
    built_in: bool = False
    unmet: str | None = None
    """What it wants and has not got; it is then not imported."""

    @property
    def name(self) -> str:
        """What the plugin is registered as: ``distribution:entry``."""
        return f"{self.origin.distribution}:{self.origin.entry_point}"


def new_manager() -> pluggy.PluginManager:
    """A pluggy manager that knows the hooks and no plugin."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(specs)
    return manager


def load_installed(
    manager: pluggy.PluginManager, among: Collection[str] | None = None
) -> Catalogue:
    """Load the entry points of all installed distributions that the allow-list lets in.

    ``among`` has the normalised names of the only ones to be looked at, if not all are.
    """
    installed = [
        each
        for each in map(_announcement, _entries())
        if among is None or normalise(each.origin.distribution) in among
    ]
    admitted = []
    absent = []
    # The built-in parts come first: whoever announces them as well is the one that comes second.
    for announcement in sorted(installed, key=lambda each: (not each.built_in, each.name)):
        reason = None if announcement.built_in else exclusion(announcement.origin.distribution)
        if reason is not None:
            absent.append(Absence(announcement.origin, "left out", reason))
        elif announcement.unmet is not None:
            absent.append(Absence(announcement.origin, "quarantined", announcement.unmet))
        else:
            admitted.append(announcement)
    loaded = load(manager, admitted)
    return attrs.evolve(loaded, absences=(*loaded.absences, *absent))


def load_built_in() -> Catalogue:
    """The framework's own parts, for which nobody else's package is imported."""
    own = [each for each in map(_announcement, _entries()) if each.built_in]
    return load(new_manager(), sorted(own, key=lambda each: each.name))


def _announcement(entry: EntryPoint) -> Announcement:
    origin = _origin(entry)
    built_in = _is_built_in(entry, origin)
    return Announcement(origin, entry.load, built_in, None if built_in else _unmet(entry))


def _unmet(entry: EntryPoint) -> str | None:
    """The framework that a distribution asks for, if it is another one than this."""
    wishes = (entry.dist.requires if entry.dist is not None else None) or []
    ours = [wish for wish in wishes if normalise(wish[: len(BUILT_IN)]) == BUILT_IN]
    if not ours:
        return None
    from packaging.requirements import InvalidRequirement, Requirement

    present = version(BUILT_IN)
    for wish in ours:
        try:
            wanted = Requirement(wish)
        except InvalidRequirement:
            continue  # pip has let it pass
        if normalise(wanted.name) != BUILT_IN:
            continue
        applies = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        if applies and not wanted.specifier.contains(present, prereleases=True):
            return f"wants {BUILT_IN} {wanted.specifier}, found {present}: upgrade the older one"
    return None


def _entries() -> list[EntryPoint]:
    """The entry points of all distributions, of several with one name those of the first; but the
    framework's own are there even if another one hides them."""
    installed = list(entry_points(group=PROJECT))
    if any(_is_built_in(entry, _origin(entry)) for entry in installed):
        return installed
    hidden = (entry for each in distributions(name=BUILT_IN) for entry in each.entry_points)
    ours = {entry.name: entry for entry in hidden if entry.group == PROJECT}
    return [*installed, *(e for e in ours.values() if _is_built_in(e, _origin(e)))]


def _origin(entry: EntryPoint) -> Origin:
    if entry.dist is None:
        return Origin("(unknown)", "-", entry.name)
    return Origin(entry.dist.name or "(unknown)", entry.dist.version or "-", entry.name)


def _is_built_in(entry: EntryPoint, origin: Origin) -> bool:
    """Whether an entry point is the framework's own: any distribution can take its name, but the
    module it announces is what is imported."""
    ours = normalise(origin.distribution) == BUILT_IN
    return ours and entry.module.partition(".")[0] == BUILT_IN_PACKAGE


def load(manager: pluggy.PluginManager, announcements: Iterable[Announcement]) -> Catalogue:
    """Register the plugins one by one and collect their parts; quarantine those that fail."""
    parts: list[Part] = []
    quarantined = []
    imports = []
    for announcement in announcements:
        began = perf_counter()
        try:
            with contain_side_effects():
                parts += _parts(manager, announcement)
        except PluginError as error:
            manager.unregister(name=announcement.name)
            quarantined.append(Absence(announcement.origin, "quarantined", str(error)))
        imports.append(Import(announcement.origin, perf_counter() - began))
    return Catalogue(tuple(parts), tuple(quarantined), tuple(imports))


@contextmanager
def contain_side_effects() -> Iterator[None]:
    """What a plugin prints goes to standard error, where it spoils no result; and numpy treats
    errors as before, whatever the plugin says."""
    with redirect_stdout(sys.stderr), np.errstate():
        yield


def _parts(manager: pluggy.PluginManager, announcement: Announcement) -> list[Part]:
    """The parts of one plugin; ``PluginError`` with the reason if anything is wrong with it."""
    plugin = _guarded("cannot be imported", announcement.imported)
    _guarded("cannot be registered", _register, manager, plugin, announcement.name)
    parts = []
    for kind in KINDS.values():
        for implementation in getattr(manager.hook, kind.hook).get_hookimpls():
            if implementation.plugin is plugin:
                ask = implementation.function
                parts += _guarded(f"{kind.hook} failed", _answer, ask, kind, announcement.origin)
    return parts


def _answer(ask: Callable[[], Any], kind: Kind, origin: Origin) -> list[Part]:
    """What one hook returned, if all of it can be used."""
    classes = checked_classes(kind, ask())
    return [Part(kind.name, checked_name(kind, cls), cls, origin) for cls in classes]


def _guarded(verdict: str, call: Callable[..., Any], *arguments: Any) -> Any:
    """Call what a stranger wrote: whatever it raises becomes a ``PluginError`` that says so."""
    try:
        return call(*arguments)
    except PluginError:
        raise
    except BaseException as error:
        if comes_from_outside(error):
            raise
        summary = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(f"{verdict}: {summary}{_place(error)}") from error


def _place(error: BaseException) -> str:
    """The line that raised, unless it is the import machinery's or our own."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if "importlib" in last.filename or last.filename == __file__:
        return ""
    return f" ({Path(last.filename).name}, line {last.lineno})"


def _register(manager: pluggy.PluginManager, plugin: Any, name: str) -> None:
    """Register a plugin that implements at least one hook, and implements each properly."""
    twin = manager.get_name(plugin)
    if twin is not None:
        raise PluginError(f"is the same plugin as {twin}: remove one of the two entry points")
    misnamed = "; ".join(_misnamed(manager, plugin))
    if misnamed:
        raise PluginError(misnamed)
    try:
        manager.register(plugin, name)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise PluginError(f"has a wrong hook: {' '.join(str(error).split())}") from error
    if not manager.get_hookcallers(plugin):
        raise PluginError(
            "implements no hook: the entry point must name a module with at least one function "
            "that is marked @hookimpl, such as sgpc_kernels (see sgpc_framework.plugin.specs)"
        )


def _misnamed(manager: pluggy.PluginManager, plugin: Any) -> Iterator[str]:
    """What looks as if it were meant to be a hook but would never be called."""
    for name in dir(plugin):
        options = manager.parse_hookimpl_opts(plugin, name)
        if options is not None:
            hook = options.get("specname") or name
            if hook not in HOOKS and not options.get("optionalhook"):
                yield f"has an unknown hook {hook!r}: {suggestion(hook, HOOKS)}"
        elif name.startswith("sgpc_") and isroutine(getattr(plugin, name)):
            hint = "" if name in HOOKS else f"; no hook has that name, {suggestion(name, HOOKS)}"
            yield f"has a function {name!r} without @hookimpl, so it is not called{hint}"
