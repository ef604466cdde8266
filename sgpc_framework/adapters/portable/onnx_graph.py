"""A classifier as an ONNX graph of double numbers.

A model of tables has an input for each column, of shape (rows, 1): double numbers, NaN where one is
missing; texts, empty where one is missing; or dates in whole seconds since 1970, the least number
of 64 bits where one is missing (what NumPy has for NaT). A model of matrices has the input ``X``.
Outputs are ``label`` and ``probabilities``. ONNX knows no errors: where ``predict_proba`` would
raise one, for a missing value or a word that is refused, the probabilities of the row are NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.adapters.portable.formula import Formula, Process
from sgpc_framework.adapters.portable.kernel_plan import Compared
from sgpc_framework.adapters.portable.onnx_calendar import MISSING_DATE, calendar
from sgpc_framework.adapters.portable.onnx_links import functions, log_probabilities
from sgpc_framework.adapters.portable.onnx_nodes import DOMAIN, IR, ML_OPSET, OPSET, Nodes, extra
from sgpc_framework.parts.expressions import (
    Combinations,
    Exp,
    Expression,
    Lines,
    Number,
    Power,
    Product,
    Sum,
)
from sgpc_framework.tables.dates import WEEKDAYS, moments
from sgpc_framework.tables.encoding import Encoding
from sgpc_framework.tables.feature_columns import DateColumn, NumberColumn, WordColumn

MATRIX = "X"
"""The input of a model that was fitted to a matrix."""


UNSEEN, MISSING = -1, -2
"""The places of a word that training has not seen, and of one that is missing."""


def onnx_bytes(formula: Formula, title: str) -> bytes:
    """The file."""
    with extra():
        import onnx
        from onnx import helper

    g = Nodes()
    X = MATRIX if formula.encoding is None else _encoded(g, formula.encoding)
    strange = g("Or", g("IsNaN", X), g("IsInf", X))
    x = g("Where", strange, 0.0, X)
    proba = g("Exp", _log_proba(g, formula, x))
    count = g.sum(g("Cast", strange, to=onnx.TensorProto.DOUBLE), 1)
    label, probabilities = _outputs(formula)
    labels, kind = _labels(formula.classes)
    best = (
        g("ArgMax", proba, axis=1, keepdims=0)
        if formula.regret is None
        else g("ArgMin", g("MatMul", proba, np.array(formula.regret)), axis=1, keepdims=0)
    )
    for operation, inputs, result in (
        ("Gather", [g.constant(labels), best], label),
        ("Where", [g("Greater", count, 0.0), g.constant(np.nan), proba], probabilities),
    ):
        g.nodes.append(helper.make_node(operation, inputs, [result]))
    double = onnx.TensorProto.DOUBLE
    graph = helper.make_graph(
        g.nodes,
        "sgpc",
        _inputs(formula),
        [
            helper.make_tensor_value_info(label, kind, ["rows"]),
            helper.make_tensor_value_info(probabilities, double, ["rows", len(formula.classes)]),
        ],
        g.constants,
        doc_string=f"{title} Probabilities are those of {formula.classes}.",
    )
    opsets = (("", OPSET), ("ai.onnx.ml", ML_OPSET), (DOMAIN, 1))
    model = helper.make_model(
        graph,
        functions=functions(),
        opset_imports=[helper.make_opsetid(*each) for each in opsets],
        ir_version=IR,
        producer_name="sgpc-framework",
    )
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def feeds(formula: Formula, rows: list[list[Any]]) -> dict[str, NDArray[Any]]:
    """Rows as the inputs of the graph."""
    if formula.encoding is None:
        return {MATRIX: np.array(rows, dtype=np.float64)}
    fed: dict[str, NDArray[Any]] = {}
    for column, cells in zip(formula.encoding.columns, zip(*rows, strict=True), strict=True):
        if isinstance(column, NumberColumn):
            values = np.array([np.nan if cell is None else cell for cell in cells], np.float64)
        elif isinstance(column, DateColumn):
            values = moments(np.array(cells, dtype=object))[0].astype(np.int64)
        else:
            values = np.array(["" if cell is None else cell for cell in cells], dtype=object)
        fed[column.name] = values[:, None]
    return fed


def _inputs(formula: Formula) -> list[Any]:
    from onnx import TensorProto, helper

    if formula.encoding is None:
        shape: list[str | int | None] = ["rows", formula.width]
        return [helper.make_tensor_value_info(MATRIX, TensorProto.DOUBLE, shape)]
    kinds = {
        NumberColumn: TensorProto.DOUBLE,
        WordColumn: TensorProto.STRING,
        DateColumn: TensorProto.INT64,
    }
    return [
        helper.make_tensor_value_info(column.name, kinds[type(column)], ["rows", 1])
        for column in formula.encoding.columns
    ]


def _outputs(formula: Formula) -> tuple[str, str]:
    """``label`` and ``probabilities``, with an underscore more than columns of these names."""
    taken = formula.encoding.names if formula.encoding else ()
    more = "_" * sum(name.rstrip("_") in ("label", "probabilities") for name in taken)
    return f"label{more}", f"probabilities{more}"


def _labels(classes: list[Any]) -> tuple[NDArray[Any], int]:
    from onnx import TensorProto

    if all(type(label) is int for label in classes):
        return np.array(classes, np.int64), int(TensorProto.INT64)
    if all(isinstance(label, float) for label in classes):
        return np.array(classes, np.float64), int(TensorProto.DOUBLE)
    if all(type(label) is bool for label in classes):
        return np.array(classes, np.bool_), int(TensorProto.BOOL)
    return np.array([str(label) for label in classes], dtype=object), int(TensorProto.STRING)


def _encoded(g: Nodes, encoding: Encoding) -> str:
    """The features, NaN where a value cannot be used."""
    from onnx import TensorProto

    parts = []
    for column in encoding.columns:
        x = column.name
        if isinstance(column, NumberColumn):
            parts.append(_number(g, column, x))
            gone = g("IsNaN", x)
        elif isinstance(column, DateColumn):
            gone = g("Equal", x, np.int64(MISSING_DATE))
            parts += _date(g, column, x, gone)
        else:
            parts.append(_hot(g, column, _places(g, column.words, x), encoding.unseen))
            gone = g("Equal", _places(g, ("",), x), np.int64(0))
        if column.flagged:
            parts.append(g("Cast", gone, to=TensorProto.DOUBLE))
    return str(g("Concat", *parts, axis=1)) if len(parts) > 1 else str(g("Identity", parts[0]))


def _number(g: Nodes, column: NumberColumn, x: str) -> str:
    if column.fill is not None:
        x = g("Where", g("IsNaN", x), column.fill, x)
    return str(g("Div", g("Sub", x, column.mean), column.scale))


def _places(g: Nodes, words: Sequence[str], x: str) -> str:
    """The place of a word among others; that of none of them, or of a missing one."""
    places = {"": MISSING} | {word: place for place, word in enumerate(words)}
    return str(
        g(
            "LabelEncoder",
            x,
            keys_strings=list(places),
            values_int64s=list(places.values()),
            default_int64=UNSEEN,
            domain="ai.onnx.ml",
        )
    )


def _hot(g: Nodes, column: WordColumn, place: str, unseen: str) -> str:
    """A feature for each word, by its place."""
    from onnx import TensorProto

    words = list(column.words)
    if column.fill is not None:
        filled = words.index(column.fill) if column.fill in words else UNSEEN
        place = g("Where", g("Equal", place, np.int64(MISSING)), np.int64(filled), place)
    part = g("Cast", g("Equal", place, np.arange(len(words))), to=TensorProto.DOUBLE)
    refused = np.int64(0) if unseen == "refuse" else np.int64(UNSEEN)
    return str(g("Where", g("Less", place, refused), np.nan, part))


def _date(g: Nodes, column: DateColumn, seconds: str, gone: str) -> Iterator[str]:
    """The features of its parts."""
    from onnx import TensorProto

    said = calendar(g, g("Where", gone, np.int64(0), seconds))
    for part, name in zip(column.parts, column.calendar, strict=True):
        if isinstance(part, NumberColumn):
            number = g("Cast", said[name], to=TensorProto.DOUBLE)
            yield _number(g, part, g("Where", gone, np.nan, number))
            continue
        known = [part.words.index(day) if day in part.words else UNSEEN for day in WEEKDAYS]
        place = g("Gather", np.array(known), said[name])
        yield _hot(g, part, g("Where", gone, np.int64(MISSING), place), "zero")


def _log_proba(g: Nodes, formula: Formula, x: str) -> str:
    each = [_of_process(g, process, x) for process in formula.processes]
    if len(each) == 1:
        return each[0]
    weights = np.array([[-formula.odds_share], [1.0]])
    scores = [_weighed(g, one, weights) for one in each]
    return str(g("LogSoftmax", g("Concat", *scores, axis=1), axis=1))


def _weighed(g: Nodes, logs: str, weights: NDArray[np.float64]) -> str:
    if weights[0, 0] == 0.0:  # zero times minus infinity would be no number
        return str(g("Gather", logs, np.array([1]), axis=1))
    return str(g("MatMul", logs, weights))


def _of_process(g: Nodes, process: Process, x: str) -> str:
    plan, size = process.plan, len(process)
    views = [x]
    for view in plan.views:
        views.append(_mapped(g, view.through, views[view.parent]))
    basis = plan.seen(process.inputs)
    pairs, own = [], []
    for comparison in plan.comparisons:
        seen, Z = views[comparison.view], basis[comparison.view]
        if not comparison.is_distance:
            pairs.append(g.inner(seen, Z))
            own.append(g.sum(g("Mul", seen, seen), 1))
            continue
        apart = g("Sub", g("Unsqueeze", seen, np.array([1])), Z)
        if comparison.kind == "sine_distance":
            apart = g("Sin", g("Mul", apart, comparison.rate))
        weights = np.array(np.broadcast_to(np.asarray(comparison.weights, np.float64), Z.shape[1]))
        summed = g.sum(g("Mul", g("Mul", apart, apart), weights), 2)
        pairs.append(g("Squeeze", summed, np.array([2])))
        own.append(g.constant(0.0))
    zero = g("Mul", g.sum(x, 1), 0.0)  # so that a constant has a row for each row, too
    k = g("Add", g("Add", _written(g, plan.formula, pairs), zero), np.zeros(size))
    prior = g("Add", _written(g, plan.formula, own), zero)
    f = g("MatMul", k, process.functions.T)
    mean = g.inner(f, process.coefficient)
    explained = g("MatMul", g("Mul", f, f), process.shrinkage[:, None])
    variance = g("Max", g("Sub", prior, explained), 0.0)
    return log_probabilities(g, process.link, mean, variance)


def _mapped(g: Nodes, through: Lines | Combinations, x: str) -> str:
    if isinstance(through, Combinations):
        return str(g("MatMul", x, through.matrix))
    lines = through
    apart = g("Sub", g("Unsqueeze", x, np.array([2])), lines.knot)
    bent = g("Mul", g("Min", g("Max", apart, lines.low), lines.width), lines.slope)
    return str(g("Add", g("Squeeze", g.sum(bent, 2), np.array([2])), lines.image))


def _written(g: Nodes, expression: Expression, values: list[str]) -> str:
    """The formula of the comparisons, whose values these are."""
    match expression:
        case Number(value):
            return g.constant(float(value))
        case Compared(number):
            return values[number]
        case Sum(parts) | Product(parts):
            operation = "Add" if isinstance(expression, Sum) else "Mul"
            names = [_written(g, part, values) for part in parts]
            result = names[0]
            for name in names[1:]:
                result = g(operation, result, name)
            return result
        case Exp(exponent):
            return str(g("Exp", _written(g, exponent, values)))
        case Power(base, exponent):
            inner = _written(g, base, values)
            return str(g("Sqrt", inner) if exponent == 0.5 else g("Pow", inner, exponent))
    raise TypeError(f"wanted a planned expression, found {expression!r}")
