"""``export``: a model in another language, tried beside ``predict_proba`` before it is written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from sgpc_framework.adapters.portable.c_source import c_source
from sgpc_framework.adapters.portable.formula import Formula
from sgpc_framework.adapters.portable.javascript_source import javascript_source
from sgpc_framework.adapters.portable.literals import identifiers
from sgpc_framework.adapters.portable.numpy_source import numpy_source
from sgpc_framework.adapters.portable.trial_rows import trial_rows
from sgpc_framework.adapters.portable.verification import RUNNERS, NoTool
from sgpc_framework.errors import ExportError, suggestion
from sgpc_framework.files.whole_file import whole_file
from sgpc_framework.model.classes import Classifier
from sgpc_framework.tables.table_classifier import TableClassifier

TOLERANCE = 1e-6
"""How far an exported probability may be from that of ``predict_proba``."""

BITS = {"js": 53, "onnx": 63}
"""How many bits a label may have that is a whole number."""

SUFFIXES = {"onnx": ".onnx", "numpy": ".py", "c": ".c", "js": ".js"}
"""Every language, and how its files end."""


@attrs.frozen
class Exported:
    """A file that was written: how many ``rows`` it was tried with, and the largest difference of a
    probability; or ``untried``, the reason why it was not."""

    path: Path
    to: str
    size: int
    rows: int
    difference: float
    untried: str | None = None

    def __str__(self) -> str:
        tried = (
            f"not verified: {self.untried}"
            if self.untried
            else f"verified on {self.rows} random rows, largest difference {self.difference:.0e}"
        )
        return f"{self.path}, {self.size / 1024:.0f} kB ({tried})"


def export(
    model: Classifier | TableClassifier,
    path: str | PathLike[str],
    to: str | None = None,
    *,
    rows: int = 64,
    seed: int = 0,
) -> Exported:
    """Write a model in another language: ``onnx``, ``numpy``, ``c`` or ``js``.

    ``to`` may be left to the ending of the path. The file is tried with so many random ``rows``
    first, and only written if no probability differs from ``predict_proba`` by more than 1e-6;
    C and JavaScript without a compiler or Node on this machine are written untried, and ``untried``
    of the result says so. ``ExportError`` names a part that cannot be exported.
    """
    path = Path(path)
    language = _language(path, to)
    formula = Formula.of(model)
    name = identifiers([path.stem])[0]
    title = f"A classifier of {len(formula.classes)} classes with {len(model)} basis vectors."
    _check_labels(formula.classes, language)
    source = _source(language, formula, name, title)
    trial = trial_rows(formula, rows, np.random.default_rng(seed))
    difference, untried = np.nan, None
    try:
        computed = RUNNERS[language](source, formula, name, trial)
    except NoTool as error:
        untried = str(error)
    else:
        difference = _difference(computed, _expected(model, trial))
    with whole_file(path) as file:
        file.write(source)
    return Exported(path, language, len(source), len(trial), difference, untried)


def _language(path: Path, to: str | None) -> str:
    if to is None:
        to = next((to for to, suffix in SUFFIXES.items() if path.suffix == suffix), None)
        if to is None:
            raise ExportError(
                f"wanted a file name that ends with one of {', '.join(SUFFIXES.values())}, or the "
                f"language (to=), found {path.name!r}"
            )
    if to not in SUFFIXES:
        raise ExportError(f"no language {to!r}; {suggestion(to, SUFFIXES)}")
    return to


def _check_labels(classes: list[Any], language: str) -> None:
    bits = BITS.get(language, math.inf)
    for label in classes:
        if type(label) is int and not -(2**bits) <= label < 2**bits:
            raise ExportError(
                f"{language} has no whole number as large as the label {label}: fit with the "
                "labels as text"
            )


def _source(language: str, formula: Formula, name: str, title: str) -> bytes:
    try:
        if language == "onnx":
            from sgpc_framework.adapters.portable.onnx_graph import onnx_bytes

            return onnx_bytes(formula, title)
        return _TEXTS[language](formula, name, title).encode()
    except UnicodeEncodeError as error:
        strange = error.object[error.start : error.end]
        raise ExportError(
            f"{strange!a} in a label, a word or the name of a column is no character: a file of "
            f"{language} cannot hold it"
        ) from error


_TEXTS: Mapping[str, Callable[[Formula, str, str], str]] = {
    "numpy": numpy_source,
    "c": c_source,
    "js": javascript_source,
}


def _expected(model: Classifier | TableClassifier, rows: list[list[Any]]) -> Any:
    if not isinstance(model, TableClassifier):
        return model.predict_proba(np.array(rows))
    columns = dict(zip(model.encoding.names, map(list, zip(*rows, strict=True)), strict=True))
    return model.predict_proba(columns)


def _difference(computed: Any, expected: Any) -> float:
    difference = (
        float(np.max(np.abs(computed - expected))) if np.shape(computed) == expected.shape else 1
    )
    if not difference <= TOLERANCE:  # NaN is not, either
        row = int(np.argmax(np.nan_to_num(np.abs(computed - expected), nan=np.inf).max(axis=1)))
        raise ExportError(
            f"nothing was written: wanted the probabilities of predict_proba to {TOLERANCE:g}, "
            f"found a difference of {difference:.1e} at random row {row}; that is a fault of the "
            "export, or of a part's formula (sgpc check looks at those of kernels)"
        )
    return difference
