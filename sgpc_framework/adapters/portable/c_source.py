"""A classifier as one file of C99 that needs the mathematics library and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sgpc_framework.adapters.portable.formula import Formula, Process
from sgpc_framework.adapters.portable.kernel_plan import written
from sgpc_framework.adapters.portable.literals import (
    arrays,
    comparisons,
    constants,
    identifiers,
    map_arguments,
    numbers,
)
from sgpc_framework.adapters.portable.runtime import needs, runtime
from sgpc_framework.model.classes import label_text
from sgpc_framework.parts.expressions import Lines, ManyClassLink
from sgpc_framework.tables.dates import CALENDAR
from sgpc_framework.tables.encoding import Encoding
from sgpc_framework.tables.feature_columns import DateColumn, NumberColumn, WordColumn

_WORDS = {"exp": "exp", "sqrt": "sqrt", "power": "pow"}


def c_source(formula: Formula, name: str, title: str) -> str:
    """The text of the file; ``name`` is the prefix of what others may call."""
    sections = needs(formula)
    classes = ", ".join(c_text(label_text(label)) for label in formula.classes)
    labels = f"const char *const {name}_classes[{len(formula.classes)}] = {{{classes}}};"
    parts = [
        f"/* {_comment(title)}\n\n   Written by sgpc export. {_usage(formula, name)} */",
        "#include <math.h>\n#include <stddef.h>\n#include <string.h>",
        f"enum {{ FEATURES = {formula.width}, CLASSES = {len(formula.classes)} }};",
        labels,
        *(_array(*each) for each in constants(sections)),
        runtime("runtime.c", sections).rstrip(),
        *(part for i, each in enumerate(formula.processes) for part in _process(i, each)),
        _log_proba(formula),
        *_outside(formula, name),
    ]
    return "\n\n".join(parts) + "\n"


def c_text(text: str) -> str:
    """A string of C, in UTF-8."""
    plain = set(range(32, 127)) - {ord('"'), ord("\\"), ord("?")}  # "??" may begin a trigraph
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode()) + '"'


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/").replace("\n", " ")


def _usage(formula: Formula, name: str) -> str:
    row = f"const double x[{formula.width}]" if formula.encoding is None else "a row"
    return (
        f"Compile it with your program, or include it; link with -lm.\n"
        f"   {name}_predict_proba({row}, double proba[{len(formula.classes)}]) returns 0, or the\n"
        f"   number of the first column (from 1) whose value cannot be used.\n"
        f"   {name}_predict returns a position in {name}_classes, or minus that number."
    )


def _array(name: str, values: Any) -> str:
    return f"static const double {name}[] = {{\n{numbers(values)}\n}};"


def _process(i: int, process: Process) -> Iterator[str]:
    plan, size = process.plan, len(process)
    yield from (_array(*each) for each in arrays(i, process))
    arguments = ", ".join(f"double a{c}" for c in range(len(plan.comparisons))) or "void"
    formula = written(plan.formula, _WORDS)
    yield f"static double kernel_{i}({arguments})\n{{\n    return {formula};\n}}"
    body = [f"static void log_proba_{i}(const double *x0, double *logs)\n{{"]
    for v, view_ in enumerate(plan.views, start=1):
        body.append(f"    double x{v}[FEATURES];")
        call = "along_lines" if isinstance(view_.through, Lines) else "combinations"
        more = map_arguments(i, v, view_.through)
        body.append(f"    {call}(x{view_.parent}, x{v}, {more});")
    own, pairs = [], []
    for comparison, basis, more in comparisons(i, process):
        x = f"x{comparison.view}"
        pairs.append(f"{comparison.kind}({x}, {basis} + j * FEATURES{more})")
        own.append("0.0" if comparison.is_distance else f"dot_product({x}, {x})")
    count = len(process.coefficient)
    body += [
        *(["    (void)x0;"] if not plan.comparisons else []),
        f"    double k[{size}], mean[{count}], variance;",
        f"    for (int j = 0; j < {size}; j++)",
        f"        k[j] = kernel_{i}({', '.join(pairs)});",
        f"    posterior({size}, {count}, k, kernel_{i}({', '.join(own)}), functions_{i},",
        f"              coefficient_{i}, shrinkage_{i}, mean, &variance);",
        *(f"    {line}" for line in _link(process)),
        "}",
    ]
    yield "\n".join(body)


def _link(process: Process) -> list[str]:
    link = process.link
    if isinstance(link, ManyClassLink):
        return [
            f"static const double bias[] = {{{', '.join(map(repr, link.bias))}}};",
            f"link_many({len(link.bias)}, mean, variance, bias, {link.epsilon!r}, logs);",
        ]
    if link.curve == "normal":
        z = f"double z = (mean[0] + {link.bias!r}) / sqrt(variance + {link.slope**-2.0!r});"
        tail = "log_normal_tail(fabs(z))"
    else:
        z = f"double z = {link.slope!r} * (mean[0] + {link.bias!r});"
        tail = f"log_logistic_tail(fabs(z), {link.slope**2!r} * variance)"
    return [z, f"link_two({tail}, z > 0.0, {link.epsilon!r}, logs);"]


def _log_proba(formula: Formula) -> str:
    lines = ["static void log_proba(const double *x, double *logs)\n{"]
    if len(formula.processes) == 1:
        lines.append("    log_proba_0(x, logs);")
    else:
        lines.append("    double both[2];")
        for i in range(len(formula.processes)):
            lines.append(f"    log_proba_{i}(x, both);")
            lines.append(f"    logs[{i}] = both[1] - {formula.odds_share!r} * both[0];")
        lines.append("    softmax(CLASSES, logs);")
    return "\n".join([*lines, "}"])


def _outside(formula: Formula, name: str) -> Iterator[str]:
    encoding, row = formula.encoding, "const double *row"
    if encoding is None:
        yield _FINITE
    else:
        row = f"const struct {name}_row *row"
        yield from _encoded(encoding, name)
    yield (
        f"int {name}_predict_proba({row}, double *proba)\n{{\n"
        "    double x[FEATURES];\n    int problem = encode(row, x);\n"
        "    if (problem)\n        return problem;\n    log_proba(x, proba);\n"
        "    for (int c = 0; c < CLASSES; c++)\n        proba[c] = exp(proba[c]);\n"
        "    return 0;\n}"
    )
    decided = "    double *worth = proba;\n"
    if formula.regret is not None:
        rows = ",\n    ".join(f"{{{', '.join(map(repr, each))}}}" for each in formula.regret)
        note = "/* What each answer (column) costs more than the right one (row). */"
        yield f"{note}\nstatic const double regret[CLASSES][CLASSES] = {{\n    {rows}}};"
        decided = (
            "    double worth[CLASSES];\n    for (int c = 0; c < CLASSES; c++) {\n"
            "        worth[c] = 0.0;\n        for (int k = 0; k < CLASSES; k++)\n"
            "            worth[c] -= proba[k] * regret[k][c];\n    }\n"
        )
    yield (
        f"int {name}_predict({row})\n{{\n"
        "    double proba[CLASSES];\n"
        f"    int best = 0, problem = {name}_predict_proba(row, proba);\n"
        f"    if (problem)\n        return -problem;\n{decided}"
        "    for (int c = 1; c < CLASSES; c++)\n        if (worth[c] > worth[best])\n"
        "            best = c;\n    return best;\n}"
    )


_FINITE = """static int encode(const double *row, double *x)
{
    for (int f = 0; f < FEATURES; f++) {
        if (!isfinite(row[f]))
            return f + 1;
        x[f] = row[f];
    }
    return 0;
}"""


def _encoded(encoding: Encoding, name: str) -> Iterator[str]:
    fields = identifiers(encoding.names)
    members, code, at = [], [], 0
    for i, (field, column) in enumerate(zip(fields, encoding.columns, strict=True)):
        kind = "double " if isinstance(column, NumberColumn) else "const char *"
        members.append(f"    {kind}{field}; /* {_comment(column.name)} */")
        cell, refuse = f"row->{field}", f"return {i + 1};"
        missing = f"isnan({cell})" if isinstance(column, NumberColumn) else f"{cell} == NULL"
        parts: list[tuple[NumberColumn | WordColumn, str]] = []
        if isinstance(column, DateColumn):
            code.append(f"    if (!calendar({cell}, date))\n        {refuse}")
            for part, short in zip(column.parts, column.calendar, strict=True):
                value = f"date[{CALENDAR.index(short)}]"
                day = f"isnan({value}) ? NULL : weekdays[(int){value}]"
                parts.append((part, day if isinstance(part, WordColumn) else value))
        else:
            parts.append((column, cell))
        unseen = "zero" if isinstance(column, DateColumn) else encoding.unseen
        for part, value in parts:
            if isinstance(part, WordColumn):
                words = ", ".join(map(c_text, part.words))
                yield f"static const char *const words_{at}[] = {{{words}}};"
                code += _hot(part, value, at, refuse, unseen)
                at += len(part.words)
            else:
                code += _number(part, value, at, refuse)
                at += 1
        if column.flagged:
            code.append(f"    x[{at}] = {missing} ? 1.0 : 0.0;")
            at += 1
    note = "/* Missing numbers are NAN, missing words and dates NULL; words are UTF-8, and dates\n"
    note += "   2026-01-31 or 2026-01-31T18:30:00. */"
    yield f"{note}\nstruct {name}_row {{\n" + "\n".join(members) + "\n};"
    text = "\n".join(code)
    local = "    double value;\n" * ("value =" in text)
    local += "    const char *word;\n    int place;\n" * ("word =" in text)
    local += f"    double date[{len(CALENDAR)}];\n" * bool(encoding.dates)
    yield (
        f"static int encode(const struct {name}_row *row, double *x)\n"
        f"{{\n{local}{text}\n    return 0;\n}}"
    )


def _number(column: NumberColumn, cell: str, at: int, refuse: str) -> list[str]:
    missing = refuse if column.fill is None else f"value = {column.fill!r};"
    return [
        f"    value = {cell};",
        f"    if (isnan(value))\n        {missing}",
        f"    if (!isfinite(value))\n        {refuse}",
        f"    x[{at}] = (value - {column.mean!r}) / {column.scale!r};",
    ]


def _hot(column: WordColumn, cell: str, at: int, refuse: str, unseen: str) -> list[str]:
    missing = refuse if column.fill is None else f"word = {c_text(column.fill)};"
    count = len(column.words)
    return [
        f"    word = {cell};",
        f"    if (word == NULL)\n        {missing}",
        f"    place = position(word, words_{at}, {count});",
        *([f"    if (place < 0)\n        {refuse}"] * (unseen == "refuse")),
        f"    for (int i = 0; i < {count}; i++)\n        x[{at} + i] = i == place ? 1.0 : 0.0;",
    ]
