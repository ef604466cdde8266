"""Numbers and names as source code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import fill

import numpy as np
from numpy.typing import ArrayLike

from sgpc_framework.adapters.portable.formula import Process

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


def numbers(values: ArrayLike, indent: str = "    ") -> str:
    """Numbers with every digit that they need, in lines of bearable length."""
    texts = (repr(float(value)) for value in np.ravel(values))
    lines = fill(", ".join(texts), 100, break_long_words=False, break_on_hyphens=False)
    return "\n".join(indent + line for line in lines.splitlines())


def triangle(process: Process) -> list[float]:
    """The lower triangle of the basis functions, row by row."""
    return [value for t, row in enumerate(process.functions) for value in row[: t + 1].tolist()]


def weights(process: Process, comparison: int) -> list[float]:
    """The weight of each feature in a comparison."""
    own = process.plan.comparisons[comparison].weights
    return [*map(float, np.broadcast_to(own, process.inputs.shape[1]))]


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
