"""Text files, gzip-compressed or not."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import IO


def open_text(path: Path, errors: str = "strict") -> IO[str]:
    """The text of a file in UTF-8, unpacked if its name ends in ``.gz``.

    A byte order mark is left out. Ends of lines stay as they are, which is what ``csv`` wants.
    """
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors=errors, newline="")
    return path.open(encoding="utf-8-sig", errors=errors, newline="")
