"""What a Parquet file claims to hold, compared with what is allowed before pyarrow makes room.

A page of a few bytes may claim gigabytes: by its size when unpacked, or by how many values it has,
which take no bytes where they repeat or are missing. The footer need not say so; the headers of the
pages do. Both are structs of Thrift's compact protocol, and are read here: what pyarrow says of a
footer that was forged can end the process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from sgpc_framework.files.allowance import Allowance

CELL = 8
"""What a value takes in bytes, and an index of a word."""

NESTED = 100
"""About what a value of a list takes, in bytes, until it is text."""

HEADER = 1 << 16
"""Longer than any header of a page that has no statistics of long words."""


class Page(NamedTuple):
    """What the header of a page claims."""

    unpacked: int
    values: int
    is_dictionary: bool
    encoding: int


class Claims(NamedTuple):
    """What was found.

    ``differences`` are the columns whose words are stored by how they differ from the word before,
    which pyarrow cannot read as places in a list of words; ``longest`` is the longest page of those
    of them whose words may be longer than what is stored of them, unpacked.
    """

    differences: frozenset[str]
    longest: int


def check_claims(file: IO[bytes], allowance: Allowance) -> Claims:
    """Refuse a file that claims more than is allowed; ``ValueError`` if it contradicts itself."""
    footer = _footer(file)
    columns = _leaves(_structs(footer, 2))
    groups = _structs(footer, 4)
    rows = sum(_count(group, 3) for group in groups)
    if rows != _count(footer, 3):
        raise ValueError(f"{_count(footer, 3)} rows, and {rows} in its groups")
    wanted = rows * sum(max(CELL, column.width) for column in columns)
    allowance.check(wanted, f"a table of {rows} x {len(columns)} cells")
    unpacked, longest, differences = 0, 0, set()
    for group in groups:
        for column, chunk in zip(columns, _structs(group, 1), strict=True):
            pages = [*_pages(file, _struct(chunk, 3))]
            unpacked += sum(page.unpacked for page in pages)
            allowance.check(unpacked, "unpacked, it")
            encodings = {page.encoding for page in pages if not page.is_dictionary}
            if encodings & {_DELTA_LENGTHS, _DELTA_WORDS}:
                differences.add(column.path)
                if _DELTA_WORDS in encodings or any(page.is_dictionary for page in pages):
                    longest = max(longest, *(page.unpacked for page in pages))
            if column.repeats:
                wanted += _of_lists(pages)
                allowance.check(wanted, f"a table with lists in {column.path!r}")
    return Claims(frozenset(differences), longest)


def _footer(file: IO[bytes]) -> dict[int, Any]:
    """What is known of the whole file: the struct before the last eight bytes."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
    if magic != b"PAR1" or length > size - 8:
        raise ValueError("no footer")
    file.seek(size - 8 - length)
    return _Reader(file.read(length)).struct()


class _Leaf(NamedTuple):
    """A column: its path, how many bytes a value has if that is fixed, and whether it is a list."""

    path: str
    width: int
    repeats: bool


def _leaves(elements: list[dict[int, Any]]) -> list[_Leaf]:
    """The columns of a schema, which is a tree in the order of its branches."""
    found: list[_Leaf] = []
    inside: list[tuple[int, str, bool]] = []  # how many children are still to come
    for number, element in enumerate(elements):
        while inside and not inside[-1][0]:
            inside.pop()
        path, repeats = "", False
        if inside:
            left, path, repeats = inside.pop()
            inside.append((left - 1, path, repeats))
        if number:
            name = element.get(4)
            path += ("." if path else "") + (name.decode() if isinstance(name, bytes) else "")
            repeats |= element.get(3) == _REPEATED
        if children := _count(element, 5):
            inside.append((children, path, repeats))
        elif number:
            found.append(_Leaf(path, _count(element, 2), repeats))
    return found


def _of_lists(pages: list[Page]) -> int:
    """What the values of lists take: each of them may be the longest of its dictionary."""
    values = sum(page.values for page in pages if not page.is_dictionary)
    longest = max((page.unpacked for page in pages if page.is_dictionary), default=0)
    return values * (NESTED + longest)


def _pages(file: IO[bytes], chunk: dict[int, Any]) -> Iterator[Page]:
    """The pages of a column in a group of rows, where pyarrow looks for them."""
    start = _count(chunk, 9)
    if 0 < _count(chunk, 11) < start:
        start = _count(chunk, 11)
    stop = start + _count(chunk, 7)
    while start < stop:
        file.seek(start)
        header = _Reader(file.read(min(HEADER, stop - start)))
        fields = header.struct()
        inner = _struct(fields, next((i for i in (5, 8, 7) if i in fields), 5))
        unpacked, packed, values = _count(fields, 2), _count(fields, 3), _count(inner, 1)
        encoding = 0 if 7 in fields else _count(inner, 4 if 8 in fields else 2)
        yield Page(unpacked, values, 7 in fields, encoding)
        start += header.place + packed


def _count(fields: dict[int, Any], field: int) -> int:
    count = fields.get(field, 0)
    if not isinstance(count, int) or count < 0:
        raise ValueError(f"{str(count)[:50]} where a size or a count should be")
    return count


def _struct(fields: dict[int, Any], field: int) -> dict[int, Any]:
    found = fields.get(field, {})
    if not isinstance(found, dict):
        raise ValueError(f"{str(found)[:50]} where a struct should be")
    return found


def _structs(fields: dict[int, Any], field: int) -> list[dict[int, Any]]:
    found = fields.get(field, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError(f"{str(found)[:50]} where structs should be")
    return found


_DELTA_LENGTHS, _DELTA_WORDS = 6, 7
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_REPEATED = 2
_DEEPEST = 16


class _Reader:
    """Reads a struct of Thrift's compact protocol: its values by the numbers of their fields."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a struct."""
        if depth > _DEEPEST:
            raise ValueError("structs that are too deep")
        fields: dict[int, Any] = {}
        field = 0
        while begin := self._byte():
            field = field + (begin >> 4) if begin >> 4 else self._signed()
            kind = begin & 15
            fields[field] = None if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE, _BYTE):  # in a list, a truth has a byte, too
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._number())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return self._list(depth)
        if not _BYTE < kind < _DOUBLE:
            raise ValueError(f"a field of type {kind}")
        return self._signed()

    def _list(self, depth: int) -> list[Any]:
        begin = self._byte()
        count = begin >> 4 if begin >> 4 < 15 else self._number()
        if count > len(self._data) - self.place or depth > _DEEPEST:  # each takes a byte or more
            raise ValueError(f"a list of {count} entries")
        return [self._value(begin & 15, depth + 1) for _ in range(count)]

    def _bytes(self, count: int) -> bytes:
        self.place += count
        if self.place > len(self._data):
            raise ValueError("a text that does not end")
        return self._data[self.place - count : self.place]

    def _byte(self) -> int:
        if self.place >= len(self._data):
            raise ValueError("a struct that does not end")
        self.place += 1
        return self._data[self.place - 1]

    def _number(self) -> int:
        """A whole number of seven bits a byte, the lowest first."""
        number = shift = 0
        while (byte := self._byte()) & 128:
            number |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number that does not end")
        return number | byte << shift

    def _signed(self) -> int:
        number = self._number()
        return (number >> 1) ^ -(number & 1)
