"""Text files, gzip-compressed or not."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO

from sgpc_framework.files.allowance import Allowance

_CHUNK = 1 << 20


def open_text(path: Path, errors: str = "strict") -> IO[str]:
    """The text of a file in UTF-8, unpacked if its name ends in ``.gz``.

    A byte order mark is left out. Ends of lines stay as they are, which is what ``csv`` wants.
    """
    if _is_packed(path):
        return gzip.open(path, "rt", encoding="utf-8-sig", errors=errors, newline="")
    return path.open(encoding="utf-8-sig", errors=errors, newline="")


def check_unpacked(path: Path, allowance: Allowance) -> None:
    """Refuse packed text that is too long, before any of it is looked at."""
    if not _is_packed(path) or allowance.size is None:
        return
    count = 0
    with gzip.open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            count += len(chunk)
            allowance.check_unpacked(count)


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"
