"""Sites by predictive loss: the paper's own estimator."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
from attrs.validators import ge
from numpy.typing import NDArray

from sgpc_framework.candidates import Candidates
from sgpc_framework.fields import whole_number
from sgpc_framework.posterior import Posterior
from sgpc_framework.rows import Rows
from sgpc_framework.sites import Steps
from sgpc_plugins.sites.moment_matching import MomentMatching

Floats = NDArray[np.float64]

LONGEST = 2.0
"""The longest step of Newton's method in a and in τ; see ``_Loss``."""

FARTHEST = 1e4
"""The range of |a|. Rows that one basis function separates would drive it to infinity."""

ODDS = (-35.0, 25.0)
"""The range of τ. Beyond it the share of the variance that a site takes is 0 or 1 to rounding."""


@attrs.frozen
class PredictiveLossSites:
    """The site that minimises NLP over all rows (eq. 5), by Newton's method from moment matching.

    The two unknowns are the coefficient and the precision p > 0: by Cauchy-Schwarz no other
    constraint binds. Every pass over the rows is O(n). A step that does not lower the loss is
    shortened, so the result is never above the start. ``max_steps`` bounds the Newton steps;
    ``tolerance`` is the relative gain at which they end.
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
        for _ in range(self.max_steps):
            step = loss.newton_step(best)
            for shorter in 4.0 ** -np.arange(6):
                trial = loss.at(best.a + shorter * step[0], best.tau + shorter * step[1])
                if trial.value < best.value:
                    break
            else:
                break
            gain, best = best.value - trial.value, trial
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

    def newton_step(self, here: _Point) -> Floats:
        """A descent direction: Newton's, with every curvature taken as positive."""
        h = 1e-4  # the derivatives along τ are differences of exact gradients
        along_tau = (self.at(here.a, here.tau + h).gradient - here.gradient) / h
        H = np.array([[here.curvature, along_tau[0]], [along_tau[0], along_tau[1]]])
        values, vectors = np.linalg.eigh(H)
        curvatures = np.maximum(np.abs(values), 1e-8 * np.abs(values).max() + 1e-300)
        step = -vectors @ ((vectors.T @ here.gradient) / curvatures)
        longest = np.array([LONGEST * max(1.0, abs(here.a)), LONGEST])
        return np.asarray(step / max(1.0, float(np.max(np.abs(step) / longest))))


def _derivatives(rows: Rows) -> Floats:
    """-log Z of every row, its derivatives by coefficient and shrinkage, and its curvature."""
    k = rows.column
    squared = k**2
    return np.stack(
        [
            -rows.log_z,
            -rows.alpha * k,
            0.5 * (rows.alpha**2 - rows.nu) * squared,
            rows.nu * squared,
        ]
    )
