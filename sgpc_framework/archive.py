"""Archives of arrays: one zip of uncompressed ``.npy`` members and whatever else is handed over.

An archive is written beside its destination and then moved there, so that a reader sees the old
file or the new one and never a half. A reader trusts nothing, and nothing is unpickled.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import ModelFileError

MOST_BYTES = 2**31
"""A model is small. A file that claims more than this is not one."""


def npy(array: NDArray[Any]) -> bytes:
    """An array as the bytes of a ``.npy`` member."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def from_npy(name: str, data: bytes) -> NDArray[Any]:
    """The array of a ``.npy`` member."""
    try:
        return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, MemoryError) as error:
        raise ModelFileError(f"{name} is not an array that can be read: {error}") from error


def write_whole(path: Path, members: Mapping[str, bytes]) -> None:
    """Write all members, or leave what was there untouched."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        try:
            with open(part, "xb") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                    for name, data in sorted(members.items()):
                        archive.writestr(zipfile.ZipInfo(name), data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be written: {error.strerror}") from error


def read_members(path: Path) -> dict[str, bytes]:
    """All members by name. They are neither compressed nor doubled, and not too large."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            if len(entries) != len(archive.infolist()):
                raise ModelFileError("this is not a model file: two of its members have one name")
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries.values()):
                raise ModelFileError("this is not a model file: its members are compressed")
            if sum(entry.file_size for entry in entries.values()) > MOST_BYTES:
                raise ModelFileError("the file claims to be larger than any model")
            return {name: archive.read(name) for name in entries}
    except FileNotFoundError as error:
        raise ModelFileError("there is no such file") from error
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ModelFileError(f"this is not a model file, or it is damaged: {error}") from error
