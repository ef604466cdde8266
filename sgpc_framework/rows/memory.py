"""Memory that is freed is kept for the next array, not given back to the system.

An evaluation makes and drops arrays of a megabyte hundreds of times a second. By its defaults the
C library on Linux returns such memory each time, and every page of the next array is then fetched
and cleared anew, which can take as long as the arithmetic. It learns from what is freed, however:
an array of ``KEPT`` bytes, made and dropped once without being touched, teaches it to keep as much.
This lasts, and concerns the whole process: up to some ``KEPT`` bytes that were freed stay with it.
Where the environment sets the limits (``MALLOC_TRIM_THRESHOLD_``, as it does for workers of Dask),
the library learns nothing any more, and is told.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from functools import cache

import numpy as np

KEPT = 16 * 2**20

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""What the limits are called in ``mallopt``."""


@cache
def keep_freed_memory() -> None:
    """Teach the allocator, once a process. Where it works differently, nothing happens."""
    np.empty(KEPT, dtype=np.uint8)
    if "MALLOC_TRIM_THRESHOLD_" in os.environ:
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(None)
            library.mallopt(MMAP_THRESHOLD, KEPT)
            library.mallopt(TRIM_THRESHOLD, 2 * KEPT)
