"""What was written is made to last, by a thread, so that nobody waits long for the disk.

A killed process loses nothing of what it has written; only a loss of power does, of what the disk
was not told to make last.
"""

from __future__ import annotations

import errno
import os
from _thread import start_new_thread
from pathlib import Path
from threading import Event
from time import perf_counter

from sgpc_framework.files.whole_file import sync_folder

SHARE = 200
"""The disk is told when so many times as long has passed as it took the last time, and a second at
least. Who closes a file waits for no more than this share of the time that it was open."""


class DiskSync:
    """Makes the bytes of an open file last, and its name, if that is new."""

    def __init__(self, descriptor: int, new_in: Path | None) -> None:
        self.failure: OSError | None = None
        self._descriptor = descriptor
        self._new_in = new_in
        self._began = self._last = perf_counter()
        self._took = 0.0
        self._unsynced = False
        self._idle, self._finished = Event(), Event()
        self._idle.set()

    def written(self) -> None:
        """There is something new in the file: see to it, if that is not too dear."""
        self._unsynced = True
        due = perf_counter() - self._last > max(1.0, SHARE * self._took)
        if due and self._idle.is_set():
            self._idle.clear()
            start_new_thread(self._sync, ())  # threading.Thread would wait until it runs

    def close(self) -> None:
        """Wait a little for the disk; the file is closed when all has been made to last."""
        if not self._unsynced and self._idle.is_set():
            os.close(self._descriptor)
            return
        start_new_thread(self._finish, ())
        self._finished.wait((perf_counter() - self._began) / SHARE)

    def _finish(self) -> None:
        self._idle.wait()
        if self._unsynced:
            self._sync()
        os.close(self._descriptor)
        self._finished.set()

    def _sync(self) -> None:
        began = perf_counter()
        self._unsynced = False  # what is written from now on may not be part of it
        try:
            os.fsync(self._descriptor)
            if self._new_in is not None:
                sync_folder(self._new_in)
                self._new_in = None
            self.failure = None
        except OSError as error:
            self._unsynced = True
            if error.errno != errno.EINVAL:  # some file systems have nothing to wait for
                self.failure = error
        self._last = perf_counter()
        self._took = self._last - began
        self._idle.set()
