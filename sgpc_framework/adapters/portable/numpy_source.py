"""A classifier as one Python module that needs NumPy and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from sgpc_framework.adapters.portable.formula import Formula, Process
from sgpc_framework.adapters.portable.kernel_plan import written
from sgpc_framework.adapters.portable.literals import numbers, weights
from sgpc_framework.adapters.portable.runtime import needs, runtime
from sgpc_framework.adapters.portable.special_functions import alternating, chebyshev, quadrature
from sgpc_framework.parts.expressions import Combinations, ManyClassLink
from sgpc_framework.tables.encoding import Encoding
from sgpc_framework.tables.feature_columns import DateColumn, NumberColumn, WordColumn

_WORDS = {"exp": "np.exp", "sqrt": "np.sqrt", "power": "np.power"}


def numpy_source(formula: Formula, name: str, title: str) -> str:
    """The text of the module."""
    sections = needs(formula)
    parts = [
        f'"""{_plain(title)}\n\nWritten by sgpc export. {_usage(formula, name)}\n"""',
        f"{'import datetime' * ('dates' in sections)}\nimport math\n\nimport numpy as np".lstrip(),
        f"CLASSES = {formula.classes!r}\nFEATURES = {formula.width}",
        *_constants(sections),
        runtime("runtime.py.template", sections, "\n\n").rstrip(),
        *(part for i, each in enumerate(formula.processes) for part in _process(i, each)),
        _encode(formula.encoding),
        _ENDING if len(formula.processes) == 1 else _shares(formula),
        _PREDICT if formula.regret is None else f"{_regret(formula)}\n\n\n{_DECIDE}",
    ]
    return "\n\n\n".join(parts) + "\n"


def _plain(title: str) -> str:
    return title.replace("\\", "/").replace('"""', "'''")


def _usage(formula: Formula, name: str) -> str:
    if formula.encoding is None:
        return f"Rows are lists of {formula.width} numbers:\n{name}.predict_proba([[...], [...]])"
    return (
        f"Rows are dictionaries, or lists in the order of COLUMNS:\n{name}.predict_proba([{{...}}])"
    )


def _constants(sections: list[str]) -> Iterator[str]:
    yield _array("CHEBYSHEV", chebyshev())
    if "logistic" in sections:
        yield _array("ALTERNATING", alternating())
    if "many_classes" in sections:
        nodes, logarithms = quadrature()
        yield _array("NODES", nodes)
        yield _array("LOG_WEIGHTS", logarithms)


def _array(name: str, values: object, *shape: int) -> str:
    shaped = f".reshape({', '.join(map(str, shape))})" if shape else ""
    return f"{name} = np.array([\n{numbers(values)},\n]){shaped}"  # type: ignore[arg-type]


def _process(i: int, process: Process) -> Iterator[str]:
    plan, size, width = process.plan, len(process), process.inputs.shape[1]
    for view, inputs in enumerate(plan.seen(process.inputs)):
        if any(comparison.view == view for comparison in plan.comparisons):
            yield _array(f"BASIS_{i}_{view}", inputs, size, width)
    for v, view_ in enumerate(plan.views, start=1):
        lines = view_.through
        if isinstance(lines, Combinations):
            yield _array(f"MATRIX_{i}_{v}", lines.matrix, width, width)
            continue
        fields = (lines.knot, lines.slope, lines.low, lines.width)
        each = [f"np.array([\n{numbers(lines.image)},\n])"]
        each += [f"np.array([\n{numbers(f)},\n]).reshape({width}, -1)" for f in fields]
        together = ",\n".join(each)
        yield f"LINES_{i}_{v} = (\n{together},\n)"
    for c, comparison in enumerate(plan.comparisons):
        if comparison.is_distance:
            yield _array(f"WEIGHTS_{i}_{c}", weights(process, c))
    yield _array(f"FUNCTIONS_{i}", process.functions, size, size)
    yield _array(f"COEFFICIENT_{i}", process.coefficient, -1, size)
    yield _array(f"SHRINKAGE_{i}", process.shrinkage)
    arguments = ", ".join(f"a{c}" for c in range(len(plan.comparisons)))
    yield f"def _kernel_{i}({arguments}):\n    return {written(plan.formula, _WORDS)}"
    body = [f"def _log_proba_{i}(X):", "    x0 = X"]
    for v, view_ in enumerate(plan.views, start=1):
        mapped = f"_along_lines(x{view_.parent}, *LINES_{i}_{v})"
        if isinstance(view_.through, Combinations):
            mapped = f"x{view_.parent} @ MATRIX_{i}_{v}"
        body.append(f"    x{v} = {mapped}")
    own, pairs = [], []
    for c, comparison in enumerate(plan.comparisons):
        x = f"x{comparison.view}"
        more = f", WEIGHTS_{i}_{c}" if comparison.is_distance else ""
        more += f", {comparison.rate!r}" if comparison.kind == "sine_distance" else ""
        pairs.append(f"_{comparison.kind}({x}, BASIS_{i}_{comparison.view}{more})")
        own.append("0.0" if comparison.is_distance else f"({x} * {x}).sum(axis=1)")
    body += [
        f"    k = np.zeros((len(X), {size})) + _kernel_{i}({', '.join(pairs)})",
        f"    prior = np.zeros(len(X)) + _kernel_{i}({', '.join(own)})",
        f"    data = FUNCTIONS_{i}, COEFFICIENT_{i}, SHRINKAGE_{i}",
        "    mean, variance = _posterior(k, prior, *data)",
        *(f"    {line}" for line in _link(process)),
    ]
    yield "\n".join(body)


