"""The hooks: one for each kind of part. A plugin implements those it has something for.

Every hook takes no argument and returns a list of classes (not instances, not names). It is called
once, when a registry is first asked for something. Names that begin with ``sgpc_`` are reserved
for hooks: a function that looks like one but is misspelt or unmarked is reported, never skipped.

A plugin is a module that its distribution announces in ``pyproject.toml``; the left-hand side is
any name that is unique within the distribution::

    [project.entry-points.sgpc_framework]
    parts = "my_package.parts"

Each example below is such a module, complete.
"""

from __future__ import annotations

from sgpc_framework.plugin.markers import hookspec
from sgpc_framework.protocols import (
    BasisSelector,
    HyperObjective,
    Kernel,
    Likelihood,
    Refiner,
    SiteEstimator,
)


@hookspec
def sgpc_kernels() -> list[type[Kernel]]:
    """Prior covariances, for the slot ``kernel``.

    A kernel on strings that needs no gradients: how often letters agree, position by position::

        from typing import ClassVar

        import numpy as np
        from attrs import frozen

        from sgpc_framework.authors import hookimpl, hyperparameter


        @frozen
        class Agreement:
            name: ClassVar[str] = "agreement"
            variance: float = hyperparameter(1.0, bounds=(1e-4, 1e4))

            def __call__(self, X, Z):
                shares = [[sum(map(str.__eq__, x, z)) / len(x) for z in Z] for x in X]
                return self.variance * np.reshape(np.array(shares, float), (len(X), len(Z)))

            def diag(self, X):
                return np.full(len(X), self.variance)

            def sample_inputs(self, rows, rng):  # what the conformance kit tries it on
                words = ["".join(rng.choice(list("abc"), 6)) for _ in range(rows)]
                return np.array(words, dtype=object)


        @hookimpl
        def sgpc_kernels():
            return [Agreement]
    """
    raise NotImplementedError


@hookspec
def sgpc_likelihoods() -> list[type[Likelihood]]:
    """Noise models, for the slot ``likelihood``.

    A step function whose labels are flipped with a fixed probability::

        from typing import ClassVar

        import numpy as np
        from attrs import frozen
        from scipy.special import ndtr

        from sgpc_framework.authors import Moments, hookimpl, hyperparameter


        @frozen
        class FlippedStep:
            name: ClassVar[str] = "flipped-step"
            flips: float = hyperparameter(0.1, bounds=(1e-3, 0.4), transform="logit")

            def moments(self, y, mean, variance):
                spread = np.sqrt(variance + 1e-6)
                z = y * mean / spread
                Z = self.flips + (1 - 2 * self.flips) * ndtr(z)
                density = np.exp(-np.minimum(z * z, 1400) / 2) / np.sqrt(2 * np.pi)
                alpha = y * (1 - 2 * self.flips) * density / (spread * Z)
                return Moments(np.log(Z), alpha, alpha * (alpha + mean / spread**2))


        @hookimpl
        def sgpc_likelihoods():
            return [FlippedStep]
    """
    raise NotImplementedError


@hookspec
def sgpc_site_estimators() -> list[type[SiteEstimator]]:
    """Ways to find a site, for the slot ``sites``.

    Moment matching that goes only a part of the way::

        from typing import ClassVar

        import numpy as np
        from attrs import field, frozen, validators

        from sgpc_framework.authors import Steps, hookimpl


        @frozen
        class Damped:
            name: ClassVar[str] = "damped"
            share: float = field(default=0.5, validator=[validators.gt(0), validators.le(1)])

            def estimate(self, posterior, candidates):
                at = candidates.at
                shrinkage = np.where(at.nu > 0, self.share * at.nu, 1e-6 / at.variance)
                return Steps(self.share * at.alpha, shrinkage)


        @hookimpl
        def sgpc_site_estimators():
            return [Damped]
    """
    raise NotImplementedError


@hookspec
def sgpc_basis_selectors() -> list[type[BasisSelector]]:
    """Ways to choose the next basis vector, for the slot ``selector``.

    The row whose label the model is least sure of, weighted by what there is left to learn::

        from typing import ClassVar

        import numpy as np
        from attrs import frozen

        from sgpc_framework.authors import hookimpl


        @frozen
        class DoubtTimesVariance:
            name: ClassVar[str] = "doubt-times-variance"

            def propose(self, posterior, rng):
                return posterior.argmin(lambda rows: np.expm1(rows.log_z) * rows.variance)


        @hookimpl
        def sgpc_basis_selectors():
            return [DoubtTimesVariance]
    """
    raise NotImplementedError


@hookspec
def sgpc_hyper_objectives() -> list[type[HyperObjective]]:
    """Losses for the hyperparameters, for the slot ``objective``.

    The Brier score, the mean of (1 - p)² with p the predictive probability of a row's own label::

        from typing import ClassVar

        import numpy as np
        from attrs import frozen

        from sgpc_framework.authors import RowLoss, hookimpl


        @frozen
        class Brier:
            name: ClassVar[str] = "brier"

            def loss(self, trial):
                return trial.mean(squared_doubt)


        def squared_doubt(rows):
            p = np.exp(rows.log_z)
            return RowLoss((1 - p) ** 2, d_log_z=-2 * (1 - p) * p)


        @hookimpl
        def sgpc_hyper_objectives():
            return [Brier]
    """
    raise NotImplementedError


@hookspec
def sgpc_refiners() -> list[type[Refiner]]:
    """What is done once after the last stage, for the slot ``refiner``.

    The smallest refiner there is, to start from: it returns what it was given::

        from typing import ClassVar

        from attrs import frozen

        from sgpc_framework.authors import Refined, hookimpl, predictive_loss


        @frozen
        class Untouched:
            name: ClassVar[str] = "untouched"

            def loss(self, state, rows):
                return predictive_loss(state, rows)

            def refine(self, state, rows, rng, tell):
                return Refined(state)


        @hookimpl
        def sgpc_refiners():
            return [Untouched]
    """
    raise NotImplementedError
