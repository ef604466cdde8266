"""What a written classifier needs of its language: functions from a file, those that it uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.resources import files
from string import Template

from sgpc_framework.adapters.portable.formula import Formula
from sgpc_framework.adapters.portable.special_functions import DEGREE, NODES, POLE, TERMS
from sgpc_framework.parts.expressions import Lines, ManyClassLink
from sgpc_framework.tables.feature_columns import WordColumn


def needs(formula: Formula) -> list[str]:
    """The sections of a runtime that a formula uses, in their order."""
    used = {"posterior", *_of_kernels(formula), *_of_links(formula)}
    used.add("numbers")
    if formula.encoding:
        plain = formula.encoding.plain_columns()
        used |= {"words" for column, _ in plain if isinstance(column, WordColumn)}
        used |= {"dates" for _ in formula.encoding.dates}
        used |= {"weekdays" for each in formula.encoding.dates if "weekday" in each.calendar}
        used |= {"flags" for column in formula.encoding.columns if column.flagged}
    return [section for section in _ORDER if section in used]


_ORDER = (
    *("posterior", "squared_distance", "sine_distance", "dot_product"),
    *("along_lines", "combinations"),
    *("erfcx", "normal", "logistic", "two_classes", "softmax", "many_classes"),
    *("numbers", "words", "weekdays", "dates", "flags"),
)


def _of_kernels(formula: Formula) -> Iterator[str]:
    for process in formula.processes:
        yield from (comparison.kind for comparison in process.plan.comparisons)
        for view in process.plan.views:
            yield "along_lines" if isinstance(view.through, Lines) else "combinations"


def _of_links(formula: Formula) -> Iterator[str]:
    yield "erfcx"
    if len(formula.processes) > 1:
        yield "softmax"
    for process in formula.processes:
        if isinstance(process.link, ManyClassLink):
            yield from ("softmax", "many_classes")
        else:
            yield from (process.link.curve, "two_classes")


def runtime(file: str, sections: Iterable[str], between: str = "\n") -> str:
    """These sections of a file of ``runtimes/``; what a language has not, it needs not."""
    text = files(__package__).joinpath("runtimes", file).read_text(encoding="utf-8")
    parts = dict(part.split("\n", 1) for part in text.split("@@ ")[1:])
    chosen = between.join(parts[section] for section in sections if section in parts)
    return Template(chosen).substitute(pole=POLE, degree=DEGREE, terms=TERMS, nodes=NODES)
