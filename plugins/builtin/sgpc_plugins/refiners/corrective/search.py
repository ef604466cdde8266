"""Runs of an optimiser over everything that the corrective refiner may change.

A run descends by batches of rows first (Adam), whose noise carries it past poor minima, then
minimises over all rows (L-BFGS), which is exact. Where there are very many rows the first is all
that is needed, and the second is left out.

A run may settle first: the hyperparameters rest while the function is learnt. A feature whose
effect the function has not learnt yet looks irrelevant, and a lengthscale that has run away does
not come back. But where many features are irrelevant it is better to find that out at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.authors import (
    Floats,
    FreeVector,
    Once,
    Refining,
    State,
    Tell,
    TrainingRows,
    WarpsInputs,
    descend,
    hyperparameters,
    minimise,
    values,
)
from sgpc_plugins.refiners.corrective.coordinates import (
    inside,
    outside,
    rows_inside,
    warp_of,
)
from sgpc_plugins.refiners.corrective.joint_loss import PRECISION_UNIT, JointLoss, Pieces
from sgpc_plugins.refiners.corrective.relevance_prior import RelevancePrior

BATCH, LARGEST_BATCH = 256, 1024
"""Rows of a batch: a tenth of all rows, within these limits."""

RATE = 0.05
"""The step of Adam, in free coordinates, whitened ones, and units of ``Search.scale``."""

PATIENCE = 10
"""Over how many iterations over all rows a run must gain something to go on."""

REACH = 5.0
"""How far a free hyperparameter may move: far out are the linear limit and other poor minima."""

SITE_REACH = 4.0
"""The same for the logarithm of a precision, in its unit."""

BASIS_WIDTH = 1.5
"""How far a basis vector is expected to move along each feature, in deviations of that feature: the
relative entropy does not count where basis vectors are, and they are free to follow noise."""

Numbers = NDArray[np.intp]


@attrs.frozen
class Effort:
    """How long a run may take."""

    settling: int = 0
    """Steps of Adam, each by a batch of rows, in which the hyperparameters rest."""

    batches: int = 0
    """Steps of Adam in which they move."""

    iterations: int = 0
    """Iterations of L-BFGS over all rows; there are fewer where they gain nothing."""

    @classmethod
    def fresh(cls, rows: int, iterations: int) -> Effort:
        """That of who begins where the stages ended. Few rows are soon learnt by all of them."""
        return cls(0, min(300, rows // 7), iterations)

    def settled(self) -> Effort:
        """As long, but a third of the batches is for settling."""
        return attrs.evolve(
            self, settling=self.batches // 3, batches=self.batches - self.batches // 3
        )


@attrs.frozen(eq=False)
class Search:
    """The box that a refinement stays in, the prior in it, what is minimised, and runs of that.

    ``start``, the box and the scale are those inside of ``warp``, if there is one
    (``coordinates``); runs begin and end outside.
    """

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
    tell: Tell
    once: Once
    penalty: float = 1.0
    elbo_share: float = 0.0
    tied: bool = False
    """Whether the numbers of a list, one for each feature, keep their ratios."""

    warp: WarpsInputs | None = None

    @classmethod
    def around(
        cls,
        start: State,
        rows: TrainingRows,
        moves: bool,
        width: float,
        tolerance: float,
        tell: Tell,
        once: Once,
    ) -> Search:
        """The box around a start: basis vectors may leave the data by the width of the data."""
        warp, start = warp_of(start), inside(start)
        unbounded = np.full(start.mean.size, 1e6)
        log_precision = np.log(start.precision).ravel() / PRECISION_UNIT
        lower = [log_precision - SITE_REACH, -unbounded]
        upper = [log_precision + SITE_REACH, unbounded]
        scale, anchor = np.ones(1), 0.0
        if moves:
            features = rows.summary(None if warp is None else warp.warp)
            least, most = features.least, features.greatest
            scale = _scale(features.deviation)
            anchor = 0.5 * len(scale) / BASIS_WIDTH**2
            lower.append(np.tile((2.0 * least - most) / scale, len(start)))
            upper.append(np.tile((2.0 * most - least) / scale, len(start)))
        theta = _reachable(start)
        ends = np.concatenate([theta[0], *lower]), np.concatenate([theta[1], *upper])
        prior = RelevancePrior.over(hyperparameters(start), width)
        return cls(start, moves, scale, *ends, prior, anchor, tolerance, tell, once, warp=warp)

    def warped(self, warp: WarpsInputs, rows: TrainingRows) -> Search:
        """The same search with inputs that are mapped first."""
        start = attrs.evolve(self.start, kernel=warp.around(self.start.kernel))
        width = self.prior.width
        around = Search.around(start, rows, self.moves, width, self.tolerance, self.tell, self.once)
        return attrs.evolve(
            around, penalty=self.penalty, elbo_share=self.elbo_share, tied=self.tied
        )

    def from_other(self, start: State) -> Search:
        """The same search around a start with another kernel or likelihood."""
        before = len(self.prior.members)
        theta = _reachable(start)
        return attrs.evolve(
            self,
            start=start,
            lower=np.concatenate([theta[0], self.lower[before:]]),
            upper=np.concatenate([theta[1], self.upper[before:]]),
            prior=RelevancePrior.over(hyperparameters(start), self.prior.width),
        )

    def run(
        self,
        begin: State,
        rows: TrainingRows,
        effort: Effort,
        rng: np.random.Generator,
        what: str,
        without: Numbers | None = None,
    ) -> State:
        """The state that a run from ``begin`` leads to; ``what`` says what is being done.

        Rows that batches must leave out, because they are to judge, are numbered by ``without``.
        """
        return self.once(rng, lambda: self._run(begin, rows, effort, rng, what, without))

    def _run(
        self,
        begin: State,
        rows: TrainingRows,
        effort: Effort,
        rng: np.random.Generator,
        what: str,
        without: Numbers | None,
    ) -> State:
        begin = inside(begin)
        loss = JointLoss(
            begin, rows, self.penalty, self.elbo_share, moves=self.moves, scale=self.scale
        )
        home = loss.pieces(loss.point(self.start))
        size = min(LARGEST_BATCH, max(BATCH, len(rows) // 10))
        left_out = np.empty(0, dtype=np.intp) if without is None else without

        def by_a_batch(point: Floats) -> tuple[float, Floats]:
            drawn = rows_inside(rows.subset(rows.draw(size, rng, left_out)), self.warp)
            return self._with_priors(loss.on(drawn), point, home, rows.total_weight)

        def told(steps: int) -> Callable[[int, float], bool]:
            return lambda step, value: self.tell(Refining(what, step, steps, value))

        point = loss.point(begin)
        box = self.lower, self.upper
        if steps := effort.settling:
            point = descend(by_a_batch, point, *self._resting(point), steps, RATE, told(steps))
        if steps := effort.batches:
            point = descend(by_a_batch, point, *box, steps, RATE, told(steps))
        if steps := effort.iterations:
            whole = attrs.evolve(loss, rows=rows_inside(rows, self.warp))

            def by_all_rows(point: Floats) -> tuple[float, Floats]:
                return self._with_priors(whole, point, home, rows.total_weight)

            gain = self.tolerance / rows.total_weight
            method: Literal["l-bfgs-b"] = "l-bfgs-b"
            minimum = minimise(by_all_rows, point, *box, method, steps, gain, PATIENCE, told(steps))
            point = minimum.point
        return outside(loss.state(self._projected(loss, point, home)), self.warp)

    def _resting(self, point: Floats) -> tuple[Floats, Floats]:
        """The box in which the hyperparameters stay where they are."""
        lower, upper = self.lower.copy(), self.upper.copy()
        count = len(self.prior.members)
        lower[:count] = upper[:count] = point[:count]
        return lower, upper

    def _with_priors(
        self, loss: JointLoss, point: Floats, home: Pieces, n: float
    ) -> tuple[float, Floats]:
        """The loss and the priors, which together count as much as one of ``n`` rows does."""
        point = self._projected(loss, point, home)
        value, gradient = loss(point)
        pieces = loss.pieces(point)
        prior, pull = self.prior(pieces.theta - home.theta)
        pull = gradient[: len(pull)] + pull / n
        gradient[: len(pull)] = self.prior.together(pull) if self.tied else pull
        if self.moves:
            moved = pieces.inputs - home.inputs
            prior += 0.5 * self.anchor * float(moved @ moved)
            gradient[-len(moved) :] += self.anchor * moved / n
        return value + prior / n, gradient

    def _projected(self, loss: JointLoss, point: Floats, home: Pieces) -> Floats:
        """The point, with lists of hyperparameters back in the ratios of the start if tied."""
        if not self.tied:
            return point
        theta, *others = loss.pieces(point)
        return np.concatenate([home.theta + self.prior.together(theta - home.theta), *others])


def _reachable(start: State) -> tuple[Floats, Floats]:
    """The least and the greatest free hyperparameters."""
    box = FreeVector.of(start)
    free = box.free(values(start))
    least = np.maximum(box.free(box.least), free - REACH)
    return least, np.minimum(box.free(box.most), free + REACH)


def _scale(deviation: Floats) -> Floats:
    """The unit in which basis vectors move: half the median distance of rows that differ in all
    features alike, which is what a quasi-Newton method likes best beside the other unknowns."""
    varying = np.where(deviation == 0.0, 1.0, deviation)
    scale: Floats = 0.5 * varying * np.sqrt(2.0 * len(deviation))
    return scale
