"""A report on a fitted classifier: one page that needs nothing beside it.

    from sgpc_framework.report import render

    Path("report.html").write_text(render(model, X_test, y_test), encoding="utf-8")

``markup`` makes HTML, ``subject`` holds what the report is about, ``page`` puts the sections in
order. Pictures need the extra ``plots``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sgpc_framework.model.classes import Classifier
    from sgpc_framework.report.subject import Units
    from sgpc_framework.tables import TableClassifier

__all__ = ["render", "render_table"]


def render(
    model: Classifier,
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[str] | None = None,
    units: Units | None = None,
    title: str | None = None,
) -> str:
    """The report as one HTML page, with ``X`` and ``y`` as the rows that judge the model.

    Give rows that the fit has not seen. ``units`` says how the features that the model sees, if
    they were standardised say, become those that people know.
    """
    from sgpc_framework.report.page import document
    from sgpc_framework.report.subject import Subject

    return document(Subject.of(model, X, y, feature_names, units), title)


def render_table(classifier: TableClassifier, data: Any, *, title: str | None = None) -> str:
    """The report on a classifier of tables, with the rows of a table as its judges.

    All is told in the words and units of the table, and rows are counted from 1, as in its errors.
    """
    from sgpc_framework.report.page import document
    from sgpc_framework.report.subject import Subject

    subject = Subject.of(
        classifier.model,
        classifier.encode(data),
        classifier.labels(data),
        first_row=1,
        encoding=classifier.encoding,
    )
    return document(subject, title, target=classifier.target)
