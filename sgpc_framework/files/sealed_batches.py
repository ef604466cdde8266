"""The bytes of a log: batches of records, each sealed together with all before it.

    sgpc-log 1\\n   length  crc  records  seal   length  crc  records  seal   ...

Records that are written together are a batch. ``length`` is that of its records, ``crc`` a checksum
of the length, and ``seal`` the beginning of the SHA-256 of the seal before and the records. So
every beginning of a log is a log, and one that was cut, because a process was killed while it wrote
or the machine lost its power, has lost its last batch and nothing else. A log that was changed
elsewhere is refused.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from sgpc_framework.errors import CheckpointError

MAGIC = b"sgpc-log 1\n"
MOST_BATCH = 2**30
MOST_RECORD = MOST_BATCH // 2
_HEAD = struct.Struct("<LL")
_SEAL = 16


class Contents(NamedTuple):
    """What a log has: its records, where the last finished batch ends, and the seal of that."""

    records: list[bytes]
    end: int
    seal: bytes


def contents_of(data: bytes, path: Path) -> Contents:
    """What the bytes of a log have, up to a batch that was not finished; ``path`` is for errors.

    What is not finished ends before it should, or with zeros, which is what a file system leaves
    where nothing was written. All else was changed by somebody.
    """
    if data and not MAGIC.startswith(data[: len(MAGIC)]):
        raise CheckpointError(f"{path}: this is not the log of a fit; choose another name")
    if len(data) < len(MAGIC):
        return Contents([], 0, b"")
    contents = Contents([], len(MAGIC), b"")
    while contents.end < len(data):
        batch = _batch(data, contents, path)
        if batch is None:
            break
        contents.records.extend(_records(batch, path))
        end = contents.end + _HEAD.size + len(batch) + _SEAL
        contents = Contents(contents.records, end, data[end - _SEAL : end])
    return contents


def batch_bytes(records: Iterable[bytes], before: bytes) -> tuple[bytes, bytes]:
    """A batch as it is written after the seal ``before``, and its own seal."""
    batch = b"".join(part for record in records for part in (_size(record), record))
    seal = _sealed(before, batch)
    return _HEAD.pack(len(batch), zlib.crc32(_size(batch))) + batch + seal, seal


def _batch(data: bytes, before: Contents, path: Path) -> bytes | None:
    """The next batch; None if it was not finished."""
    at = before.end
    head = data[at : at + _HEAD.size]
    if len(head) < _HEAD.size or (not any(head) and not any(data[at:])):
        return None
    length, crc = _HEAD.unpack(head)
    end = at + _HEAD.size + length + _SEAL
    if zlib.crc32(head[:4]) != crc or length > MOST_BATCH:
        raise _damaged(path, at)
    if end > len(data):
        return None
    batch = data[at + _HEAD.size : end - _SEAL]
    if data[end - _SEAL : end] != _sealed(before.seal, batch):
        if end == len(data):  # its last pages have not reached the disk
            return None
        raise _damaged(path, at)
    return batch


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
