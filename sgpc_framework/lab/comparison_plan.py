"""A plan: which methods are compared on which data sets, at which sizes, how often.

    Plan.of(["pool:keep=40", "adaptive 2"], ["generated"], sizes=[20, 40])

The same in a TOML file, which ``Plan.from_file`` reads:

    methods = ["pool:keep=40", "adaptive 2"]
    suite = "generated"
    sizes = [20, 40]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from sgpc_framework.config.config_files import read_mapping
from sgpc_framework.errors import InputError, suggestion
from sgpc_framework.lab.cells import Cell, Outcome
from sgpc_framework.lab.data_sources import Source
from sgpc_framework.lab.known_results import PAPER as PAPER_RESULTS
from sgpc_framework.lab.known_results import KnownResults
from sgpc_framework.lab.method_texts import Given, base_of, methods_of
from sgpc_framework.lab.methods import PAPER, Method, method
from sgpc_framework.lab.plan import COMPARED
from sgpc_framework.lab.suites import sources_of

ITERATIONS = 10
"""Rounds of the outer loop at most, where nobody says; the paper has 20."""

MOST_FITS = 10**6
"""Nobody waits for more, and nobody's memory has to hold them."""


@attrs.frozen(eq=False, slots=False)
class Plan:
    """Methods x data sets x sizes x partitions. The first method is the control by default."""

    methods: tuple[Method, ...]
    sources: tuple[Source, ...]
    sizes: tuple[int, ...] = attrs.field(default=(40,))
    partitions: int = attrs.field(default=10)
    iterations: int | None = None
    """Rounds of the outer loop at most; by default 10, or as the known results had at a size."""

    rows: int | None = None
    """Training rows, where not all are used."""

    control: str = ""
    known: KnownResults = attrs.Factory(KnownResults)
    """Results that are compared with and not computed."""

    rivals: tuple[Method, ...] = ()
    """Methods that are computed where no known result has the same rows."""

    @sizes.validator
    def _check_sizes(self, _: Any, sizes: tuple[int, ...]) -> None:
        if not sizes or any(type(size) is not int or size < 1 for size in sizes):
            raise InputError(f"wanted sizes of at least 1, found {list(sizes)}")

    @partitions.validator
    def _check_partitions(self, _: Any, partitions: int) -> None:
        if type(partitions) is not int or partitions < 1:
            raise InputError(f"wanted at least one partition, found {partitions!r}")

    def __attrs_post_init__(self) -> None:
        if not self.methods:
            raise InputError("wanted methods to compare, found none")
        if self.control and self.control not in self.names:
            raise InputError(
                f"wanted the control to be one of the methods, found {self.control!r}; "
                f"{suggestion(self.control, self.names)}"
            )
        fits = len(self.computed) * len(self.sources) * len(self.sizes) * self.partitions
        if fits > MOST_FITS:
            raise InputError(f"wanted at most {MOST_FITS} fits in a plan, found {fits}")
        if len(self.names) < 2:
            raise InputError(f"wanted two methods or more, found {self.names[0]!r} alone")

    @classmethod
    def of(
        cls,
        methods: Iterable[Given] | Mapping[str, Given],
        suites: Iterable[str] | str = "generated",
        *,
        sets: Iterable[str] | str = (),
        target: str | None = None,
        base: str | None = None,
        against: Iterable[str] | str = (),
        sizes: Iterable[int] = (40,),
        downloads: Path | None = None,
        **settings: Any,
    ) -> Plan:
        """A plan of methods and suites by their texts; ``settings`` are fields of the plan.

        A method may also be a mapping of settings or a part ready made; ``base`` is the preset or
        the file that methods change. ``against`` names known results: ``"paper"``, or files that
        an earlier run has written. What is not known of the paper's methods is computed.
        """
        chosen = methods_of(methods, PAPER if base is None else base_of(base))
        named = _several(against)
        own = {each.name for each in chosen}
        rivals = [method(name) for name in COMPARED if PAPER_RESULTS in named and name not in own]
        return cls(
            chosen,
            sources_of(_several(suites), sets=_several(sets), target=target, downloads=downloads),
            tuple(sorted(set(sizes))),
            known=KnownResults.read(named),
            rivals=tuple(rivals),
            **settings,
        )

    @classmethod
    def from_file(cls, path: str | Path, *, downloads: Path | None = None, **changes: Any) -> Plan:
        """The plan of a TOML or JSON file; ``changes`` replace entries of it."""
        said = {**read_mapping(Path(path)), **changes}
        unknown = [key for key in said if key not in KEYS]
        if unknown:
            raise InputError(f"{path}: no entry {unknown[0]!r}; {suggestion(unknown[0], KEYS)}")
        if "methods" not in said:
            raise InputError(f"{path}: wanted an entry 'methods', found {', '.join(said)}")
        for key, value in said.items():
            fits, what = KEYS[key]
            if not fits(value):
                raise InputError(f"{path}: wanted {what} for {key!r}, found {value!r}")
        methods, suite = said.pop("methods"), said.pop("suite", "generated")
        return cls.of(methods, suite, downloads=downloads, **said)

    @property
    def computed(self) -> tuple[Method, ...]:
        """The methods that have to be fitted, where no known result stands for the fit."""
        return *self.methods, *self.rivals

    @property
    def names(self) -> tuple[str, ...]:
        """All methods that are compared, those that are computed first."""
        computed = (each.name for each in self.computed)
        return tuple(dict.fromkeys([*computed, *self.known.methods]))

    @property
    def compared_with(self) -> str:
        """The method that the others are compared with."""
        return self.control or self.names[0]

    @property
    def limits(self) -> dict[int, int]:
        """Outer iterations at most, by size."""
        return {
            size: self.iterations or self.known.iterations_at(size) or ITERATIONS
            for size in self.sizes
        }

    @cached_property
    def given(self) -> dict[Cell, Outcome]:
        """The known results that have the same rows and the same limits."""
        found: dict[Cell, Outcome] = {}
        for source in self.sources:
            found |= self.known.on(source, self.partitions, self.limits, self.rows)
        own = {each.name for each in self.methods}
        return {cell: outcome for cell, outcome in found.items() if cell.method not in own}

    @cached_property
    def cells(self) -> list[Cell]:
        """The fits, partition by partition, so that stopping early leaves a balance."""
        every = (
            Cell(
                source.name,
                partition,
                method.name,
                size,
                self.limits[size],
                self.rows,
                recipe=method,
                origin=source,
            )
            for partition in range(self.partitions)
            for size in self.sizes
            for source in self.sources
            for method in self.computed
        )
        had = {(cell.data, cell.partition, cell.method, cell.size) for cell in self.given}
        return [
            cell for cell in every if (cell.data, cell.partition, cell.method, cell.size) not in had
        ]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return type(value) is int and value >= 1


def _are_texts(value: Any) -> bool:
    return _is_text(value) or (isinstance(value, list | tuple) and all(map(_is_text, value)))


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_number, value))


def _are_methods(value: Any) -> bool:
    return isinstance(value, list | tuple | Mapping)


_METHODS = (_are_methods, "a list or a table of methods")
_TEXT = (_is_text, "a text")
_TEXTS = (_are_texts, "a text or a list of texts")
_NUMBER = (_is_number, "a whole number of at least 1")
_NUMBERS = (_are_numbers, "a list of whole numbers of at least 1")

KEYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "methods": _METHODS,
    "suite": _TEXTS,
    "sets": _TEXTS,
    "target": _TEXT,
    "base": _TEXT,
    "against": _TEXTS,
    "sizes": _NUMBERS,
    "partitions": _NUMBER,
    "iterations": _NUMBER,
    "rows": _NUMBER,
    "control": _TEXT,
}
"""What a file may say."""


def _several(given: Iterable[str] | str) -> list[str]:
    return [given] if isinstance(given, str) else list(given)
