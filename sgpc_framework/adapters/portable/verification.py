"""What a written model predicts, asked of the language that it is written in."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.adapters.portable.c_source import c_text
from sgpc_framework.adapters.portable.formula import Formula
from sgpc_framework.errors import ExportError
from sgpc_framework.tables.feature_columns import NumberColumn

Floats = NDArray[np.float64]
Rows = list[list[Any]]

SECONDS = 120
COMPILERS = ("cc", "gcc", "clang")


class NoTool(Exception):
    """What would run the file is not on this machine."""


def from_numpy(source: bytes, formula: Formula, name: str, rows: Rows) -> Floats:
    """By executing the module that was just written."""
    namespace: dict[str, Any] = {"__name__": name}
    exec(compile(source, f"{name}.py", "exec"), namespace)
    return np.asarray(namespace["predict_proba"](rows))


def from_c(source: bytes, formula: Formula, name: str, rows: Rows) -> Floats:
    """By a compiler and a program of all rows."""
    compiler = next((path for each in COMPILERS if (path := shutil.which(each))), None)
    if compiler is None:
        raise NoTool(f"there is no C compiler ({', '.join(COMPILERS)})")
    kind = f"const struct {name}_row" if formula.encoding else "const double"
    shape = "[]" if formula.encoding else f"[][{formula.width}]"
    cells = ",\n".join("{" + ", ".join(map(_c_cell, row, _wordy(formula))) + "}" for row in rows)
    given = "&rows[i]" if formula.encoding else "rows[i]"
    program = _C_PROGRAM % {
        **{"name": name, "kind": kind, "shape": shape, "rows": cells, "given": given},
        **{"count": len(rows), "classes": len(formula.classes)},
    }
    with TemporaryDirectory() as folder:
        (Path(folder) / "model.c").write_bytes(source)
        (Path(folder) / "trial.c").write_text(program, encoding="utf-8")
        _run(
            [compiler, "-std=c99", "-Wall", "-Werror", "-O1", "trial.c", "-o", "trial", "-lm"],
            folder,
        )
        printed = _run([str(Path(folder) / "trial")], folder)
    return np.array([line.split() for line in printed.splitlines()], dtype=np.float64)


_C_PROGRAM = """#include "model.c"
#include <stdio.h>

%(kind)s rows%(shape)s = {
%(rows)s
};

int main(void)
{
    double proba[%(classes)d];
    for (int i = 0; i < %(count)d; i++) {
        if (%(name)s_predict_proba(%(given)s, proba))
            return 1;
        for (int c = 0; c < %(classes)d; c++)
            printf("%%.17g ", proba[c]);
        printf("\\n");
    }
    return 0;
}
"""


def _wordy(formula: Formula) -> list[bool]:
    encoding = formula.encoding
    if encoding is None:
        return [False] * formula.width
    return [not isinstance(column, NumberColumn) for column in encoding.columns]


def _c_cell(cell: Any, is_word: bool) -> str:
    if cell is None:
        return "NULL" if is_word else "NAN"
    return c_text(cell) if is_word else repr(cell)


def from_javascript(source: bytes, formula: Formula, name: str, rows: Rows) -> Floats:
    """By Node."""
    node = shutil.which("node") or shutil.which("nodejs")
    if node is None:
        raise NoTool("there is no node")
    with TemporaryDirectory() as folder:
        (Path(folder) / "model.js").write_bytes(source)
        (Path(folder) / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
        (Path(folder) / "trial.js").write_text(
            'const model = require("./model.js"), rows = require("./rows.json");\n'
            "console.log(JSON.stringify(rows.map(model.predictProba)));\n",
            encoding="utf-8",
        )
        return np.array(json.loads(_run([node, "trial.js"], folder)), dtype=np.float64)


def _run(command: list[str], folder: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=SECONDS, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace")[:2000]
        raise ExportError(f"{Path(command[0]).name} fails on what was written: {said}")
    return done.stdout.decode()


def from_onnx(source: bytes, formula: Formula, name: str, rows: Rows) -> Floats:
    """By ONNX Runtime."""
    from sgpc_framework.adapters.portable.onnx_graph import feeds
    from sgpc_framework.adapters.portable.onnx_nodes import extra

    with extra():
        import onnxruntime
    session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    _, probabilities = session.run(None, feeds(formula, rows))
    return np.asarray(probabilities)


RUNNERS: Mapping[str, Callable[[bytes, Formula, str, Rows], Floats]] = {
    "onnx": from_onnx,
    "numpy": from_numpy,
    "c": from_c,
    "js": from_javascript,
}
