"""Text files, gzip-compressed or not."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import IO, Any

from sgpc_framework.files.allowance import Allowance


def open_text(path: Path, allowance: Allowance, errors: str = "strict") -> IO[str]:
    """The text of a file in UTF-8, unpacked if its name ends in ``.gz``.

    A byte order mark is left out. Ends of lines stay as they are, which is what ``csv`` wants.
    Text that goes on beyond the allowance is refused where it does.
    """
    if path.suffix.lower() != ".gz":
        return path.open(encoding="utf-8-sig", errors=errors, newline="")
    unpacked = io.BufferedReader(_Counted(path, allowance))
    return io.TextIOWrapper(unpacked, encoding="utf-8-sig", errors=errors, newline="")


class _Counted(io.RawIOBase):
    """The bytes of a gzip file, counted as they come."""

    def __init__(self, path: Path, allowance: Allowance) -> None:
        self._file = gzip.open(path, "rb")  # noqa: SIM115  closed with this one
        self._allowance = allowance
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        count = self._file.readinto(buffer)
        self._count += count
        self._allowance.check(self._count, "its text, unpacked,")
        return count

    def close(self) -> None:
        self._file.close()
        super().close()
