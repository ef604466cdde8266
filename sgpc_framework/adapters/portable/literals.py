"""Numbers, arrays and names as source code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import fill

import numpy as np
from numpy.typing import ArrayLike

from sgpc_framework.adapters.portable.formula import Process
from sgpc_framework.adapters.portable.kernel_plan import Comparison
from sgpc_framework.adapters.portable.special_functions import alternating, chebyshev, quadrature
from sgpc_framework.parts.expressions import Combinations, Lines

_RESERVED = frozenset(
    (
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else"),
        *("enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register"),
        *("restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch"),
        *("typedef", "union", "unsigned", "void", "volatile", "while", "class", "delete", "export"),
        *("function", "import", "in", "instanceof", "let", "new", "null", "this", "throw", "try"),
        *("typeof", "var", "with", "yield", "await", "true", "false", "asm", "bool", "main"),
    )
)
"""Words of C and JavaScript."""

LINES = ("image", "knot", "slope", "low", "width")
"""The arrays of a warp, a line for each piece of each feature."""


def numbers(values: ArrayLike, indent: str = "    ") -> str:
    """Numbers with every digit that they need, in lines of bearable length."""
    texts = (repr(float(value)) for value in np.ravel(values))
    lines = fill(", ".join(texts), 100, break_long_words=False, break_on_hyphens=False)
    return "\n".join(indent + line for line in lines.splitlines())


def weights(process: Process, comparison: int) -> list[float]:
    """The weight of each feature in a comparison."""
    own = process.plan.comparisons[comparison].weights
    return [*map(float, np.broadcast_to(own, process.inputs.shape[1]))]


def constants(sections: Iterable[str]) -> Iterator[tuple[str, ArrayLike]]:
    """(name, numbers) of every array that the special functions of a file need."""
    yield "chebyshev", chebyshev()
    if "logistic" in sections:
        yield "alternating", alternating()
    if "many_classes" in sections:
        yield from zip(("nodes", "log_weights"), quadrature(), strict=True)


def arrays(i: int, process: Process) -> Iterator[tuple[str, ArrayLike]]:
    """(name, numbers) of every array of the i-th process, flat, in C's order."""
    plan = process.plan
    for view, inputs in enumerate(plan.seen(process.inputs)):
        if any(comparison.view == view for comparison in plan.comparisons):
            yield f"basis_{i}_{view}", inputs
    for v, view_ in enumerate(plan.views, start=1):
        through = view_.through
        if isinstance(through, Lines):
            yield from ((f"{part}_{i}_{v}", getattr(through, part)) for part in LINES)
        else:
            yield f"matrix_{i}_{v}", through.matrix
    for c, comparison in enumerate(plan.comparisons):
        if comparison.is_distance:
            yield f"weights_{i}_{c}", weights(process, c)
    triangle = [row[: t + 1] for t, row in enumerate(process.functions)]
    yield f"functions_{i}", np.concatenate(triangle) if triangle else []
    yield f"coefficient_{i}", process.coefficient
    yield f"shrinkage_{i}", process.shrinkage


def map_arguments(i: int, number: int, through: Lines | Combinations) -> str:
    """What the function of a view's map is called with, besides the features."""
    if isinstance(through, Combinations):
        return f"matrix_{i}_{number}"
    pieces = str(through.knot.shape[1])
    return ", ".join([pieces, *(f"{part}_{i}_{number}" for part in LINES)])


def comparisons(i: int, process: Process) -> Iterator[tuple[Comparison, str, str]]:
    """(comparison, name of its basis, further arguments) of each that the kernel is made of."""
    for c, comparison in enumerate(process.plan.comparisons):
        more = f", weights_{i}_{c}" if comparison.is_distance else ""
        more += f", {comparison.rate!r}" if comparison.kind == "sine_distance" else ""
        yield comparison, f"basis_{i}_{comparison.view}", more


def identifiers(names: Iterable[str]) -> list[str]:
    """Distinct names that C and JavaScript accept, near those given.

    >>> identifiers(["age", "own car", "own-car", "int", "2nd"])
    ['age', 'own_car', 'own_car_2', 'int_', '_2nd']
    """
    chosen: list[str] = []
    for name in names:
        word = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
        word = f"_{word}" if word[0].isdigit() else f"{word}_" if word in _RESERVED else word
        tried, count = word, 1
        while tried in chosen:
            count += 1
            tried = f"{word}_{count}"
        chosen.append(tried)
    return chosen
