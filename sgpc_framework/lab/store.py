"""Finished work on disk: one small JSON file each, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs

from sgpc_framework.errors import InputError
from sgpc_framework.files.whole_file import whole_file

FORMAT = 1


@attrs.frozen
class Store:
    """A folder of results, each under the key of what was computed."""

    folder: Path

    def get(self, key: str) -> dict[str, Any] | None:
        """The result of that key, if it is finished."""
        path = self._path(key)
        try:
            content = json.loads(path.read_bytes())
            result: dict[str, Any] | None = (
                content["result"] if content["format"] == FORMAT else None
            )
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
        text = json.dumps({"format": FORMAT, "identity": identity, "result": result}, indent=1)
        with whole_file(self._path(key)) as file:
            file.write(text.encode())

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"
