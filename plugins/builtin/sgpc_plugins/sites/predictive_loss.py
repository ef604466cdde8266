"""Sites by predictive loss: the paper's own estimator."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge
from numpy.typing import NDArray

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.parts.options import whole_number
from sgpc_framework.rows.candidates import Candidates
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.view import Rows
from sgpc_plugins.sites.moment_matching import MomentMatching

Floats = NDArray[np.float64]
Bend = tuple[float, float]
"""The second derivatives of the loss by a and τ, and by τ twice."""

LONGEST = 2.0
"""The longest step of Newton's method in a and in τ; see ``_Loss``."""

FARTHEST = 1e4
"""The range of |a|. Rows that one basis function separates would drive it to infinity."""

NEARBY = 1e-4
"""How far in τ the gradient is looked at, before there is a step to learn the curvature from."""

ODDS = (-35.0, 25.0)
"""The range of τ. Beyond it the share of the variance that a site takes is 0 or 1 to rounding."""


@attrs.frozen
class PredictiveLossSites:
    """The site that minimises NLP over all rows (eq. 5), by Newton's method from moment matching.

    The two unknowns are the coefficient and the precision p > 0: by Cauchy-Schwarz no other
    constraint binds. Every pass over the rows is O(n), and a step takes one: the curvature in the
    coefficient is exact, the others are learnt from the step before (secants). A step that does
    not lower the loss is shortened, so the result is never above the start. ``max_steps`` bounds
    the Newton steps; ``tolerance`` is the relative gain at which they end.
    """

    name: ClassVar[str] = "predictive-loss"

    max_steps: int = whole_number(30)
    tolerance: float = attrs.field(default=1e-5, validator=ge(0.0))

    def estimate(self, posterior: Posterior, candidates: Candidates) -> Steps:
        starts = MomentMatching().estimate(posterior, candidates)
        found = [
            self._minimised(_Loss(posterior, candidates[i], starts[i]))
            for i in range(len(candidates))
        ]
        return Steps([step.coefficient[0] for step in found], [step.shrinkage[0] for step in found])

    def _minimised(self, loss: _Loss) -> Steps:
        best = start = loss.start()
        bend = fresh = loss.bend_at(start)
        for _ in range(self.max_steps):
            trial = loss.lower(best, bend)
            if trial is None and bend is not fresh:  # what the last step taught may mislead
                bend = fresh = loss.bend_at(best)
                trial = loss.lower(best, bend)
            if trial is None:
                break
            gain = best.value - trial.value
            bend, best = loss.bend_between(best, trial) or bend, trial
            if gain <= self.tolerance * abs(best.value):
                break
        return loss.given if best is start else loss.step(best)


@attrs.frozen(eq=False)
class _Point:
    """Mean loss, its gradient and its curvature in a, at (a, τ)."""

    a: float
    tau: float
    value: float
    gradient: Floats
    curvature: float


class _Loss:
    """NLP over all rows as a function of one candidate's site, in coordinates without units.

    With c₀ the coefficient of moment matching and A the candidate's variance, (a, τ) stands for

        coefficient = a c₀        shrinkage = η = σ(τ) / A,  that is  p = exp(τ) / A

    and, k̃ being the candidate's column,

        dLoss/da = -c₀ Σ αᵢ k̃ᵢ    dLoss/dη = ½ Σ (αᵢ² - νᵢ) k̃ᵢ²    d²Loss/da² = c₀² Σ νᵢ k̃ᵢ²
    """

    def __init__(self, posterior: Posterior, candidate: Candidates, given: Steps) -> None:
        self.given = given
        self._posterior = posterior
        self._candidate = candidate
        self._variance = float(candidate.at.variance[0])
        self._unit = float(given.coefficient[0]) or 1.0 / np.sqrt(self._variance)

    def start(self) -> _Point:
        """The point of moment matching."""
        share = float(self.given.shrinkage[0]) * self._variance
        tau = float(np.log(share) - np.log1p(-share))
        return self.at(float(self.given.coefficient[0]) / self._unit, tau)

    def step(self, point: _Point) -> Steps:
        """The site of a point."""
        return Steps(point.a * self._unit, 1.0 / (1.0 + np.exp(-point.tau)) / self._variance)

    def at(self, a: float, tau: float) -> _Point:
        """Evaluate: one pass over the rows."""
        a, tau = float(np.clip(a, -FARTHEST, FARTHEST)), float(np.clip(tau, *ODDS))
        share = 1.0 / (1.0 + np.exp(-tau))
        step = Steps(a * self._unit, share / self._variance)
        sums = self._posterior.total(_derivatives, self._candidate, step)[0]
        value, d_c, d_eta, curvature = sums / len(self._posterior)
        d_tau = d_eta * share * (1.0 - share) / self._variance
        gradient = np.array([d_c * self._unit, d_tau])
        return _Point(a, tau, float(value), gradient, float(curvature * self._unit**2))

    def lower(self, here: _Point, bend: Bend) -> _Point | None:
        """A point with less loss along Newton's step, or along shorter ones; None if none has."""
        step = self._newton_step(here, bend)
        for shorter in 4.0 ** -np.arange(6):
            trial = self.at(here.a + shorter * step[0], here.tau + shorter * step[1])
            if trial.value < here.value:
                return trial
        return None

    def bend_at(self, here: _Point) -> Bend:
        """The second derivatives that involve τ, from a point nearby: one more pass."""
        nearby = NEARBY if here.tau + NEARBY <= ODDS[1] else -NEARBY
        return self.bend_between(here, self.at(here.a, here.tau + nearby)) or (0.0, 0.0)

    def bend_between(self, here: _Point, to: _Point) -> Bend | None:
        """The same from how the gradient changes between two points; the one in a is known there.

        None where τ has hardly changed.
        """
        d_a, d_tau = to.a - here.a, to.tau - here.tau
        if abs(d_tau) < NEARBY / 2:
            return None
        change = to.gradient - here.gradient
        mixed = (change[0] - 0.5 * (to.curvature + here.curvature) * d_a) / d_tau
        return float(mixed), float((change[1] - mixed * d_a) / d_tau)

    def _newton_step(self, here: _Point, bend: Bend) -> Floats:
        """A descent direction: Newton's, with every curvature taken as positive.

        Along each principal axis the step is bounded for itself: an axis along which the loss is
        flat does not hold up the other. The unit of a is its size.
        """
        units = np.array([max(1.0, abs(here.a)), 1.0])
        H = np.array([[here.curvature, bend[0]], bend]) * np.outer(units, units)
        values, vectors = np.linalg.eigh(H)
        curvatures = np.maximum(np.abs(values), 1e-8 * np.abs(values).max() + 1e-300)
        along = (vectors.T @ (units * here.gradient)) / curvatures
        return np.asarray(-units * (vectors @ np.clip(along, -LONGEST, LONGEST)))


def _derivatives(rows: Rows) -> Floats:
    """-log Z of every row, its derivatives by coefficient and shrinkage, and its curvature."""
    k, (log_z, alpha, nu) = rows.column, rows.moments
    found = np.empty((4, len(k)))
    np.negative(log_z, out=found[0])
    np.multiply(alpha, k, out=found[1])
    np.square(found[1], out=found[2])
    np.multiply(nu, k, out=found[3])
    found[3] *= k
    found[2] -= found[3]
    found[2] *= 0.5
    np.negative(found[1], out=found[1])
    return found
