"""Sets that can be generated anywhere, by their published definitions.

Each function returns ``X`` (rows x features) and ``y`` in {-1, +1}, the same for the same seed. The
definitions are those of L. Breiman, "Bias, variance and arcing classifiers" (1996), and of Breiman
et al., "Classification and Regression Trees" (1984) for Waveform.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def waveform(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Waveform: 21 features; mixtures of two of three triangular waves, plus unit noise.

        x = u hₐ + (1 - u) h_b + noise,   u uniform in (0, 1)

    The pairs (a, b) are (1, 2), (1, 3) and (2, 3), equally likely; +1 is the second of them.
    """
    rng = np.random.default_rng(seed)
    time = np.arange(1, 22)
    waves = np.maximum(6.0 - np.abs(time - np.array([[11], [15], [7]])), 0.0)
    pair = rng.integers(3, size=rows)
    first, second = np.array([0, 0, 1])[pair], np.array([1, 2, 2])[pair]
    u = rng.random((rows, 1))
    X = u * waves[first] + (1.0 - u) * waves[second] + rng.standard_normal((rows, 21))
    return X, np.where(pair == 1, 1.0, -1.0)


def twonorm(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Twonorm: 20 features; unit normals around (a, ..., a) and (-a, ..., -a), a = 2/√20."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size=rows)
    return rng.standard_normal((rows, 20)) + y[:, None] * 2.0 / np.sqrt(20.0), y


def ringnorm(rows: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Ringnorm: 20 features; +1 is N(0, 4 I), -1 is N((a, ..., a), I) with a = 2/√20."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size=rows)
    wide = (y > 0.0)[:, None]
    noise = rng.standard_normal((rows, 20))
    return np.where(wide, 2.0 * noise, noise + 2.0 / np.sqrt(20.0)), y
