"""Problems whose best classifier is known: each has one difficulty, and p(y|x) in closed form.

A problem is a function of a number of rows and a seed that returns ``X`` and ``y`` in {-1, +1}, and
the log-odds log p(+1|x) - log p(-1|x) of its rows. ``PROBLEMS`` has them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

Floats = NDArray[np.float64]

FLIPPED = 0.2
"""The share of labels that are wrong in ``label_noise``, which is its Bayes error."""

RARE = 0.05
"""The share of +1 in ``imbalance``."""

SPREAD = 0.3
"""The deviation of each cluster in ``clusters``."""


@attrs.frozen
class Problem:
    """Rows of a known distribution, and the log-odds of the label at any row."""

    generate: Callable[[int, int], tuple[Floats, Floats]]
    log_odds: Callable[[Floats], Floats]


def label_noise(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Two features; a wave divides the plane, and one label in five is wrong.

    y = sign(x₂ - sin(π x₁)) with probability 0.8, x uniform in [-2, 2]²
    """
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(rows, 2))
    return X, _drawn(label_noise_log_odds(X), rng)


def label_noise_log_odds(X: Floats) -> Floats:
    """±log(0.8 / 0.2) on the two sides of the wave."""
    above = X[:, 1] > np.sin(np.pi * X[:, 0])
    odds: Floats = np.where(above, 1.0, -1.0) * np.log((1.0 - FLIPPED) / FLIPPED)
    return odds


def imbalance(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Five features; one row in twenty is +1, a unit normal two units away from that of -1."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(rows) < RARE, 1.0, -1.0)
    X = rng.standard_normal((rows, 5))
    X[:, 0] += y
    return X, y


def imbalance_log_odds(X: Floats) -> Floats:
    """2 x₁ + log(0.05 / 0.95)."""
    odds: Floats = 2.0 * X[:, 0] + np.log(RARE / (1.0 - RARE))
    return odds


def irrelevant_features(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Twenty unit normal features, of which the product of the first two decides: 4 x₁ x₂."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 20))
    return X, _drawn(irrelevant_features_log_odds(X), rng)


def irrelevant_features_log_odds(X: Floats) -> Floats:
    """4 x₁ x₂."""
    odds: Floats = 4.0 * X[:, 0] * X[:, 1]
    return odds


def clusters(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Two features; sixteen small normal clusters on a grid, black and white as on a chessboard."""
    rng = np.random.default_rng(seed)
    centres, colours = _chessboard()
    chosen = rng.integers(len(centres), size=rows)
    return centres[chosen] + SPREAD * rng.standard_normal((rows, 2)), colours[chosen]


def clusters_log_odds(X: Floats) -> Floats:
    """The density of the clusters of +1 over that of the others."""
    centres, colours = _chessboard()
    distances = ((X[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    exponents = -distances / (2.0 * SPREAD**2)
    positive, negative = exponents[:, colours > 0.0], exponents[:, colours < 0.0]
    odds: Floats = logsumexp(positive, axis=1) - logsumexp(negative, axis=1)
    return odds


def _chessboard() -> tuple[Floats, Floats]:
    across, down = (axis.ravel() for axis in np.meshgrid(np.arange(4.0), np.arange(4.0)))
    return np.column_stack([across, down]), np.where((across + down) % 2.0 == 0.0, 1.0, -1.0)


def many_dimensions(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """200 features; unit normals around (a, ..., a) and (-a, ..., -a), a = 1.5/√200."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size=rows)
    return rng.standard_normal((rows, 200)) + y[:, None] * 1.5 / np.sqrt(200.0), y


def many_dimensions_log_odds(X: Floats) -> Floats:
    """2 a ∑ xᵢ; the error is Φ(-1.5)."""
    odds: Floats = 3.0 / np.sqrt(200.0) * X.sum(axis=1)
    return odds


def _drawn(log_odds: Floats, rng: np.random.Generator) -> Floats:
    return np.where(rng.random(len(log_odds)) < expit(log_odds), 1.0, -1.0)


PROBLEMS: Mapping[str, Problem] = MappingProxyType(
    {
        "label-noise": Problem(label_noise, label_noise_log_odds),
        "imbalance": Problem(imbalance, imbalance_log_odds),
        "irrelevant-features": Problem(irrelevant_features, irrelevant_features_log_odds),
        "clusters": Problem(clusters, clusters_log_odds),
        "many-dimensions": Problem(many_dimensions, many_dimensions_log_odds),
    }
)
"""The problems by name."""
