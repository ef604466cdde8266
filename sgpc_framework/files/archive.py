"""Archives of arrays: one zip of uncompressed members, sealed by a checksum of the whole file.

An archive is written beside its destination and then moved there, so that a reader sees the old
file or the new one and never a half. The zip's comment, at the very end, is the SHA-256 of all that
stands before: a file that was cut or changed anywhere is refused before anything in it is believed.
That is no protection from malice, so a reader trusts nothing that a sealed file says either. It
needs no more memory than a small multiple of the file's true size, and nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import re
import stat
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import ModelFileError
from sgpc_framework.files.whole_file import whole_file

MOST_BYTES = 2**30
"""A model is small. A file that is larger than this is not one."""

MOST_MEMBERS = 60_000
DTYPES = ("<f8", "<i8", "|u1")
"""What arrays may hold: numbers, row numbers, text as bytes."""

_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>%s)', 'fortran_order': False, "
    rb"'shape': \((?P<shape>[\d, ]{0,60})\), \} {0,80}\n"
    % b"|".join(re.escape(name.encode()) for name in DTYPES),
    re.DOTALL,
)

_SEAL = b"sha256:"
_DIGITS = 64
_END = struct.Struct("<4sHHHHLLH")  # the zip's last record; the comment follows
_TAIL = _END.size + len(_SEAL) + _DIGITS

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody writes to would be waited for
_OF_BYTES = getattr(os, "O_BINARY", 0)

_NOT_A_MODEL = "this is not a model file, or it was cut short"


def npy(array: NDArray[Any]) -> bytes:
    """An array as the bytes of a ``.npy`` member, in little-endian order on every machine."""
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if plain.dtype.str not in DTYPES:
        raise ModelFileError(f"wanted an array of one of {', '.join(DTYPES)}, found {array.dtype}")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, plain, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def from_npy(name: str, data: bytes) -> NDArray[Any]:
    """The array of a ``.npy`` member, not to be written into.

    What the header claims is compared with the bytes that are there before any room is made. Only
    headers as ``npy`` has them are understood, and they are not evaluated.
    """
    header = _HEADER.match(data)
    if header is None:
        raise ModelFileError(f"{name} is not an array of one of {', '.join(DTYPES)}")
    dtype = np.dtype(header["dtype"].decode())
    shape = tuple(int(extent) for extent in header["shape"].split(b",") if extent.strip())
    there = len(data) - header.end()
    if math.prod(shape) * dtype.itemsize != there:
        raise ModelFileError(f"{name} claims the shape {shape}, which {there} bytes do not have")
    return np.frombuffer(data, dtype, offset=header.end()).reshape(shape)


def write_whole(path: Path, members: Mapping[str, bytes]) -> None:
    """Write all members, or leave what was there untouched."""
    if sum(map(len, members.values())) > MOST_BYTES or len(members) > MOST_MEMBERS:
        raise ModelFileError(f"{path}: the model is too large for a file: keep it below 1 GiB")
    try:
        with whole_file(path) as file:
            _write_sealed(file, members)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be written: {error.strerror}") from error


def _write_sealed(file: BinaryIO, members: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in sorted(members.items()):
            archive.writestr(zipfile.ZipInfo(name), data)
        archive.comment = _SEAL + b"0" * _DIGITS  # room for the digits
    file.seek(0)
    digits = hashlib.sha256(file.read()[:-_DIGITS]).hexdigest()
    file.seek(-_DIGITS, os.SEEK_END)
    file.write(digits.encode())


def read_members(path: Path) -> dict[str, bytes]:
    """All members by name. They are neither compressed nor doubled, and not too large.

    Together they are the file, but for what little a zip adds.
    """
    try:
        data = _unsealed(path)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _members(archive, len(data))
    except FileNotFoundError as error:
        raise ModelFileError("there is no such file") from error
    except OSError as error:
        raise ModelFileError(f"cannot be read: {error.strerror or error}") from error
    except (
        zipfile.BadZipFile,
        struct.error,
        EOFError,
        LookupError,
        NotImplementedError,
        OverflowError,
        RuntimeError,
        ValueError,
    ) as error:
        raise ModelFileError(f"this is not a model file, or it is damaged: {error}") from error


def _unsealed(path: Path) -> bytes:
    """The bytes of a file that is as it was written."""
    with _opened(path) as file:
        size = _sealed_size(file)
        file.seek(0)
        data = file.read(size)
    if hashlib.sha256(memoryview(data)[:-_DIGITS]).hexdigest().encode() != data[-_DIGITS:]:
        raise ModelFileError("the checksum of the file does not fit: it is damaged")
    return data


def _opened(path: Path) -> BinaryIO:
    """The file, looked at by its descriptor only: its name may mean another one at any moment."""
    descriptor = os.open(path, os.O_RDONLY | _OF_BYTES | _NO_WAIT)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ModelFileError("this is not a file but a folder or a device")
    return os.fdopen(descriptor, "rb")


def _sealed_size(file: BinaryIO) -> int:
    """How many bytes the file has, if its end is that of an archive."""
    size = os.fstat(file.fileno()).st_size
    if size > MOST_BYTES:
        raise ModelFileError(
            f"the file is larger than any model: {size} bytes, where {MOST_BYTES} are the most"
        )
    if size < _TAIL:
        raise ModelFileError(_NOT_A_MODEL)
    file.seek(-_TAIL, os.SEEK_END)
    _check_tail(file.read(_TAIL), size)
    return size


def is_sealed(path: Path) -> bool:
    """Whether a file ends as ours do; whether it is undamaged is not looked at."""
    try:
        with _opened(path) as file:
            _sealed_size(file)
    except (ModelFileError, OSError):
        return False
    return True


def _check_tail(tail: bytes, size: int) -> None:
    """The end of the file, before the rest is read: a directory that large could not be."""
    mark, _, _, _, count, length, start, comment = _END.unpack_from(tail)
    seal = tail[_END.size :]
    if mark != b"PK\5\6" or comment != len(seal) or not seal.startswith(_SEAL):
        raise ModelFileError(_NOT_A_MODEL)
    if count > MOST_MEMBERS or start + length + _TAIL != size or length > 128 * count:
        raise ModelFileError("this is not a model file: its directory claims what cannot be")


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, bytes]:
    entries = {entry.filename: entry for entry in archive.infolist()}
    if len(entries) != len(archive.infolist()):
        raise ModelFileError("this is not a model file: two of its members have one name")
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries.values()):
        raise ModelFileError("this is not a model file: its members are compressed")
    if sum(max(e.file_size, e.compress_size) for e in entries.values()) > size:
        raise ModelFileError("this is not a model file: its members claim more than there is")
    return {name: archive.read(entry) for name, entry in entries.items()}
