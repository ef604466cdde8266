"""Memory that is freed is kept for the next array, not given back to the system.

An evaluation makes and drops arrays of a megabyte hundreds of times a second. By its defaults the
C library on Linux returns such memory each time, and every page of the next array is then fetched
and cleared anew, which can take as long as the arithmetic. It learns from what is freed, however:
an array of ``KEPT`` bytes, made and dropped once without being touched, teaches it to keep as much.
This lasts, and concerns the whole process: up to some ``KEPT`` bytes that were freed stay with it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

KEPT = 16 * 2**20


@cache
def keep_freed_memory() -> None:
    """Teach the allocator, once a process. Where it works differently, nothing happens."""
    np.empty(KEPT, dtype=np.uint8)
