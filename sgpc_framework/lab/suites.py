"""Suites: several data sets by one name.

``paper`` has the six sets of the paper as far as they are here; ``generated`` needs no file;
``openml:31,1489`` are data sets of OpenML; a folder has a set in every table; a table is one set;
and a set may be named alone, ``banana`` or ``clusters``.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sgpc_framework import datasets
from sgpc_framework.datasets.openml import fetch_table
from sgpc_framework.errors import InputError, suggestion
from sgpc_framework.lab.bayes import KNOWN
from sgpc_framework.lab.data_sources import GeneratedSet, PaperSet, Source, TableFile
from sgpc_framework.tables.table_files import SUFFIXES

SUITES = ("paper", "generated")
OPENML = "openml:"


def sources_of(
    suites: Iterable[str],
    *,
    sets: Iterable[str] = (),
    target: str | None = None,
    downloads: Path | None = None,
) -> tuple[Source, ...]:
    """The sets of some suites, each once; with ``sets``, those of these names alone.

    ``target`` names the column with the labels of tables. What comes from OpenML is kept in the
    folder ``downloads``.
    """
    found: dict[str, Source] = {}
    for suite in suites:
        for source in _sources(suite.strip(), target, downloads):
            if source.name in found and found[source.name] != source:
                raise InputError(
                    f"wanted data sets of different names, found two called {source.name}: "
                    "compare on one suite after the other, or name the sets of one of them"
                )
            found[source.name] = source
    wanted = list(sets)
    for name in wanted:
        if name not in found:
            raise InputError(f"no data set {name!r}; {suggestion(name, found)}")
    chosen = tuple(source for name, source in found.items() if not wanted or name in wanted)
    if not chosen:
        raise InputError("wanted data sets to compare methods on, found none")
    return chosen


def _sources(suite: str, target: str | None, downloads: Path | None) -> list[Source]:
    if suite == "paper":
        return [PaperSet(name) for name in datasets.available()]
    if suite == "generated":
        return [GeneratedSet(name) for name in KNOWN]
    if suite.startswith(OPENML):
        numbers = suite.removeprefix(OPENML).split(",")
        return [_from_openml(number.strip(), target, downloads) for number in numbers]
    if suite in datasets.BENCHMARKS:
        return [PaperSet(suite)]
    if suite in KNOWN:
        return [GeneratedSet(suite)]
    path = Path(suite)
    with suppress(OSError):  # a name too long for any file
        if path.is_dir():
            return _in_folder(path, target)
        if path.is_file():
            return [TableFile(path.resolve(), target)]
    raise InputError(
        f"wanted a suite ({', '.join(SUITES)} or openml:ID,...), a data set, a folder of tables or "
        f"a table, found {suite!r}; {suggestion(suite, [*SUITES, *datasets.BENCHMARKS, *KNOWN])}"
    )


def _from_openml(number: str, target: str | None, downloads: Path | None) -> Source:
    if not (number.isdecimal() and len(number) < 10):
        raise InputError(f"wanted numbers of data sets behind {OPENML}, found {number!r}")
    folder = downloads or Path.cwd()
    path = folder / f"openml-{number}.csv"
    return TableFile((path if path.is_file() else fetch_table(int(number), path)).resolve(), target)


def _in_folder(folder: Path, target: str | None) -> list[Source]:
    tables = [
        path
        for path in sorted(folder.iterdir())
        if path.is_file() and {*path.suffixes[-2:]} & {*SUFFIXES} and path.suffix != ".part"
    ]
    if not tables:
        raise InputError(
            f"{folder}: wanted tables, files that end in {', '.join(SUFFIXES)}, found none"
        )
    return [TableFile(path.resolve(), target) for path in tables]
