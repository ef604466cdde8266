"""Rising lines, one for each feature: what maps of single features are made of."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from sgpc_framework.authors import Floats

Lines = tuple[tuple[float, ...], ...]
"""Rising numbers, a list for each feature; an empty one for a feature that is left alone."""


def as_lines(value: Any) -> Any:
    """The lists as tuples of floats; a word stays one."""
    return value if isinstance(value, str) else tuple(tuple(map(float, line)) for line in value)


def rising(_: Any, field: attrs.Attribute[Any], value: Lines | str) -> None:
    """A validator of lists that rise, for which the word ``"quantiles"`` may stand."""
    if isinstance(value, str):
        if value != "quantiles":
            raise ValueError(
                f"{field.name} must be lists of numbers or 'quantiles', found {value!r}"
            )
        return
    for feature, line in enumerate(value):
        if len(line) == 1 or not np.all(np.isfinite(line)) or np.any(np.diff(line) <= 0.0):
            raise ValueError(
                f"{field.name}[{feature}] must be empty, or at least two finite numbers that rise, "
                f"found {line!r}"
            )


def along(x: Floats, knots: Floats, images: Floats) -> Floats:
    """The line through the knots at x, which goes on straight beyond the first and the last."""
    piece = np.clip(np.searchsorted(knots, x) - 1, 0, len(knots) - 2)
    slope = np.diff(images) / np.diff(knots)
    line: Floats = images[piece] + slope[piece] * (x - knots[piece])
    return line
