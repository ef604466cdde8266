"""Which classes were taken for which."""

from __future__ import annotations

import numpy as np

from sgpc_framework.report.html_tables import percent, table
from sgpc_framework.report.markup import Markup, element, join
from sgpc_framework.report.subject import Subject

MOST_WITH_SHARES = 6
MOST_IN_A_MATRIX = 30
MOST_MISTAKES = 20


def confusion_table(subject: Subject) -> Markup:
    """How many rows of each class were taken for which; of very many classes, the mistakes that
    are most frequent."""
    counts = subject.predictions.confusion
    if len(subject.classes) > MOST_IN_A_MATRIX:
        return _mistakes(subject)
    totals = counts.sum(axis=1)
    dense = len(subject.classes) > MOST_WITH_SHARES
    corner = element("td", "", class_="corner")
    head = join(element("th", name, scope="col") for name in subject.classes)
    rows = []
    for own, name in enumerate(subject.classes):
        cells = []
        for other, count in enumerate(counts[own].tolist()):
            share = count / max(int(totals[own]), 1)
            kind = "right" if own == other else "wrong" if count else "wrong none"
            beside = None if dense else element("small", f" {percent(share)}")
            cells.append(
                element(
                    "td", element("b", count), beside, class_=kind, style=f"--share:{share:.3f}"
                )
            )
        rows.append(element("tr", element("th", name, scope="row"), join(cells)))
    above = element("th", "predicted", colspan=len(subject.classes), scope="colgroup")
    inner = element(
        "table",
        element("thead", element("tr", corner, above), element("tr", element("th", "true"), head)),
        element("tbody", join(rows)),
        class_="confusion dense" if dense else "confusion",
    )
    return element("div", inner, class_="scroll")


def _mistakes(subject: Subject) -> Markup:
    counts = subject.predictions.confusion.copy()
    np.fill_diagonal(counts, 0)
    most = np.argsort(-counts, axis=None, kind="stable")[:MOST_MISTAKES]
    pairs = [divmod(int(place), len(counts)) for place in most if counts.flat[place]]
    rows = [[subject.classes[t], subject.classes[p], int(counts[t, p])] for t, p in pairs]
    text = f"Of {np.count_nonzero(counts)} kinds of mistakes, the {len(rows)} most frequent."
    return join(
        [
            table(["true class", "predicted", "rows"], rows, sortable=True),
            element("p", text, class_="quiet"),
        ]
    )


def taken_for_table(subject: Subject) -> Markup:
    """Class by class: how many there are, how many are found, and what they are taken for."""
    counts = subject.predictions.confusion
    rows: list[list[object]] = []
    for own, name in enumerate(subject.classes):
        total, said, right = (
            int(counts[own].sum()),
            int(counts[:, own].sum()),
            int(counts[own, own]),
        )
        mistakes = counts[own].copy()
        mistakes[own] = 0
        most = int(mistakes.argmax())
        rows.append(
            [
                name,
                total,
                percent(right / total) if total else "-",
                percent(right / said) if said else "-",
                f"{subject.classes[most]} ({mistakes[most]})" if mistakes[most] else "",
            ]
        )
    heads = ["class", "rows", "found (recall)", "right (precision)", "most often taken for"]
    return table(heads, rows, sortable=True)
