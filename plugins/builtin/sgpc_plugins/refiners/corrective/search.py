"""Runs of the optimiser over everything that the corrective refiner may change."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.engine.joint import PRECISION_UNIT, JointLoss
from sgpc_framework.engine.optimisers import minimise
from sgpc_framework.engine.refinement import Refinable, Refining
from sgpc_framework.engine.slopes import FixedSites
from sgpc_framework.engine.step6 import Theta
from sgpc_framework.parts import hyperparameters as hyper
from sgpc_plugins.refiners.corrective.relevance_prior import RelevancePrior

Floats = NDArray[np.float64]

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

    start: Refinable
    moves: bool
    scale: Floats
    lower: Floats
    upper: Floats
    prior: RelevancePrior
    stay: float
    """A basis vector that moved by a distance, in units of ``scale``, costs half its square times
    this, in nats."""

    tolerance: float
    caution: float
    alike: bool = False
    """Whether the numbers of a list, one for each feature, keep their ratios."""

    @classmethod
    def around(
        cls, start: Refinable, moves: bool, width: float, tolerance: float, caution: float
    ) -> Search:
        """The box around a start: basis vectors may leave the data by the width of the data."""
        theta, sites = Theta(start.kernel, start.likelihood), start.sites
        box = hyper.FreeVector.of(theta)
        free = box.free(hyper.values(theta))
        log_precision = np.log(sites.precision) / PRECISION_UNIT
        unbounded = np.full(len(sites.mean), 1e6)
        lower = [np.maximum(box.free(box.least), free - REACH), log_precision - SITE_REACH]
        upper = [np.minimum(box.free(box.most), free + REACH), log_precision + SITE_REACH]
        lower.append(-unbounded)
        upper.append(unbounded)
        scale, stay = np.ones(1), 0.0
        if moves:
            least, most = np.min(sites.X, axis=0), np.max(sites.X, axis=0)
            scale, stay = _scale(sites.X), 0.5 * sites.X.shape[1] / BASIS_WIDTH**2
            lower.append(np.tile((2.0 * least - most) / scale, len(sites.mean)))
            upper.append(np.tile((2.0 * most - least) / scale, len(sites.mean)))
        prior = RelevancePrior.over(hyper.hyperparameters(theta), width)
        box_of_all = np.concatenate(lower), np.concatenate(upper)
        return cls(start, moves, scale, *box_of_all, prior, stay, tolerance, caution)

    def ways(self) -> Iterator[Search]:
        """The search with every hyperparameter free and, if there are lists of them, with the
        numbers of a list kept in their ratios: all features are then equally relevant."""
        yield self
        if self.prior.has_lists:
            yield attrs.evolve(self, alike=True)

    def run(
        self,
        begin: Refinable,
        penalty: float,
        iterations: int,
        rows: NDArray[np.intp] | None = None,
    ) -> Refinable:
        """The best state found from ``begin`` with this penalty, judged by all rows or by some."""
        sites = begin.sites if rows is None else begin.sites.judged_by(rows)
        begun = attrs.evolve(begin, sites=sites)
        loss = JointLoss(begun, penalty, self.caution, moves=self.moves, scale=self.scale)
        n = len(sites.y)
        origin, _, _, home = loss.pieces(loss.point(self.start))

        def projected(point: Floats) -> Floats:
            theta, *others = loss.pieces(point)
            return np.concatenate([origin + self.prior.together(theta - origin), *others])

        def function(point: Floats) -> tuple[float, Floats]:
            point = projected(point) if self.alike else point
            value, gradient = loss(point)
            prior, pull = self.prior(loss.pieces(point).theta - origin)
            pull = gradient[: len(pull)] + pull / n
            gradient[: len(pull)] = self.prior.together(pull) if self.alike else pull
            if self.moves:
                moved = loss.pieces(point).inputs - home
                prior += 0.5 * self.stay * float(moved @ moved)
                gradient[-len(moved) :] += self.stay * moved / n
            return value + prior / n, gradient

        what = f"penalty {penalty:g}" if rows is None else f"trying penalty {penalty:g}"
        tell = self.start.tell

        found = minimise(
            function,
            loss.point(begin),
            self.lower,
            self.upper,
            "l-bfgs-b",
            iterations,
            self.tolerance / n,
            PATIENCE,
            lambda step, value: tell(Refining(what, step, iterations, value)),
        )
        end = loss.state(projected(found.point) if self.alike else found.point)
        return attrs.evolve(end, sites=_updated(begin.sites, end.sites))


def _updated(sites: FixedSites, found: FixedSites) -> FixedSites:
    """What was found, with the rows of ``sites``."""
    return attrs.evolve(
        sites, precision=found.precision, mean=found.mean, basis_inputs=found.basis_inputs
    )


def _scale(X: Floats) -> Floats:
    """The unit in which basis vectors move: half the median distance of rows that differ in all
    features alike, which is what a quasi-Newton method likes best beside the other unknowns."""
    deviation = X.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    scale: Floats = 0.5 * deviation * np.sqrt(2.0 * X.shape[1])
    return scale
