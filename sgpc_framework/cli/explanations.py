"""What ``--explain`` adds to the predictions of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sgpc_framework.tables import Table, TableClassifier

HEADING = "explanation"


def explanation_cells(classifier: TableClassifier, table: Table, as_json: bool) -> list[Any]:
    """Why each row is predicted as it is: plain data for JSON, otherwise a line of text."""
    told = classifier.explain(table)
    if as_json:
        return [one.as_plain() for one in told]
    return [one.in_one_line for one in told]
