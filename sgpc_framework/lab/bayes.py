"""The least error and NLP that any classifier can have, where the densities are known.

With the posterior probability π(x) of +1 given x, these are E min(π, 1 - π) and the conditional
entropy E h(π). Standardising the features, as the benchmark files do, does not change them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from sgpc_framework.datasets import BENCHMARKS
from sgpc_framework.datasets.synthetic import PROBLEMS, Problem
from sgpc_framework.metrics.statistics import Mean

Floats = NDArray[np.float64]
ROWS = 400_000


@attrs.frozen
class Floor:
    """Bayes error and Bayes NLP, means over generated inputs."""

    error: Mean
    nlp: Mean


def floor(name: str, rows: int | None = None) -> Floor:
    """Monte Carlo over generated inputs with the exact posterior at each."""
    rows = rows or ROWS
    X, _ = KNOWN[name].generate(rows, 2**20)
    margin = KNOWN[name].log_odds(X)
    # min(π, 1 - π) = 1 / (1 + e^|m|), and the entropy of the label in nats
    least = np.exp(-np.logaddexp(0.0, np.abs(margin)))
    entropy = np.logaddexp(0.0, np.abs(margin)) - np.abs(margin) * (1.0 - least)
    return Floor(Mean.of(least), Mean.of(entropy))


def twonorm_log_odds(X: Floats) -> Floats:
    """log p(+1|x) - log p(-1|x) = 2 a ∑ xᵢ; the error is Φ(-2)."""
    odds: Floats = 4.0 / np.sqrt(20.0) * X.sum(axis=1)
    return odds


def ringnorm_log_odds(X: Floats) -> Floats:
    """N(0, 4 I) against N(a, I)."""
    inner = ((X - 2.0 / np.sqrt(20.0)) ** 2).sum(axis=1)
    odds: Floats = -(X**2).sum(axis=1) / 8.0 - 20.0 * np.log(2.0) + inner / 2.0
    return odds


def waveform_log_odds(X: Floats) -> Floats:
    """The second pair of waves against the first and the third, all three equally likely."""
    waves = np.maximum(6.0 - np.abs(np.arange(1, 22) - np.array([[11], [15], [7]])), 0.0)
    first, second, third = (
        _log_segment(X, waves[a], waves[b]) for a, b in ((0, 1), (0, 2), (1, 2))
    )
    return second - np.logaddexp(first, third)


def _log_segment(X: Floats, a: Floats, b: Floats) -> Floats:
    """log ∫₀¹ N(x; u a + (1 - u) b, I) du, but for a constant.

    Along the segment x - b has the coordinate t, beside it the squared distance r²; so the integral
    is exp(-r²/2) (Φ(L - t) - Φ(-t)) √(2π) / L with L the length of the segment.
    """
    length = float(np.linalg.norm(a - b))
    t = (X - b) @ (a - b) / length
    beside = ((X - b) ** 2).sum(axis=1) - t**2
    # Φ(L - t) - Φ(-t) from the side on which both are small, where the difference keeps its digits
    near = np.minimum(t, length - t)
    high, low = log_ndtr(near), log_ndtr(near - length)
    inside = high + np.log(-np.expm1(low - high))
    log_density: Floats = inside - beside / 2.0 - np.log(length)
    return log_density


LOG_ODDS: Mapping[str, Callable[[Floats], Floats]] = {
    "waveform": waveform_log_odds,
    "twonorm": twonorm_log_odds,
    "ringnorm": ringnorm_log_odds,
}
"""Of the benchmark sets that can be generated."""

KNOWN: Mapping[str, Problem] = {
    **{
        name: Problem(generate, log_odds)
        for name, log_odds in LOG_ODDS.items()
        if (generate := BENCHMARKS[name].generate) is not None
    },
    **PROBLEMS,
}
"""Every distribution that is known: three of the paper's sets, and those of ``synthetic``."""
