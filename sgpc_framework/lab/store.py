"""Finished work on disk: one small JSON file each, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs

from sgpc_framework.errors import InputError
from sgpc_framework.files.whole_file import whole_file

FORMAT = 1
MOST_BYTES = 2**26


@attrs.frozen
class Store:
    """A folder of results, each under the key of what was computed."""

    folder: Path

    def get(self, key: str) -> dict[str, Any] | None:
        """The result of that key, if it is finished."""
        try:
            return self.entry(key)[1]
        except FileNotFoundError:
            return None

    def entry(self, key: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """What was computed, and the result; ``FileNotFoundError`` if it is not finished."""
        path = self._path(key)
        try:
            with path.open("rb") as file:
                content = json.loads(file.read(MOST_BYTES))
            if content["format"] != FORMAT:
                raise FileNotFoundError(path)  # of another format: not finished
            identity: dict[str, Any] = content["identity"]
            result: dict[str, Any] = content["result"]
            return identity, result
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{path}: wanted a finished result of format {FORMAT}, found something else: "
                f"{error!r}; delete the file to have it computed again"
            ) from error

    def put(self, key: str, identity: dict[str, Any], result: dict[str, Any]) -> None:
        """Write a result; the file appears when it is complete and on disk."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"format": FORMAT, "identity": identity, "result": result}, indent=1)
        with whole_file(self._path(key)) as file:
            file.write(text.encode())

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def keys(self) -> list[str]:
        """The keys of all finished results."""
        return sorted(path.stem for path in self.folder.glob("*.json"))


TIMES = frozenset({"seconds", "cpu_seconds"})
"""What two computations of the same thing may differ in."""


@attrs.frozen
class Merged:
    """How many results were new, were there already, and differ from what was there."""

    added: int
    known: int
    differing: tuple[str, ...]


def merge(source: Path, target: Path) -> Merged:
    """Put the results of one folder of cells into another; what is there already stays.

    Times differ whenever they are taken: neither they nor jobs that take nothing else are compared.
    Every file is read before it is written: what is no result is an ``InputError``.
    """
    there, here = Store(cells_of(source)), Store(cells_of(target, new=True))
    added, known, differing = 0, 0, []
    for key in there.keys():  # noqa: SIM118
        identity, result = there.entry(key)
        present = here.get(key)
        if present is None:
            here.put(key, identity, result)
            added += 1
        elif "machine" in identity or _comparable(present) == _comparable(result):
            known += 1
        else:
            differing.append(key)
    return Merged(added, known, tuple(differing))


def cells_of(folder: Path, *, new: bool = False) -> Path:
    """The folder of cells, given itself or the folder of a run that has it."""
    inside = folder / "cells"
    if inside.is_dir() or (new and not any(folder.glob("*.json"))):
        return inside
    if not folder.is_dir() or not any(folder.glob("*.json")):
        raise InputError(f"wanted a folder of finished cells, found {str(folder)!r}")
    return folder


def _comparable(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key not in TIMES}
