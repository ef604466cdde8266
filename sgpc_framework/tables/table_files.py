"""Reading a table from a file, whatever its format."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from sgpc_framework.errors import InputError, suggestion
from sgpc_framework.files.allowance import Allowance
from sgpc_framework.tables.csv_files import read_csv
from sgpc_framework.tables.other_files import read_libsvm, read_npz
from sgpc_framework.tables.parquet_files import read_parquet
from sgpc_framework.tables.table import Table
from sgpc_framework.tables.text_files import check_unpacked

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "npz",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
}
"""What a file name's ending says; ``.csv.gz`` and the like are unpacked."""

FORMATS = ("csv", "parquet", "npz", "libsvm")

DEFAULT_TARGET = {"npz": "y", "libsvm": "label"}
"""The column with the labels in formats where it has a name of its own."""


def read_table(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    header: bool | None = None,
    words: Collection[str] = (),
    missing: Collection[str] = (),
    trust: bool = False,
) -> Table:
    """The table in a CSV, Parquet, npz or libsvm file; ``format`` if its name does not say which.

    The other arguments are for CSV: ``header`` says whether the first row has the names (otherwise
    it is looked at), ``words`` names columns that are words although they look like numbers, and
    ``missing`` has texts that stand for a missing value besides the usual ones (nothing, ``?``,
    ``NA``, ``N/A``, ``#N/A``, ``NaN``, ``null``, in any case). Columns without a name get their
    position, "1", "2", ...

    A table may take ten times the memory of its file and 64 MB, which is more than tables want that
    are neither compressed nor sparse; ``trust`` lets it take more.
    """
    path = Path(path)
    kind = format or format_of(path)
    with naming(path):
        allowance = allowance_of(path, trust)
        if kind in ("csv", "libsvm"):
            check_unpacked(path, allowance)
        if kind == "csv":
            return read_csv(path, allowance, header, words, missing)
        readers: dict[str, Callable[[Path, Allowance], Table]] = {
            "parquet": read_parquet,
            "npz": read_npz,
            "libsvm": read_libsvm,
        }
        if kind not in readers:
            raise InputError(f"no table format {kind!r}; {suggestion(kind, FORMATS)}")
        return readers[kind](path, allowance)


def allowance_of(path: Path, trust: bool) -> Allowance:
    """What reading a table may take."""
    size = path.stat().st_size if path.exists() else 0
    return Allowance.of(size, InputError, f"{path}: ", trust=trust)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of reading a file are ``InputError`` and say which file it was."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}{_neighbour(path)}") from None
    except (OSError, EOFError, zlib.error) as error:
        text = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read: {text}") from error


def format_of(path: Path) -> str:
    """What the name of a file says about its format."""
    name = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    format_ = SUFFIXES.get(name.suffix.lower())
    if format_ is None:
        raise InputError(
            f"{path}: the name does not say what kind of table this is; wanted one that ends in "
            f"{', '.join(SUFFIXES)}, or the format: {', '.join(FORMATS)}"
        )
    return format_


def _neighbour(path: Path) -> str:
    if "*" in path.name:
        return ": a table is one file; many Parquet files take --dask on the command line"
    folder = path.parent
    if not folder.is_dir():
        return f": there is no folder {str(folder)!r}"
    names = [p.name for p in folder.iterdir() if p.is_file()]
    advice = suggestion(path.name, names)
    return f"; {advice}" if advice.startswith("did") else ""
