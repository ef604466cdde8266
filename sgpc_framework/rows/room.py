"""Room for the large arrays of a fit: in memory, or in files that memory is mapped to.

A file has no name: it is there as long as somebody maps it, and gone however the process ends. It
is where temporary files are (``TMPDIR``). Arrays share files: a process may have few of them open.
"""

from __future__ import annotations

import mmap
from math import prod
from tempfile import TemporaryFile
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sgpc_framework.algebra.rounding import Storage
from sgpc_framework.protocols import Inputs
from sgpc_framework.rows.view import read_only

FILE_BYTES = 1 << 28
"""How large a file is, unless one array needs more."""

ALIGNED = 64


class _Files:
    """Room in files, handed out from the beginning to the end of each."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._map: mmap.mmap | None = None
        self._used = 0

    def room(self, size: int) -> memoryview:
        """So many bytes, zero, that nobody else has."""
        size = -(-size // ALIGNED) * ALIGNED
        with self._lock:
            if self._map is None or self._used + size > len(self._map):
                with TemporaryFile() as file:
                    file.truncate(max(size, FILE_BYTES))
                    self._map = mmap.mmap(file.fileno(), 0)
                self._used = 0
            room = memoryview(self._map)[self._used : self._used + size]
            self._used += size
            return room


_FILES = _Files()


def allocate(shape: tuple[int, ...], dtype: DTypeLike, on_disk: bool) -> NDArray[Any]:
    """An array whose contents are not set."""
    if not on_disk or not prod(shape):
        return np.empty(shape, dtype=dtype)
    kind = np.dtype(dtype)
    buffer = _FILES.room(prod(shape) * kind.itemsize)
    return np.frombuffer(buffer, dtype=kind, count=prod(shape)).reshape(shape)


def kept_copy(X: Inputs, storage: Storage) -> Inputs:
    """A copy of inputs, read-only, kept as a fit keeps its large arrays."""
    if storage != "disk" or X.dtype.hasobject:
        return read_only(np.array(X, order="C"))
    copy = allocate(X.shape, X.dtype, on_disk=True)
    copy[...] = X
    return read_only(copy)
