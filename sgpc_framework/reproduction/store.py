"""Finished work on disk: one small JSON file each, written whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import attrs

from sgpc_framework.errors import InputError

FORMAT = 1


@attrs.frozen
class Store:
    """A folder of results, each under the key of what was computed."""

    folder: Path

    def get(self, key: str) -> dict[str, Any] | None:
        """The result of that key, if it is finished."""
        path = self._path(key)
        try:
            found = json.loads(path.read_bytes())
            result: dict[str, Any] | None = found["result"] if found["format"] == FORMAT else None
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(
                f"{path}: wanted a finished result of format {FORMAT}, found something else: "
                f"{error!r}; delete the file to have it computed again"
            ) from error
        return result

    def put(self, key: str, identity: dict[str, Any], result: dict[str, Any]) -> None:
        """Write a result; the file appears when it is complete and on disk."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(key)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        text = json.dumps({"format": FORMAT, "identity": identity, "result": result}, indent=1)
        try:
            with part.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"
