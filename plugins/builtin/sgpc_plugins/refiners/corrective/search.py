"""Runs of the optimiser over everything that the corrective refiner may change."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np

from sgpc_framework.authors import (
    Floats,
    FreeVector,
    Refining,
    State,
    Tell,
    TrainingRows,
    hyperparameters,
    minimise,
    values,
)
from sgpc_plugins.refiners.corrective.joint_loss import PRECISION_UNIT, JointLoss
from sgpc_plugins.refiners.corrective.relevance_prior import RelevancePrior

PATIENCE = 10
"""Over how many iterations a run must gain something to go on."""

REACH = 5.0
"""How far a free hyperparameter may move: far out are the linear limit and other poor minima."""

SITE_REACH = 4.0
"""The same for the logarithm of a precision, in its unit."""


BASIS_WIDTH = 1.5
"""How far a basis vector is expected to move along each feature, in deviations of that feature: the
relative entropy does not count where basis vectors are, and they are free to follow noise."""


@attrs.frozen(eq=False)
class Search:
    """The box that a refinement stays in, the prior in it, and the runs through it."""

    start: State
    moves: bool
    scale: Floats
    lower: Floats
    upper: Floats
    prior: RelevancePrior
    anchor: float
    """A basis vector that moved by a distance, in units of ``scale``, costs half its square times
    this, in nats."""

    tolerance: float
    elbo_share: float
    tell: Tell
    tied: bool = False
    """Whether the numbers of a list, one for each feature, keep their ratios."""

    @classmethod
    def around(
        cls,
        start: State,
        rows: TrainingRows,
        moves: bool,
        width: float,
        tolerance: float,
        elbo_share: float,
        tell: Tell,
    ) -> Search:
        """The box around a start: basis vectors may leave the data by the width of the data."""
        box = FreeVector.of(start)
        free = box.free(values(start))
        log_precision = np.log(start.precision) / PRECISION_UNIT
        unbounded = np.full(start.mean.size, 1e6)
        lower = [np.maximum(box.free(box.least), free - REACH), log_precision - SITE_REACH]
        upper = [np.minimum(box.free(box.most), free + REACH), log_precision + SITE_REACH]
        lower.append(-unbounded)
        upper.append(unbounded)
        scale, anchor = np.ones(1), 0.0
        if moves:
            features = rows.summary()
            least, most = features.least, features.greatest
            scale = _scale(features.deviation)
            anchor = 0.5 * len(scale) / BASIS_WIDTH**2
            lower.append(np.tile((2.0 * least - most) / scale, len(start)))
            upper.append(np.tile((2.0 * most - least) / scale, len(start)))
        prior = RelevancePrior.over(hyperparameters(start), width)
        ends = np.concatenate(lower), np.concatenate(upper)
        return cls(start, moves, scale, *ends, prior, anchor, tolerance, elbo_share, tell)

    def ways(self) -> Iterator[Search]:
        """The search with every hyperparameter free and, if there are lists of them, with the
        numbers of a list kept in their ratios: all features are then equally relevant."""
        yield self
        if self.prior.has_lists:
            yield attrs.evolve(self, tied=True)

    def run(
        self, begin: State, rows: TrainingRows, penalty: float, iterations: int, what: str
    ) -> State:
        """The best state from ``begin`` on with this penalty; ``what`` says what is being done."""
        loss = JointLoss(begin, rows, penalty, self.elbo_share, moves=self.moves, scale=self.scale)
        n = len(rows)
        origin, _, _, home = loss.pieces(loss.point(self.start))

        def projected(point: Floats) -> Floats:
            theta, *others = loss.pieces(point)
            return np.concatenate([origin + self.prior.together(theta - origin), *others])

        def function(point: Floats) -> tuple[float, Floats]:
            point = projected(point) if self.tied else point
            value, gradient = loss(point)
            prior, pull = self.prior(loss.pieces(point).theta - origin)
            pull = gradient[: len(pull)] + pull / n
            gradient[: len(pull)] = self.prior.together(pull) if self.tied else pull
            if self.moves:
                moved = loss.pieces(point).inputs - home
                prior += 0.5 * self.anchor * float(moved @ moved)
                gradient[-len(moved) :] += self.anchor * moved / n
            return value + prior / n, gradient

        minimum = minimise(
            function,
            loss.point(begin),
            self.lower,
            self.upper,
            "l-bfgs-b",
            iterations,
            self.tolerance / n,
            PATIENCE,
            lambda step, value: self.tell(Refining(what, step, iterations, value)),
        )
        return loss.state(projected(minimum.point) if self.tied else minimum.point)


def _scale(deviation: Floats) -> Floats:
    """The unit in which basis vectors move: half the median distance of rows that differ in all
    features alike, which is what a quasi-Newton method likes best beside the other unknowns."""
    varying = np.where(deviation == 0.0, 1.0, deviation)
    scale: Floats = 0.5 * varying * np.sqrt(2.0 * len(deviation))
    return scale
