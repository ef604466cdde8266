"""What the rows of a class count: scikit-learn's ``class_weight``, turned into a weight a row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sgpc_framework.errors import InputError

Floats = NDArray[np.float64]


def weighted_classes(class_weight: Any, y: NDArray[Any], weight: Floats | None) -> Floats | None:
    """The rows' own weights (None: one each), times what their classes count.

    ``"balanced"`` makes all C classes count the same and keeps the sum of all weights w:

        factor of class k = Σ w / (C · Σ_{rows of class k} w)

    >>> weighted_classes("balanced", np.array(["a", "b", "b", "b"]), None)
    array([2.        , 0.66666667, 0.66666667, 0.66666667])
    >>> weighted_classes({"a": 10.0}, np.array(["a", "b"]), np.array([0.5, 0.5]))
    array([5. , 0.5])
    """
    if class_weight is None:
        return weight
    own = np.ones(len(y)) if weight is None else weight
    classes, places = np.unique(y, return_inverse=True)
    if isinstance(class_weight, Mapping):
        factors = _given(class_weight, classes.tolist())
    elif isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(places, own)
        present = counts > 0.0
        share = counts.sum() / np.count_nonzero(present)
        factors = np.divide(share, counts, out=np.ones_like(counts), where=present)
    else:
        raise InputError(
            "class_weight must be 'balanced', a mapping from labels to numbers, or None, found "
            f"{class_weight!r}"
        )
    return own * factors[places]


def _given(factors: Mapping[Any, Any], classes: list[Any]) -> Floats:
    """The factor of each class; one, where none is given."""
    for label, factor in factors.items():
        number = isinstance(factor, Real) and math.isfinite(factor)
        if not number or factor < 0.0:
            raise InputError(
                f"class_weight must be finite and not below 0, found {factor!r} for the label "
                f"{label!r}"
            )
    strange = [label for label in factors if label not in classes]
    missing = [label for label in classes if label not in factors]
    if strange and missing:  # a fold of rows may lack a class, but this looks like a slip
        raise InputError(
            f"class_weight has {strange[0]!r}, which is no label of y, and nothing for the class "
            f"{missing[0]!r}"
        )
    return np.array([float(factors.get(label, 1.0)) for label in classes])
