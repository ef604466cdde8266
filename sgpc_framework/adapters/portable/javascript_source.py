"""A classifier as one file of JavaScript, for browsers and for Node, that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sgpc_framework.adapters.portable.formula import Formula, Process
from sgpc_framework.adapters.portable.kernel_plan import written
from sgpc_framework.adapters.portable.literals import (
    arrays,
    comparisons,
    constants,
    map_arguments,
    numbers,
)
from sgpc_framework.adapters.portable.runtime import needs, runtime
from sgpc_framework.parts.expressions import Lines, ManyClassLink
from sgpc_framework.tables.encoding import Encoding
from sgpc_framework.tables.feature_columns import DateColumn, NumberColumn, WordColumn

_WORDS = {"exp": "Math.exp", "sqrt": "Math.sqrt", "power": "Math.pow"}
_CALLS = {
    "squared_distance": "squaredDistance",
    "sine_distance": "sineDistance",
    "dot_product": "dotProduct",
}


def javascript_source(formula: Formula, name: str, title: str) -> str:
    """The text of the file; ``name`` is the one name that it defines."""
    sections = needs(formula)
    parts = [
        f"  const classes = {js_text(formula.classes)}, FEATURES = {formula.width};",
        *(_array(*each) for each in constants(sections)),
        runtime("runtime.js", sections).rstrip(),
        *(part for i, each in enumerate(formula.processes) for part in _process(i, each)),
        _encode(formula.encoding),
        _log_proba(formula),
        _ENDING if formula.regret is None else _DECIDE % formula.regret,
    ]
    row = f"an array of {formula.width} numbers" if formula.encoding is None else "an object"
    comment = f"// {js_text(title)[1:-1]}\n// Written by sgpc export. A row is {row}:\n"
    comment += f"// {name}.predictProba(row) are the probabilities of {name}.classes.\n"
    last = f'if (typeof module !== "undefined") module.exports = {name};\n'
    body = "\n\n".join(parts)
    return f'{comment}const {name} = (() => {{\n  "use strict";\n{body}\n}})();\n{last}'


def js_text(value: Any) -> str:
    """A value of JSON that may stand in a script of an HTML page."""
    return json.dumps(value).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _array(name: str, values: Any) -> str:
    return f"  const {name} = [\n{numbers(values)}\n  ];"


def _process(i: int, process: Process) -> Iterator[str]:
    plan, size = process.plan, len(process)
    yield from (_array(*each) for each in arrays(i, process))
    arguments = ", ".join(f"a{c}" for c in range(len(plan.comparisons)))
    yield f"  const kernel_{i} = ({arguments}) => {written(plan.formula, _WORDS)};"
    body = [f"  function logProba_{i}(x0) {{"]
    for v, view_ in enumerate(plan.views, start=1):
        call = "alongLines" if isinstance(view_.through, Lines) else "combinations"
        more = map_arguments(i, v, view_.through)
        body.append(f"    const x{v} = {call}(x{view_.parent}, {more});")
    own, pairs = [], []
    for comparison, basis, more in comparisons(i, process):
        x = f"x{comparison.view}"
        pairs.append(f"{_CALLS[comparison.kind]}({x}, {basis}, j * FEATURES{more})")
        own.append("0" if comparison.is_distance else f"dotProduct({x}, {x}, 0)")
    data = f"{len(process.coefficient)}, functions_{i}, coefficient_{i}, shrinkage_{i}"
    body += [
        f"    const at = (j) => kernel_{i}({', '.join(pairs)});",
        f"    const k = Array.from({{ length: {size} }}, (_, j) => at(j));",
        f"    const prior = kernel_{i}({', '.join(own)});",
        f"    const [mean, variance] = posterior(k, prior, {data});",
        *(f"    {line}" for line in _link(process)),
        "  }",
    ]
    yield "\n".join(body)


def _link(process: Process) -> list[str]:
    link = process.link
    if isinstance(link, ManyClassLink):
        return [f"return linkMany(mean, variance, {list(link.bias)}, {link.epsilon!r});"]
    if link.curve == "normal":
        z = f"const z = (mean[0] + {link.bias!r}) / Math.sqrt(variance + {link.slope**-2.0!r});"
        tail = "logNormalTail(Math.abs(z))"
    else:
        z = f"const z = {link.slope!r} * (mean[0] + {link.bias!r});"
        tail = f"logLogisticTail(Math.abs(z), {link.slope**2!r} * variance)"
    return [z, f"return linkTwo({tail}, z > 0, {link.epsilon!r});"]


def _encode(encoding: Encoding | None) -> str:
    if encoding is None:
        return _MATRIX
    lines = []
    dates = []
    for i, column in enumerate(encoding.columns):
        cell = f"row[{i}]"
        if isinstance(column, DateColumn):
            dates.append(f"    const date_{i} = calendar({cell}, {js_text(column.name)});\n")
            for part, name in zip(column.parts, column.calendar, strict=True):
                lines.append(_cell(part, f"date_{i}.{name}", "zero"))
        else:
            lines.append(_cell(column, cell, encoding.unseen))
        if column.flagged:
            lines.append(f"      isMissing({cell}) ? 1 : 0,")
    cells = "\n".join(lines)
    return (
        f"  const columns = {js_text(list(encoding.names))};\n\n"
        "  function encode(given) {\n"
        "    const row = Array.isArray(given) ? given : columns.map((name) => given[name]);\n"
        f"{''.join(dates)}    return [\n{cells}\n    ];\n  }}"
    )


def _cell(column: NumberColumn | WordColumn, cell: str, unseen: str) -> str:
    name, fill = js_text(column.name), js_text(column.fill)
    if isinstance(column, NumberColumn):
        return f"      (number({cell}, {name}, {fill}) - {column.mean!r}) / {column.scale!r},"
    words = f"{js_text(list(column.words))}, {fill}, {js_text(unseen)}"
    return f"      ...oneHot({cell}, {name}, {words}),"


_MATRIX = """  const columns = null;

  function encode(row) {
    if (row.length !== FEATURES) {
      throw new Error("wanted " + FEATURES + " numbers, found " + row.length);
    }
    return Array.from(row, (value, i) => number(value, i + 1, null));
  }"""


def _log_proba(formula: Formula) -> str:
    if len(formula.processes) == 1:
        return "  const logProba = (x) => logProba_0(x);"
    each = ", ".join(f"logProba_{i}(x)" for i in range(len(formula.processes)))
    share = f"one[1] - {formula.odds_share!r} * one[0]"
    return f"  const logProba = (x) => softmax([{each}].map((one) => {share}));"


_ENDING = """  const predictProba = (row) => logProba(encode(row)).map(Math.exp);

  function predict(row) {
    const logs = logProba(encode(row));
    return classes[logs.indexOf(Math.max(...logs))];
  }

  return { classes, columns, predictProba, predict };"""

_DECIDE = """  const predictProba = (row) => logProba(encode(row)).map(Math.exp);

  // What each answer (column) costs more than the right one (row).
  const regret = %s;

  function predict(row) {
    const proba = predictProba(row);
    const costs = classes.map((_, c) => proba.reduce((sum, p, k) => sum + p * regret[k][c], 0));
    return classes[costs.indexOf(Math.min(...costs))];
  }

  return { classes, columns, predictProba, predict };"""
