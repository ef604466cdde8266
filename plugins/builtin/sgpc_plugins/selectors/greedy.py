"""Selectors that take the best row of all by a number each row has for itself.

Throughout, λ̄ᵢ = 1 - νᵢ Aᵢᵢ is the factor by which including row i would shrink its variance, which
several latent functions share: νᵢ is then the mean of theirs. Where rows have weights, the number
is multiplied by the weight of the row.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import attrs
import numpy as np

from sgpc_framework.authors import Floats, Posterior, Rows, one_of


@attrs.frozen
class Entropy:
    """The row whose inclusion reduces the entropy of the posterior most (the IVM).

        j = argmin log λ̄ᵢ

    Lawrence, Seeger & Herbrich (2003), "Fast sparse Gaussian process methods: the informative
    vector machine".
    """

    name: ClassVar[str] = "entropy"

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> int:
        return posterior.argmin(_log_kept)


@attrs.frozen
class InformationGain:
    """The row whose inclusion changes the posterior most, in relative entropy.

    With Δ = αᵢ Aᵢᵢ the move of the row's mean,

        new-old:  KL(new‖old) = ½ (-log λ̄ + λ̄ - 1 + Δ²/A)
        old-new:  KL(old‖new) = ½ (log λ̄ + 1/λ̄ - 1 + Δ²/(A λ̄))

    and j = argmax of the one that ``direction`` names; of several latent functions Δ² is the mean.
    The paper's printed criterion is neither (its argmin would pick the least informative row).
    """

    name: ClassVar[str] = "information-gain"

    direction: Literal["new-old", "old-new"] = one_of("new-old", "old-new")

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> int:
        return posterior.argmin(_minus_new_old if self.direction == "new-old" else _minus_old_new)


@attrs.frozen
class MostViolated:
    """The row whose label the model finds least probable: j = argmin log Zᵢ.

    The paper's own negative example: on noisy data it collects the noise.
    """

    name: ClassVar[str] = "most-violated"

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> int:
        return posterior.argmin(lambda rows: rows.weighed(rows.log_z))


@attrs.frozen
class ConditionalVariance:
    """The row the basis explains least: j = argmax Aᵢᵢ. It does not look at labels."""

    name: ClassVar[str] = "conditional-variance"

    def propose(self, posterior: Posterior, rng: np.random.Generator) -> int:
        return posterior.argmin(lambda rows: rows.weighed(-rows.variance))


def _log_kept(rows: Rows) -> Floats:
    removed = rows.shrinkage * rows.variance  # 1 - λ̄
    if rows.has_weights:
        return rows.weight * np.log1p(-removed)
    return -removed  # without weights the logarithm changes no choice


def _minus_new_old(rows: Rows) -> Floats:
    removed = rows.shrinkage * rows.variance  # 1 - λ̄
    return rows.weighed(0.5 * (np.log1p(-removed) + removed - _moved(rows)))


def _minus_old_new(rows: Rows) -> Floats:
    removed = rows.shrinkage * rows.variance
    gain = np.log1p(-removed) + (removed + _moved(rows)) / (1.0 - removed)
    return rows.weighed(-0.5 * gain)


def _moved(rows: Rows) -> Floats:
    """Δ²/A."""
    squares = rows.alpha**2
    return (squares if squares.ndim == 1 else squares.mean(axis=0)) * rows.variance
