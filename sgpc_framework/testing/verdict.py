"""How a law speaks: nothing while it holds, a ``Violation`` with what was found when it does not.

Comparisons pass over entries whose wanted value is not finite. That a part's numbers are finite is
a law of its own, so that one NaN fails one check and not all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

ROUNDING = 1e-7
"""How well two ways to compute one number must agree, relative to the largest number around.

A distance is the root of a sum of squares that is known to some 1e-16, so it is known to 1e-8.
"""


Law = Callable[..., None]
"""A function of a part that raises ``Violation``; its docstring says what is wanted."""

Laws = Mapping[Any, tuple[Law, ...]]
"""Laws by the protocol that promises them."""


class ConformanceError(AssertionError):
    """A part does not do what its protocol promises: what was wanted, found, and where to read."""


class Violation(Exception):
    """What a law found; the check that runs the law adds part, wish and reference."""


def require(holds: Any, found: str) -> None:
    """Raise ``Violation`` unless the condition holds."""
    if not holds:
        raise Violation(found)


def require_close(
    found: ArrayLike, wanted: ArrayLike, tolerance: ArrayLike, what: str, where: str
) -> None:
    """Both arrays agree to an absolute tolerance; the worst entry is reported."""
    got, expected = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    require(
        got.shape == expected.shape,
        f"{what} of shape {got.shape} where shape {expected.shape} is wanted ({where})",
    )
    with np.errstate(invalid="ignore"):
        off = np.isfinite(expected) & ~(np.abs(got - expected) <= tolerance)
    if off.any():
        miss = np.where(off, np.nan_to_num(np.abs(got - expected), nan=np.inf), -1.0)
        at = np.unravel_index(int(np.argmax(miss)), miss.shape)
        place = f" at {[int(i) for i in at]}" if at else ""
        raise Violation(
            f"{what} = {got[at]:.9g}{place} where {expected[at]:.9g} is wanted ({where})"
        )


def require_equal(found: Any, wanted: Any, what: str, where: str) -> None:
    """Two arrays are equal to the last bit; NaN equals NaN."""
    got, expected = np.asarray(found), np.asarray(wanted)
    both_float = got.dtype.kind == expected.dtype.kind == "f"
    require(
        np.array_equal(got, expected, equal_nan=both_float),
        f"{what}: {_shown(got)}, then {_shown(expected)} ({where})",
    )


def require_finite(found: ArrayLike, what: str, where: str) -> None:
    """No NaN and no infinity."""
    array = np.asarray(found, dtype=np.float64)
    bad = ~np.isfinite(array)
    if bad.any():
        at = [int(i) for i in np.argwhere(bad)[0]]
        raise Violation(f"{what} = {array[bad][0]}{f' at {at}' if at else ''} ({where})")


def scale_of(array: ArrayLike) -> float:
    """The largest finite magnitude in an array, and at least a tiny number."""
    magnitudes = np.abs(np.asarray(array, dtype=np.float64))
    return float(np.max(magnitudes, initial=1e-12, where=np.isfinite(magnitudes)))


def _shown(array: Any) -> str:
    return np.array2string(array, threshold=6, edgeitems=2, precision=6).replace("\n", "")
