"""The inverse lengthscales of a kernel that has one for each feature.

They say how fast the function changes along a feature, and not what that is worth, which
``column_importance`` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sgpc_framework.errors import InputError
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.calls import blame, real_array
from sgpc_framework.parts.hyperparameters import located_parts
from sgpc_framework.protocols import FeatureRelevance, Floats, Kernel


def relevances(kernel: Kernel, spread: Floats | None = None) -> dict[str, Floats]:
    """1 / lengthscale of each feature, for each part of the kernel that has them, by its path.

    The function changes fast along a feature with a short lengthscale, and not at all along one
    whose lengthscale is long beside the ``spread`` of the feature, by which its relevance is
    multiplied if it is given; without it, the features are taken to be on one scale. The path of
    the kernel itself is empty; that of a term in a sum is ``terms[0]``, say.

    >>> from sgpc_framework import build
    >>> kernel = build(kernel={"name": "matern-32", "lengthscale": [0.5, 10.0]}).config.kernel
    >>> relevances(kernel)
    {'': array([2. , 0.1])}
    """
    by_part = dict(_by_part(kernel))
    if not by_part:
        raise InputError(
            f"wanted a kernel with one lengthscale for each feature, found {kernel!r}: it says "
            'nothing about single features; fit with kernel = {name = "squared-exponential", '
            'lengthscale = "median-per-feature"}, say, or with the preset "accurate"'
        )
    factor = 1.0 if spread is None else spread
    return {path: inverse * factor for path, inverse in by_part.items()}


def has_relevances(kernel: Kernel) -> bool:
    """Whether the kernel, or a part of it, has a lengthscale for each feature."""
    return any(True for _ in _by_part(kernel))


def _by_part(kernel: Kernel) -> Iterator[tuple[str, Floats]]:
    for path, part in located_parts(kernel):
        if has(part, FeatureRelevance):
            with blame("kernel", part, "relevances"):
                inverse = part.relevances()
                if inverse is not None:
                    inverse = real_array(inverse, (len(inverse),))
            if inverse is not None:
                yield path, inverse


def name_features(names: Any, features: int) -> list[str]:
    """The names of the features as strings: x1, x2, ... unless they are given.

    >>> name_features(None, 2), name_features(["height", 7], 2)
    (['x1', 'x2'], ['height', '7'])
    """
    if names is None:
        return [f"x{position}" for position in range(1, features + 1)]
    texts = [str(name) for name in names]
    if len(texts) != features:
        raise InputError(f"wanted {features} names of features, found {len(texts)}: {texts[:5]}")
    return texts
