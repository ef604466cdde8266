"""A small language for ONNX graphs: every operation returns the name of its result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sgpc_framework.errors import ExportError

OPSET, ML_OPSET, IR = 17, 3, 8
"""What runtimes of 2022 and later understand."""

DOMAIN = "sgpc"
"""Of the functions that a graph brings along."""


@contextmanager
def extra() -> Iterator[None]:
    """``ExportError`` with what to install, if a package is not there."""
    try:
        yield
    except ImportError as error:
        raise ExportError(
            "ONNX needs onnx and onnxruntime: install sgpc-framework[onnx], or export to numpy, c "
            "or js, which need nothing"
        ) from error


class Nodes:
    """Nodes and constants of a graph, or of a function, where constants are nodes."""

    def __init__(self, is_function: bool = False) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._is_function = is_function
        self._known: dict[tuple[Any, ...], str] = {}
        self._count = 0

    def new_name(self) -> str:
        """A name that no column has, unless somebody wants trouble."""
        self._count += 1
        return f"sgpc:{self._count}"

    def __call__(self, operation: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """The result of an operation, or several; inputs are names or numbers."""
        from onnx import helper

        names = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        results = [self.new_name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(operation, names, results, **attributes))
        return results[0] if outputs == 1 else results

    def constant(self, value: Any) -> str:
        """The name of some numbers or texts, each of which is kept once."""
        from onnx import helper, numpy_helper

        array = np.asarray(value)
        key = (array.dtype.str, array.shape, tuple(array.ravel().tolist()))
        if key not in self._known:
            name = self._known[key] = self.new_name()
            tensor = numpy_helper.from_array(array, name)
            if self._is_function:
                self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
            else:
                self.constants.append(tensor)
        return self._known[key]

    def sum(self, x: str, axis: int) -> str:
        """The sum over an axis, which stays."""
        return str(self("ReduceSum", x, np.array([axis]), keepdims=1))

    def inner(self, x: str, y: Any) -> str:
        """Σ_f x_if y_jf for all rows i and j.

        Where a number times a product of matrices is wanted, ONNX Runtime rounds the number to
        seven digits (its fused product has a scale of 32 bits), so that this is none.
        """
        summed = self.sum(self("Mul", self("Unsqueeze", x, np.array([1])), y), 2)
        return str(self("Squeeze", summed, np.array([2])))

    def function(self, name: str, inputs: Sequence[str], outputs: Sequence[str]) -> Any:
        """These nodes as a function that other nodes call by its name."""
        from onnx import helper

        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_function(DOMAIN, name, inputs, outputs, self.nodes, opsets)
