"""Tables of a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np

from sgpc_framework.metrics.figure_rows import figure_rows
from sgpc_framework.report.markup import Markup, element, join
from sgpc_framework.report.subject import Subject

MOST_BASIS = 300
MOST_AT_ONCE, MOST_ON_PAPER = 25, 50
MOST_COLUMNS = 8


def number(value: float) -> str:
    """A number with four digits that count.

    >>> number(0.123456), number(1234567.0), number(-0.0), number(40.0)
    ('0.1235', '1.235e+06', '0', '40')
    """
    return f"{value + 0.0:.4g}"


def percent(share: float) -> str:
    """A share as people say it.

    >>> [percent(share).split() for share in (0.0834, 0.0, 0.00012)]
    [['8.3', '%'], ['0', '%'], ['0.012', '%']]
    """
    digits = f"{100.0 * share:.1f}" if share >= 0.001 else f"{100.0 * share:.2g}"
    return f"{digits}\N{NO-BREAK SPACE}%"


def table(
    headings: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    sortable: bool = False,
    class_: str | None = None,
) -> Markup:
    """A table whose columns of numbers are aligned; ``sortable`` ones the script makes so."""
    cells = [list(row) for row in rows]
    columns = [_column([row[place] for row in cells]) for place in range(len(headings))]
    head = join(
        element("th", heading, scope="col", class_="n" if column.numeric else None)
        for heading, column in zip(headings, columns, strict=True)
    )
    body = join(
        element("tr", join(column.cells[position] for column in columns))
        for position in range(len(cells))
    )
    inner = element(
        "table",
        element("thead", element("tr", head)),
        element("tbody", body),
        class_=class_,
        data_sortable=sortable,
    )
    if len(cells) <= MOST_AT_ONCE:
        return element("div", inner, class_="scroll")
    tall = element("div", inner, class_="scroll tall", tabindex=0)
    on_paper = f"Of these {len(cells)} rows, the first {MOST_ON_PAPER} are printed."
    left_out = element("p", on_paper, class_="quiet printed")
    return join([tall, left_out]) if len(cells) > MOST_ON_PAPER else tall


@attrs.frozen
class Column:
    """The cells of a column; ``numeric`` if all of them are numbers."""

    numeric: bool
    cells: list[Markup]


def _column(values: list[object]) -> Column:
    """Numbers are aligned right, written alike, and keep their value for sorting."""
    numbers = [float(value) for value in values if isinstance(value, (int, float))]
    if len(numbers) < len(values) or not numbers:
        return Column(False, [element("td", value) for value in values])
    texts = aligned_texts(numbers)
    return Column(
        True,
        [
            element("td", text, class_="n", data_value=repr(value))
            for text, value in zip(texts, numbers, strict=True)
        ],
    )


def aligned_texts(numbers: list[float]) -> list[str]:
    """Numbers with the same number of decimals, no more than they need, at most four digits.

    >>> [*map(aligned_texts, ([1.0, 20.0], [73.4321, 5.93], [0.5, 1.25], [1e-7, 3e-6]))]
    [['1', '20'], ['73.43', '5.93'], ['0.50', '1.25'], ['1e-07', '3e-06']]
    """
    sizes = [abs(value) for value in numbers if value]
    if not sizes or (all(map(float.is_integer, numbers)) and max(sizes) < 1e7):
        return [f"{value + 0.0:.0f}" for value in numbers]
    if not 1e-3 <= max(sizes) < 1e5:
        return [number(value) for value in numbers]
    decimals = max(0, 3 - math.floor(math.log10(max(sizes))))
    while decimals and all(round(v, decimals) == round(v, decimals - 1) for v in numbers):
        decimals -= 1
    return [f"{round(value, decimals) + 0.0:.{decimals}f}" for value in numbers]


def basis_table(subject: Subject) -> Markup:
    """Every basis vector: where it came from, its site, its columns."""
    shown, columns = 0, subject.foremost(MOST_COLUMNS)
    rows: list[list[object]] = []
    for label, model in subject.models.items():
        for position in range(min(len(model), MOST_BASIS - shown)):
            sites, values = model.sites, subject.in_words(model.inputs[position])
            means, coefficients = (
                np.atleast_2d(each)[:, position] for each in (sites.mean, sites.coefficient)
            )
            most = int(means.argmax())  # the function that is asked to be highest
            own = label if subject.one_for_each else subject.classes[most]
            rows.append(
                [
                    *([own] if subject.many else []),
                    position + 1,
                    int(model.basis[position]) + subject.first_row,
                    *(_cell(values[name]) for name in columns),
                    float(means[most]),
                    float(sites.precision[position]),
                    float(coefficients[most]),
                ]
            )
        shown = len(rows)
    heads = ["number", "training row", *columns, "site mean", "site precision", "coefficient"]
    total = sum(len(model) for model in subject.models.values())
    left_out = [
        f"{total - shown} further basis vectors are not shown." if total > shown else None,
        f" Of {len(subject.columns)} columns, the {len(columns)} that matter most are shown."
        if len(subject.columns) > len(columns)
        else None,
    ]
    return join(
        [
            table([*(["class"] if subject.many else []), *heads], rows, sortable=True),
            element("p", *left_out, class_="quiet") if any(left_out) else None,
        ]
    )


def _cell(value: Any) -> object:
    if isinstance(value, float):
        return value
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def figure_table(subject: Subject) -> Markup:
    """Every figure of merit with its noise, beside what needs no model."""
    rows = figure_rows(subject.predictions)
    return table(["", "the model", "± standard error, or 95 % interval", "to compare with"], rows)
