"""Logs on disk: records that are only ever added, sealed together with all before them.

    sgpc-log 1\\n   length  crc  records  seal   length  crc  records  seal   ...

Records are written in batches, those of one writing together. ``length`` is that of a batch,
``crc`` a checksum of the length, and ``seal`` the beginning of the SHA-256 of the seal before and
the batch. So every beginning of a log is a log, and one that was cut, because a process was killed
while it wrote or the machine lost its power, has lost its last batch and nothing else. A log that
was changed elsewhere is refused.

A log has one writer at a time, who holds a lock on the open file. The system releases it when the
process ends, however it ends.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import perf_counter
from types import TracebackType
from typing import Self

from sgpc_framework.errors import CheckpointError
from sgpc_framework.files.whole_file import sync_folder

try:
    import fcntl
except ImportError:  # where there are no such locks, nobody is kept out
    fcntl = None  # type: ignore[assignment]

MAGIC = b"sgpc-log 1\n"
MOST_BYTES = 2**32
"""A log that is larger than this is not one."""

MOST_BATCH = 2**30
_HEAD = struct.Struct("<LL")
_SEAL = 16

PAUSE = 0.05
"""A record that comes within so many seconds of the last writing waits for the next: nobody loses
more than that time's work by it, and who adds a thousand a second does not write as often."""

SYNC_SHARE = 200
"""The disk is told to make things last when so many times as long has passed as it took the last
time, and a second at least; a thread of its own waits for it. A killed process loses nothing by
that, a loss of power little. Who closes a log waits for the disk himself, but for no more than this
share of the time that the log was open."""


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
            data = _contents(self._descriptor, path)
            batches = list(_batches(data, path))
            self.records = [record for batch in batches for record in _records(batch, path)]
        except BaseException:
            os.close(self._descriptor)
            raise
        self._seal = _last_seal(batches)
        self._end = len(MAGIC) + sum(_HEAD.size + len(batch) + _SEAL for batch in batches)
        if len(data) < len(MAGIC):
            self._end = 0
        self.dropped = len(data) - self._end
        """How many bytes of a last batch that was not finished were found."""
        self._waiting: list[bytes] = []
        self._written = -1e9
        self._began = self._synced = perf_counter()
        self._sync_took = 0.0
        self._is_new = not self._end
        self._unsynced = False
        self._syncing: Thread | None = None
        self._closed = False
        self.failure: OSError | None = None

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
    def due(self) -> bool:
        """Whether what is added now is written at once."""
        return perf_counter() - self._written > PAUSE

    def add(self, *records: bytes) -> None:
        """Add records. They are on their way to the disk at once, unless others were just
        before."""
        for record in records:
            if len(record) > MOST_BATCH // 2:
                raise CheckpointError(
                    f"a record of {len(record)} bytes is more than a log may hold"
                )
        self._waiting += records
        if self.due:
            self.flush()

    def flush(self) -> None:
        """Write what waits, and see to it that it lasts if that is not too dear."""
        if self._waiting:
            batch = b"".join(part for each in self._waiting for part in (_size(each), each))
            seal = _sealed(self._seal, batch)
            data = _HEAD.pack(len(batch), zlib.crc32(_size(batch))) + batch + seal
            if self._write(data if self._end else MAGIC + data):
                self._waiting, self._seal = [], seal
        self._written = perf_counter()
        due = self._written - self._synced > max(1.0, SYNC_SHARE * self._sync_took)
        if self._unsynced and due and (self._syncing is None or not self._syncing.is_alive()):
            self._syncing = Thread(target=self._sync, daemon=True)  # nobody waits for it
            self._syncing.start()

    def close(self) -> None:
        """Write what waits, let others have the log, and wait a little for the disk."""
        if self._closed:
            return
        self._closed = True
        try:
            self.flush()
        finally:
            _unlock(self._descriptor)
            if self._unsynced or self._syncing is not None:
                last = Thread(target=self._sync_and_close, daemon=True)
                last.start()
                last.join((perf_counter() - self._began) / SYNC_SHARE)
            else:
                os.close(self._descriptor)

    def _sync_and_close(self) -> None:
        if self._syncing is not None:
            self._syncing.join()
        if self._unsynced:
            self._sync()
        os.close(self._descriptor)

    def _write(self, data: bytes) -> bool:
        """Whether all of it was written; if not, the log is as it was before."""
        try:
            if self.dropped:  # what was not finished makes room
                os.ftruncate(self._descriptor, self._end)
                self.dropped = 0
            _write_all(self._descriptor, data, self._end)
        except OSError as error:
            self.failure = error
            with suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            return False
        self._end += len(data)
        self._unsynced = True
        self.failure = None
        return True

    def _sync(self) -> None:
        began = perf_counter()
        self._unsynced = False  # what is written from now on may not be part of it
        try:
            os.fsync(self._descriptor)
            if self._is_new:
                sync_folder(self.path.absolute().parent)
                self._is_new = False
        except OSError as error:
            self._unsynced = True
            if error.errno != errno.EINVAL:  # some file systems have nothing to wait for
                self.failure = error
        self._synced = perf_counter()
        self._sync_took = self._synced - began


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


def _contents(descriptor: int, path: Path) -> bytes:
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


def read_records(path: Path) -> list[bytes]:
    """The records of a log that is only looked at; nobody is kept out."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise CheckpointError(f"{path}: this is not a file but a folder or a device")
        batches = _batches(_contents(descriptor, path), path)
        return [record for batch in batches for record in _records(batch, path)]
    finally:
        os.close(descriptor)


def _batches(data: bytes, path: Path) -> Iterator[bytes]:
    """The batches of records, up to one that was not finished.

    What is not finished ends before it should, or with zeros, which is what a file system leaves
    where nothing was written. All else was changed by somebody.
    """
    if data and not MAGIC.startswith(data[: len(MAGIC)]):
        raise CheckpointError(f"{path}: this is not the log of a fit; choose another name")
    at, seal = len(MAGIC), b""
    while at < len(data):
        head = data[at : at + _HEAD.size]
        if len(head) < _HEAD.size or (not any(head) and not any(data[at:])):
            return
        length, crc = _HEAD.unpack(head)
        end = at + _HEAD.size + length + _SEAL
        if zlib.crc32(head[:4]) != crc or length > MOST_BATCH:
            raise _damaged(path, at)
        if end > len(data):
            return
        batch = data[at + _HEAD.size : end - _SEAL]
        seal = _sealed(seal, batch)
        if data[end - _SEAL : end] != seal:
            if end == len(data):  # its last pages have not reached the disk
                return
            raise _damaged(path, at)
        yield batch
        at = end


def _records(batch: bytes, path: Path) -> Iterator[bytes]:
    at = 0
    while at < len(batch):
        end = at + 4 + int.from_bytes(batch[at : at + 4], "little")
        if end > len(batch):
            raise CheckpointError(f"{path}: a record of the log claims more than there is")
        yield batch[at + 4 : end]
        at = end


def _damaged(path: Path, at: int) -> CheckpointError:
    return CheckpointError(
        f"{path}: the log is damaged at byte {at}. What stands before is sound: to go on from "
        f"there, cut it (truncate -s {at} {path}); to start anew, delete it"
    )


def _size(data: bytes) -> bytes:
    return len(data).to_bytes(4, "little")


def _sealed(before: bytes, batch: bytes) -> bytes:
    return hashlib.sha256(before + batch).digest()[:_SEAL]


def _last_seal(batches: list[bytes]) -> bytes:
    seal = b""
    for batch in batches:
        seal = _sealed(seal, batch)
    return seal
