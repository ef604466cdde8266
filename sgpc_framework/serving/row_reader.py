"""From the body of a request to rows that a classifier takes, with every problem of it at once."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import attrs
import numpy as np

from sgpc_framework.errors import InputError
from sgpc_framework.model.classes import Classifier, models_of
from sgpc_framework.serving.fields import Field, NumberField, fields_of, short
from sgpc_framework.serving.refusals import SHOWN, Problem, Refusal, found, pointer
from sgpc_framework.tables.table import Column, Table
from sgpc_framework.tables.table_classifier import TableClassifier

BODY = '{"rows": [...]}'

ABSENT = object()
"""Where a row has no such column, which no field takes: a missing value is null, not left out."""


@attrs.frozen
class RowReader:
    """Reads rows for one classifier: objects by column name, or lists of numbers."""

    fields: tuple[Field, ...]
    named: bool
    """Whether a row is an object; otherwise it is a list, in the order of the fields."""
    max_rows: int

    @classmethod
    def of(cls, classifier: Classifier | TableClassifier, max_rows: int) -> RowReader:
        """The reader for a classifier; ``InputError`` if its inputs are no rows of a table."""
        if isinstance(classifier, TableClassifier):
            return cls(fields_of(classifier.encoding), True, max_rows)
        model = next(iter(models_of(classifier).values()))
        if model.inputs.ndim != 2:
            raise InputError(
                "wanted a model of tables or of arrays of numbers, found one of objects, which "
                "JSON cannot carry"
            )
        typical = np.median(model.inputs, axis=0)  # a row of its own would reveal a training row
        numbers = (NumberField(str(place), short(x)) for place, x in enumerate(typical))
        return cls(tuple(numbers), False, max_rows)

    @property
    def example(self) -> dict[str, Any]:
        """A body that can be read."""
        values = [field.example for field in self.fields]
        names = [field.name for field in self.fields]
        return {"rows": [dict(zip(names, values, strict=True)) if self.named else values]}

    def read(self, body: bytes) -> Any:
        """The rows, as a table or as a matrix; ``Refusal`` if there is anything wrong with them."""
        rows = self._rows(_parsed(body))
        problems = _Problems()
        whole = [self._cells(number, row, problems) for number, row in enumerate(rows)]
        problems.refuse()
        columns = zip(self.fields, zip(*whole, strict=True), strict=True)
        values = [(field.name, field.values(cells)) for field, cells in columns]
        if self.named:
            return Table(tuple(Column(*each) for each in values), "the request")
        return np.stack([column for _, column in values], axis=1)

    def _rows(self, document: Any) -> list[Any]:
        problem: tuple[str, str, str]
        if not isinstance(document, dict):
            problem = "", f"an object, {BODY}", found(document)
        elif "rows" not in document:
            problem = "", f"an object with a list of rows, {BODY}", "an object without 'rows'"
        elif others := [name for name in document if name != "rows"]:
            problem = pointer(others[0][:100]), f"nothing beside 'rows', {BODY}", found(others[0])
        elif not isinstance(document["rows"], list):
            problem = "/rows", f"a list of rows, {BODY}", found(document["rows"])
        elif not 1 <= len(document["rows"]) <= self.max_rows:
            problem = "/rows", f"1 to {self.max_rows} rows", f"{len(document['rows'])}"
        else:
            rows: list[Any] = document["rows"]
            return rows
        raise Refusal(422, "the body cannot be used", [Problem(*problem)])

    def _cells(self, number: int, row: Any, problems: _Problems) -> list[Any]:
        """The values of a row in the order of the fields; what is wrong goes to the problems."""
        count = len(self.fields)
        if self.named:
            if not isinstance(row, dict):
                wanted = f"an object with {count} columns by name"
                problems.add(pointer("rows", number), wanted, found(row))
                return []
            cells = [row.get(field.name, ABSENT) for field in self.fields]
        else:
            if not isinstance(row, list) or len(row) != count:
                problems.add(pointer("rows", number), f"a list of {count} numbers", found(row))
                return []
            cells = row
        for field, cell in zip(self.fields, cells, strict=True):
            if (better := field.wanted(cell)) is not None:
                what = "no such column" if cell is ABSENT else found(cell)
                problems.add(pointer("rows", number, field.name), better, what)
        return cells


@attrs.define
class _Problems:
    """Those of one request, of which the first few are kept."""

    kept: list[Problem] = attrs.Factory(list)
    count: int = 0

    def add(self, where: str, wanted: str, found: str) -> None:
        self.count += 1
        if len(self.kept) < SHOWN:
            self.kept.append(Problem(where, wanted, found))

    def refuse(self) -> None:
        if self.count:
            noun = "1 problem" if self.count == 1 else f"{self.count} problems"
            raise Refusal(422, f"the rows have {noun}", self.kept, self.count)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body.decode(), parse_constant=_no_json)
    except UnicodeDecodeError as error:
        text = f"byte {body[error.start]:#04x} at position {error.start}"
        problem = Problem("", "JSON in UTF-8", text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        problem = Problem("", f"JSON such as {BODY}", f"{error.msg} ({where})")
    except RecursionError:
        problem = Problem("", f"JSON such as {BODY}", "lists or objects nested too deeply")
    except ValueError as error:  # NaN, or a whole number of thousands of digits
        own = type(error) is _Constant
        text = str(error) if own else "a whole number of too many digits"
        problem = Problem("", "JSON, in which null stands for a missing value", text)
    raise Refusal(400, "the body is not JSON", [problem])


class _Constant(ValueError):
    """NaN or Infinity, which Python reads and JSON has not."""


def _no_json(name: str) -> NoReturn:
    raise _Constant(name)
