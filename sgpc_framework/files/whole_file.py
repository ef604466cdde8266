"""Files that are written whole or not at all, to what their name means.

A link stays, and what it names is written. A file that is replaced keeps its mode and its owner.
What cannot be replaced (a device, a pipe, standard output) gets all bytes when they are complete.
What a killed process left behind is swept by a later one that writes into the same folder.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from time import time
from typing import BinaryIO

_PART = re.compile(r"\.sgpc-[0-9a-f]{16}\.part")
"""Names of unfinished files: short, so that any name which a folder can hold can be written."""

OLD = 3600.0
"""An unfinished file that nobody has written to for so many seconds is nobody's."""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write into, which takes its place when all went well.

    It is written beside its destination and then moved there, so that a reader sees the old file or
    the new one and never a half.
    """
    with _naming(path):
        yield from _written(path)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors of a disk that is full do not say whose write it was; these do."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def _written(path: Path) -> Iterator[BinaryIO]:
    if _is_a_stream(path):
        with TemporaryFile("w+b") as file:
            yield file
            file.seek(0)
            with open(path, "ab", buffering=0) as stream:  # what a shell appends to is not cut
                copyfileobj(file, stream)
        return
    target = Path(os.path.realpath(path))
    before = _status(target)
    _sweep(target.parent)
    part = _new_part(target.parent)
    try:
        with open(part, "x+b") as file:
            yield file
            if before is not None:
                _resemble(file, before)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
        sync_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """``OSError`` if a file could not be written there, as far as that can be known before."""
    if _is_a_stream(path):
        return
    with _naming(path):
        target = Path(os.path.realpath(path))
        _status(target)
        part = _new_part(target.parent)
        try:
            with open(part, "xb") as file:
                file.write(bytes(4096))  # a full disk has room for a name, but not for this
        finally:
            part.unlink(missing_ok=True)


def _new_part(folder: Path) -> Path:
    return folder / f".sgpc-{secrets.token_hex(8)}.part"


def _is_a_stream(path: Path) -> bool:
    """Whether bytes go into what has this name, rather than into a file that takes the name."""
    for _ in range(40):  # links; more of them go round in a circle
        if path.is_relative_to("/proc") or path.is_relative_to("/dev/fd"):  # an open descriptor
            return True
        if not path.is_symlink():
            break
        path = path.parent / os.readlink(path)
    return path.exists() and not path.is_file() and not path.is_dir()


def _status(target: Path) -> os.stat_result | None:
    """What is known of a file that may be replaced; None if there is none."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file that is there is read-only", str(target))
    return status


def _resemble(file: BinaryIO, before: os.stat_result) -> None:
    """Give a file the owner, if we may, and the mode of the one that it replaces."""
    if not hasattr(os, "fchmod"):
        return
    now = os.fstat(file.fileno())
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with suppress(PermissionError):
            os.fchown(file.fileno(), before.st_uid, before.st_gid)
    os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))


def sync_folder(folder: Path) -> None:
    """Make a new name last through a loss of power, where folders can be synchronised."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@cache
def _sweep(folder: Path) -> None:
    """Delete unfinished files of ours that are old: once a process and folder, it takes a look."""
    mine = os.geteuid() if hasattr(os, "geteuid") else None
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not _PART.fullmatch(entry.name):
                continue
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                ours = stat.S_ISREG(status.st_mode) and mine in (None, status.st_uid)
                if ours and time() - status.st_mtime > OLD:
                    os.unlink(entry.path)
