"""Logs on disk: records that are only ever added, sealed together with all before them.

A log has one writer at a time, who holds a lock on the open file. The system releases it when the
process ends, however it ends.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from sgpc_framework.errors import CheckpointError
from sgpc_framework.files.disk_sync import DiskSync
from sgpc_framework.files.sealed_batches import MAGIC, MOST_RECORD, batch_bytes, contents_of

try:
    import fcntl
except ImportError:  # where there are no such locks, nobody is kept out
    fcntl = None  # type: ignore[assignment]

MOST_BYTES = 2**32
"""A log that is larger than this is not one."""


class SealedLog:
    """An open log: what it had when it was opened, and a way to add to it.

    Whoever adds never fails. What cannot be written, because the disk is full, waits for the next
    attempt; ``failure`` says why, while something waits.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = _opened(path)
        try:
            _lock(self._descriptor, path)
            data = _bytes(self._descriptor, path)
            self.records, self._end, self._seal = contents_of(data, path)
        except BaseException:
            os.close(self._descriptor)
            raise
        self.dropped = len(data) - self._end
        """How many bytes of a last batch that was not finished were found."""
        self._waiting: list[bytes] = []
        self._sync = DiskSync(self._descriptor, None if self._end else path.absolute().parent)
        self._write_failure: OSError | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def failure(self) -> OSError | None:
        """Why something waits, or may not last; None if all is well."""
        return self._write_failure or self._sync.failure

    def add(self, *records: bytes) -> None:
        """Write records as one batch, with those that could not be written before."""
        for record in records:
            if len(record) > MOST_RECORD:
                raise CheckpointError(
                    f"a record of {len(record)} bytes is more than a log may hold"
                )
        self._waiting += records
        self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if not self._waiting:
            return
        data, seal = batch_bytes(self._waiting, self._seal)
        if self._write(data if self._end else MAGIC + data):
            self._waiting, self._seal = [], seal
            self._sync.written()

    def close(self) -> None:
        """Write what waits, let others have the log, and wait a little for the disk."""
        if self._closed:
            return
        self._closed = True
        try:
            self.flush()
        finally:
            _unlock(self._descriptor)
            self._sync.close()

    def _write(self, data: bytes) -> bool:
        """Whether all of it was written; if not, the log is as it was before."""
        try:
            if self.dropped:  # what was not finished makes room
                os.ftruncate(self._descriptor, self._end)
                self.dropped = 0
            _write_all(self._descriptor, data, self._end)
        except OSError as error:
            self._write_failure = error
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            return False
        self._end += len(data)
        self._write_failure = None
        return True


def read_records(path: Path) -> list[bytes]:
    """The records of a log that is only looked at; nobody is kept out."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise CheckpointError(f"{path}: this is not a file but a folder or a device")
        return contents_of(_bytes(descriptor, path), path).records
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes, at: int) -> None:
    left = memoryview(data)
    while left:
        written = _write_some(descriptor, left, at)
        left, at = left[written:], at + written


def _write_some(descriptor: int, data: memoryview, at: int) -> int:
    os.lseek(descriptor, at, os.SEEK_SET)
    return os.write(descriptor, data)


def _opened(path: Path) -> int:
    """The file, made if there is none, looked at by its descriptor only."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be written: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise CheckpointError(f"{path}: this is not a file but a device")
    return descriptor


def _lock(descriptor: int, path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CheckpointError(
            f"{path}: another process is fitting with this log: wait for it, or choose another name"
        ) from error
    except OSError:  # a file system without locks
        return


def _unlock(descriptor: int) -> None:
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_UN)


def _bytes(descriptor: int, path: Path) -> bytes:
    size = os.fstat(descriptor).st_size
    if size > MOST_BYTES:
        raise CheckpointError(
            f"{path}: the file is larger than any log: {size} bytes of {MOST_BYTES}"
        )
    os.lseek(descriptor, 0, os.SEEK_SET)
    data = bytearray()
    while part := os.read(descriptor, 2**24):
        data += part
    return bytes(data)
