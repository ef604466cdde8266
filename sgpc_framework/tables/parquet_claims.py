"""What a Parquet file claims to hold, compared with what is allowed before pyarrow makes room.

A page of a few bytes may claim gigabytes: by its size when unpacked, or by how many values it has,
which take no bytes where they repeat or are missing. The footer need not say so. The headers of the
pages do, and they are short: a struct each of Thrift's compact protocol, before the page itself.
"""

from __future__ import annotations

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
    encoding: int | None


class Claims(NamedTuple):
    """What was found.

    ``differences`` are the columns whose words are stored by how they differ from the word before,
    which pyarrow cannot read as places in a list of words; ``longest`` is the longest page of those
    of them whose words may be longer than what is stored of them, unpacked.
    """

    differences: frozenset[str]
    longest: int


def check_claims(file: IO[bytes], about: Any, allowance: Allowance) -> Claims:
    """Refuse a file (with pyarrow's ``FileMetaData``) that claims more than is allowed.

    ``ValueError`` if the claims contradict each other.
    """
    rows = sum(about.row_group(i).num_rows for i in range(about.num_row_groups))
    if rows != about.num_rows or rows < 0:
        raise ValueError(f"{about.num_rows} rows, and {rows} in its groups")
    columns = [about.schema.column(number) for number in range(about.num_columns)]
    wanted = rows * sum(max(CELL, column.length) for column in columns)
    allowance.check(wanted, f"a table of {rows} x {len(columns)} cells")
    unpacked, longest, differences = 0, 0, set()
    for group in range(about.num_row_groups):
        for number, column in enumerate(columns):
            pages = [*_pages(file, about.row_group(group).column(number))]
            unpacked += sum(page.unpacked for page in pages)
            allowance.check(unpacked, "unpacked, it")
            encodings = {page.encoding for page in pages if not page.is_dictionary}
            if encodings & {_DELTA_LENGTHS, _DELTA_WORDS}:
                differences.add(column.path)
                if _DELTA_WORDS in encodings or any(page.is_dictionary for page in pages):
                    longest = max(longest, *(page.unpacked for page in pages))
            if column.max_repetition_level:
                wanted += _of_lists(pages)
                allowance.check(wanted, f"a table with lists in {column.path!r}")
    return Claims(frozenset(differences), longest)


def _of_lists(pages: list[Page]) -> int:
    """What the values of lists take: each of them may be the longest of its dictionary."""
    values = sum(page.values for page in pages if not page.is_dictionary)
    longest = max((page.unpacked for page in pages if page.is_dictionary), default=0)
    return values * (NESTED + longest)


def _pages(file: IO[bytes], chunk: Any) -> Iterator[Page]:
    """The pages of a column in a group of rows, where pyarrow looks for them."""
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
        start = chunk.dictionary_page_offset
    stop = start + chunk.total_compressed_size
    while start < stop:
        file.seek(start)
        header = _Header(file.read(min(HEADER, stop - start)))
        fields = header.struct()
        unpacked, packed = fields.get(2, 0), fields.get(3, 0)
        inner = fields.get(5) or fields.get(8) or fields.get(7) or {}
        if min(unpacked, packed, inner.get(1, 0)) < 0:
            raise ValueError("a page of negative size")
        encoding = inner.get(4 if 8 in fields else 2)
        yield Page(unpacked, inner.get(1, 0), 7 in fields, encoding)
        start += header.place + packed


_DELTA_LENGTHS, _DELTA_WORDS = 6, 7
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_DEEPEST = 8


class _Header:
    """Reads a struct of Thrift's compact protocol: whole numbers and structs by their field ids."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields that are whole numbers or structs; others are passed over."""
        if depth > _DEEPEST:
            raise ValueError("a header of a page that is too deep")
        fields: dict[int, Any] = {}
        field = 0
        while begin := self._byte():
            field = field + (begin >> 4) if begin >> 4 else self._signed()
            fields[field] = self._value(begin & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return None
        if kind == _BYTE:
            return self._byte()
        if kind == _DOUBLE:
            return self._pass_over(8)
        if kind == _BINARY:
            return self._pass_over(self._number())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET) or not _BYTE < kind < _DOUBLE:
            raise ValueError(f"a header of a page with a field of type {kind}")
        return self._signed()

    def _byte(self) -> int:
        if self.place >= len(self._data):
            raise ValueError("a header of a page that does not end")
        self.place += 1
        return self._data[self.place - 1]

    def _pass_over(self, count: int) -> None:
        self.place += count

    def _number(self) -> int:
        """A whole number of seven bits a byte, the lowest first."""
        number = shift = 0
        while (byte := self._byte()) & 128:
            number |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a header of a page with a number that does not end")
        return number | byte << shift

    def _signed(self) -> int:
        number = self._number()
        return (number >> 1) ^ -(number & 1)
