"""Sound parts of every kind, of which the zoos of broken ones are made."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from scipy.spatial.distance import cdist

from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.parts.hyperparameters import hyperparameter
from sgpc_framework.protocols import Refined, RowLoss
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import Probit
from sgpc_plugins.sites import MomentMatching


def admitted(zoo: list[tuple[Any, str, str]], check: str, saying: str):
    """Put a class into a zoo: which check it fails, and what that says."""

    def admit(cls: type) -> type:
        zoo.append((cls, check, saying))
        return cls

    return admit


@attrs.frozen
class Plain:
    """A sound kernel."""

    name: ClassVar[str] = "zoo-kernel"
    variance: float = hyperparameter(1.5, bounds=(1e-3, 1e3))
    lengthscale: float = hyperparameter(1.2, bounds=(1e-3, 1e3))

    def __call__(self, X, Z):
        return self.variance * np.exp(-0.5 * cdist(X, Z, "sqeuclidean") / self.lengthscale**2)

    def diag(self, X):
        return np.full(len(X), self.variance)


@attrs.frozen
class Exact(Plain):
    """The same with exact gradients."""

    def _made(self):
        return SquaredExponential(self.variance, self.lengthscale)

    def linearised(self, X, Z):
        return self._made().linearised(X, Z)

    def linearised_diag(self, X):
        return self._made().linearised_diag(X)

    def input_pullback(self, X, Z, cotangent):
        return self._made().input_pullback(X, Z, cotangent)


@attrs.frozen
class SoundLikelihood:
    name: ClassVar[str] = "zoo-likelihood"

    def moments(self, y, mean, variance):
        return Probit().moments(y, mean, variance)


@attrs.frozen
class SoundSelector:
    name: ClassVar[str] = "zoo-selector"

    def propose(self, posterior, rng):
        return posterior.argmin(lambda rows: rows.log_z)


@attrs.frozen
class SoundSites:
    name: ClassVar[str] = "zoo-sites"

    def estimate(self, posterior, candidates):
        return MomentMatching().estimate(posterior, candidates)


@attrs.frozen
class SoundObjective:
    name: ClassVar[str] = "zoo-objective"

    def loss(self, trial):
        return trial.mean(self.of_rows)

    def of_rows(self, rows):
        return RowLoss(-rows.log_z, d_log_z=-1.0)


@attrs.frozen
class SoundRefiner:
    name: ClassVar[str] = "zoo-refiner"

    def loss(self, state, rows):
        return predictive_loss(state, rows)

    def refine(self, state, rows, rng, tell):
        return Refined(state)
