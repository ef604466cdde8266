"""The rows whose own class had the least probability, and why the model did not expect it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sgpc_framework.metrics.merits import losses
from sgpc_framework.model.explanation import Explanation, value_text
from sgpc_framework.report.html_tables import table
from sgpc_framework.report.markup import Markup, element, join
from sgpc_framework.report.subject import Subject
from sgpc_framework.tables.table_explanations import explain_table

MOST_SURPRISES = 10
MOST_REASONS = 3
MOST_VALUES = 30


def surprises(subject: Subject) -> Markup:
    """The section: a table of the rows, and folded what is behind each."""
    loss = losses(subject.log_proba, subject.truth)
    worst = np.argsort(-loss, kind="stable")[:MOST_SURPRISES].tolist()
    told = _explanations(subject, worst)
    text = (
        "Rows whose own class had the least probability: mistakes of the model, or labels that "
        f"deserve a second look. Rows are counted from {subject.first_row}. "
    )
    if subject.encoding is not None:
        text += (
            "For the prediction and against it are values of the row. The number is an effect: by "
            "how much less the predicted class would lead if the row had an average value there."
        )
    rows = [
        [
            row + subject.first_row,
            subject.classes[subject.truth[row]],
            subject.classes[subject.predictions.decided[row]],
            round(float(np.exp(-loss[row])), 4),
            *([] if subject.encoding is not None else [_short(subject.X[row])]),
            *_reasons(one),
        ]
        for row, one in zip(worst, told, strict=True)
    ]
    heads = ["row", "true class", "predicted", "probability of the true class"]
    words = subject.encoding is not None
    reasons = ["for the prediction", "against it"] if words else ["input", "most like"]
    behind = [_behind(subject, row, one) for row, one in zip(worst, told, strict=True)]
    fold = element("summary", "Behind each of them: the whole row, and what basis vectors say")
    return join(
        [
            element("p", text),
            table([*heads, *reasons], rows, sortable=True, class_="reasons" if words else None),
            element("details", fold, *behind, class_="fold") if len(subject.model) else None,
        ]
    )


def _explanations(subject: Subject, rows: Sequence[int]) -> list[Explanation]:
    model, encoding = subject.model, subject.encoding
    if encoding is None:
        return model.explain([subject.X[row] for row in rows])
    return explain_table(model, encoding, subject.X[list(rows)], MOST_REASONS)


def _reasons(one: Explanation) -> list[object]:
    """What speaks for the prediction and what against, or what the row is most like."""
    if one.values is None:
        near = one.nearest[0] if one.nearest else None
        return ["" if near is None else f"{_short(near.input)} ({one.likeness(near)})"]
    effects = [(name, effect) for name, effect in one.effects.items() if abs(effect) >= 0.005]
    for_it = [pair for pair in effects if pair[1] > 0.0][:MOST_REASONS]
    against = [pair for pair in effects if pair[1] < 0.0][:MOST_REASONS]
    return [_in_lines(one, for_it), _in_lines(one, against)]


def _in_lines(one: Explanation, pairs: Sequence[tuple[str, float]]) -> Markup:
    values = one.values or {}
    return join(
        element(
            "div",
            f"{name} ",
            element("b", value_text(values[name])),
            element("small", f" {effect:+.2f}"),
        )
        for name, effect in pairs
    )


def _behind(subject: Subject, row: int, one: Explanation) -> Markup:
    """The row in full, and the basis vectors that its prediction comes from."""
    items = [
        element("li", f"{vector.amount:+.2f}: {one.likeness(vector)}") for vector in one.largest
    ]
    rest = f"{one.rest:+.2f}: the other {one.others} basis vectors together"
    values = list((one.values or {}).items())
    shown = ", ".join(f"{name} {value_text(value)}" for name, value in values[:MOST_VALUES])
    more = f", and {len(values) - MOST_VALUES} further columns" if len(values) > MOST_VALUES else ""
    against = "the rest" if one.rival is None else str(one.rival)
    return element(
        "div",
        element("h3", f"Row {row + subject.first_row}: why {one.label}"),
        element("p", f"{shown}{more}.") if shown else None,
        element(
            "p",
            f"The lead of {one.label} over {against} is {one.lead:+.2f}, the sum of what basis "
            "vectors say. Each counts by its weight; in brackets, the probability of "
            f"{one.label} there.",
        ),
        element("ul", *items, element("li", rest) if one.others else None),
    )


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
