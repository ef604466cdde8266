"""Who could have a part of some name, by what the sources say: nothing is imported to find out."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from sgpc_framework.plugin.allowlist import exclusion, normalise
from sgpc_framework.plugin.markers import PROJECT


def mentioning(name: str) -> frozenset[str]:
    """The normalised names of the distributions in whose sources a name stands, with hyphens or
    underscores; what has no sources that can be read may have any name.

    Those that put their names together from pieces are not among them: whoever finds no part there
    has to look everywhere.
    """
    word = re.escape(name.encode()).replace(rb"\-", rb"[-_]")
    pattern = re.compile(rb"(?<![\w-])" + word + rb"(?![\w-])")
    announced = {
        (re.split(r"[.:\s]", entry.value, maxsplit=1)[0], entry.dist.name)
        for entry in entry_points(group=PROJECT)
        if entry.dist is not None and exclusion(entry.dist.name) is None
    }
    return frozenset(
        normalise(distribution) for package, distribution in announced if _may_say(package, pattern)
    )


def _may_say(package: str, pattern: re.Pattern[bytes]) -> bool:
    try:
        files = _files(package)
        return not files or any(pattern.search(file.read_bytes()) for file in files)
    except (ImportError, ValueError, OSError):
        return True  # whoever imports it hears of it


def _files(package: str) -> list[Path]:
    """The files of a package or a module of the top level, which is found without its import."""
    spec = find_spec(package)
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return [f for folder in spec.submodule_search_locations for f in Path(folder).rglob("*.py")]
    return [Path(spec.origin)] if spec.origin and spec.origin.endswith(".py") else []
