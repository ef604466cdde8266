"""Tables as Markdown has them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; nothing where there are no rows.

    >>> print(markdown_table(("set", "error"), [("banana", "0.1")]))
    | set | error |
    |---|---|
    | banana | 0.1 |
    """
    body = [f"| {' | '.join(row)} |" for row in rows]
    head = [f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    return "\n".join([*head, *body]) if body else ""