def _link(process: Process) -> list[str]:
    link = process.link
    if isinstance(link, ManyClassLink):
        return [f"return _link_many(mean, variance, np.array({list(link.bias)}), {link.epsilon!r})"]
    if link.curve == "normal":
        z = f"z = (mean[:, 0] + {link.bias!r}) / np.sqrt(variance + {link.slope**-2.0!r})"
        tail = "_log_normal_tail(np.abs(z))"
    else:
        z = f"z = {link.slope!r} * (mean[:, 0] + {link.bias!r})"
        tail = f"_log_logistic_tail(np.abs(z), {link.slope**2!r} * variance)"
    return [z, f"return _link_two({tail}, z > 0.0, {link.epsilon!r})"]


def _encode(encoding: Encoding | None) -> str:
    if encoding is None:
        return _MATRIX
    lines = []
    dates = []
    for i, column in enumerate(encoding.columns):
        cell = f"row[{i}]"
        if isinstance(column, DateColumn):
            dates.append(f"    date_{i} = _calendar({cell}, {column.name!r})")
            for part, name in zip(column.parts, column.calendar, strict=True):
                lines.append(_cell(part, f"date_{i}.get({name!r})", "zero"))
        else:
            lines.append(_cell(column, cell, encoding.unseen))
        if column.flagged:
            lines.append(f"        float(_is_missing({cell})),")
    cells, taken = "\n".join(lines), "".join(f"{line}\n" for line in dates)
    return (
        f"COLUMNS = {list(encoding.names)!r}\n\n\n"
        f"def _encode_row(row):\n{taken}    return [\n{cells}\n    ]{_TABLE}"
    )


def _cell(column: NumberColumn | WordColumn, cell: str, unseen: str) -> str:
    if isinstance(column, NumberColumn):
        given = f"{column.mean!r}, {column.scale!r}, {column.fill!r}"
        return f"        *_number({cell}, {column.name!r}, {given}),"
    words = f"{list(column.words)!r}, {column.fill!r}, {unseen!r}"
    return f"        *_words({cell}, {column.name!r}, {words}),"


_TABLE = '''


def encode(rows):
    """The features of rows: dictionaries, or lists in the order of COLUMNS."""
    cells = [[row[name] for name in COLUMNS] if hasattr(row, "keys") else row for row in rows]
    return np.array([_encode_row(row) for row in cells], dtype=float).reshape(-1, FEATURES)'''

_MATRIX = '''def encode(rows):
    """The rows as a matrix of finite numbers."""
    X = np.asarray(rows, dtype=float)
    if X.ndim != 2 or X.shape[1] != FEATURES or not np.all(np.isfinite(X)):
        raise ValueError(f"wanted rows of {FEATURES} finite numbers, found shape {X.shape}")
    return X'''

_ENDING = '''def predict_log_proba(rows):
    """Logarithms of the probabilities."""
    return _log_proba_0(encode(rows))'''

_PREDICT = '''def predict_proba(rows):
    """The probability of each of CLASSES (columns) for each row."""
    return np.exp(predict_log_proba(rows))


def predict(rows):
    """The most probable class of each row."""
    return [CLASSES[best] for best in predict_log_proba(rows).argmax(axis=1)]'''


_DECIDE = '''def predict_proba(rows):
    """The probability of each of CLASSES (columns) for each row."""
    return np.exp(predict_log_proba(rows))


def predict(rows):
    """The class of each row that costs least on average."""
    return [CLASSES[best] for best in (predict_proba(rows) @ REGRET).argmin(axis=1)]'''


def _regret(formula: Formula) -> str:
    note = "# What each answer (column) costs more than the right one (row)."
    return f"{note}\nREGRET = np.array({formula.regret!r})"


def _shares(formula: Formula) -> str:
    each = ", ".join(f"_log_proba_{i}(X)" for i in range(len(formula.processes)))
    return (
        'def predict_log_proba(rows):\n    """Logarithms of the probabilities."""\n'
        f"    X = encode(rows)\n    both = [{each}]\n"
        f"    scores = [one[:, 1] - {formula.odds_share!r} * one[:, 0] for one in both]\n"
        "    return _softmax(np.stack(scores, axis=1))"
    )
