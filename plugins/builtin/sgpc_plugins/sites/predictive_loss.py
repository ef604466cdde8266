"""Sites by predictive loss: the paper's own estimator."""

from __future__ import annotations

from collections.abc import Generator
from typing import ClassVar, NamedTuple

import attrs
import numpy as np
from attrs.validators import ge

from sgpc_framework.authors import Candidates, Floats, Posterior, Rows, Steps, whole_number
from sgpc_plugins.sites.moment_matching import MomentMatching

Bend = tuple[float, float]
"""The second derivatives of the loss by a and τ, and by τ twice."""

LONGEST = 2.0
"""The longest step of Newton's method in a and in τ; see ``_Coordinates``."""

FARTHEST = 1e4
"""The range of |a|. Rows that one basis function separates would drive it to infinity."""

NEARBY = 1e-3
"""How far in τ the gradient is looked at, before there is a step to learn the curvature from."""

ODDS = (-35.0, 25.0)
"""The range of τ. Beyond it the share of the variance that a site takes is 0 or 1 to rounding."""


@attrs.frozen
class PredictiveLossSites:
    """The site that minimises NLP over all rows (eq. 5), by Newton's method from moment matching.

    The two unknowns are the coefficient and the precision p > 0: by Cauchy-Schwarz no other
    constraint binds. A step takes one pass over the rows, O(n), for all candidates together: the
    curvature in the coefficient is exact, the others are learnt from the step before (secants). A
    step that does not lower the loss is shortened, so the result is never above the start. The
    coefficients of several latent functions keep the ratios that moment matching gave them.
    ``max_steps`` bounds the Newton steps; ``tolerance`` is the relative gain at which they end.
    """

    name: ClassVar[str] = "predictive-loss"

    max_steps: int = whole_number(30)
    tolerance: float = attrs.field(default=1e-5, validator=ge(0.0))

    def estimate(self, posterior: Posterior, candidates: Candidates) -> Steps:
        starts = MomentMatching().estimate(posterior, candidates)
        coordinates = [_Coordinates(candidates, starts, i) for i in range(len(candidates))]
        searches = [self._search(each) for each in coordinates]
        return _steps(_in_step(posterior, candidates, coordinates, searches))

    def _search(self, at: _Coordinates) -> Search:
        """Newton's method for one candidate: yields the places to look at, returns the best."""
        best = start = yield at.start
        bend = fresh = yield from _bend_at(start)
        for _ in range(self.max_steps):
            trial = yield from _lower(best, bend)
            if trial is None and bend is not fresh:  # what the last step taught may mislead
                bend = fresh = yield from _bend_at(best)
                trial = yield from _lower(best, bend)
            if trial is None:
                break
            gain = best.value - trial.value
            bend, best = _bend_between(best, trial) or bend, trial
            if gain <= self.tolerance * abs(best.value):
                break
        return at.given if best is start else at.step(best.a, best.tau)


class _Point(NamedTuple):
    """Mean loss, its gradient and its curvature in a, at (a, τ)."""

    a: float
    tau: float
    value: float
    gradient: Floats
    curvature: float


Place = tuple[float, float]
"""(a, τ)"""

Step = tuple[Floats, float]
"""The coefficient of each latent function, and the shrinkage."""

Search = Generator[Place, _Point, Step]


class _Coordinates:
    """Coordinates without units for the site of one candidate.

    With c₀ the coefficient of moment matching and A the candidate's variance, (a, τ) stands for

        coefficient = a c₀        shrinkage = η = σ(τ) / A,  that is  p = exp(τ) / A

    and, k̃ being the candidate's column,

        dLoss/da = -c₀ Σ αᵢ k̃ᵢ    dLoss/dη = ½ Σ (αᵢ² - νᵢ) k̃ᵢ²    d²Loss/da² = c₀² Σ νᵢ k̃ᵢ²

    added up over the latent functions, if there are several. The last is then not exact, for labels
    depend on them together; it serves as well.
    """

    def __init__(self, candidates: Candidates, starts: Steps, position: int) -> None:
        coefficient = np.atleast_2d(starts.coefficient)[:, position]
        self.given = coefficient, float(starts.shrinkage[position])
        self._variance = float(candidates.at.variance[position])
        self._moved = bool(np.any(coefficient))
        self._unit = coefficient if self._moved else coefficient + 1.0 / np.sqrt(self._variance)

    @property
    def start(self) -> Place:
        """The place of moment matching."""
        share = self.given[1] * self._variance
        return float(self._moved), float(np.log(share) - np.log1p(-share))

    def step(self, a: float, tau: float) -> Step:
        """The site of a place."""
        return a * self._unit, 1.0 / (1.0 + np.exp(-tau)) / self._variance

    def point(self, a: float, tau: float, means: Floats) -> _Point:
        """A place with what a pass over the rows says of it (``_derivatives``)."""
        (value, d_eta), d_c, curvature = means[:2].tolist(), *np.split(means[2:], 2)
        share = 1.0 / (1.0 + np.exp(-tau))
        d_tau = d_eta * share * (1.0 - share) / self._variance
        gradient = np.array([d_c @ self._unit, d_tau])
        return _Point(a, tau, value, gradient, float(curvature @ self._unit**2))


def _in_step(
    posterior: Posterior,
    candidates: Candidates,
    coordinates: list[_Coordinates],
    searches: list[Search],
) -> list[Step]:
    """The ends of all searches, which take their steps together: one pass over the rows for all."""
    ends: dict[int, Step] = {}
    wanted = {i: _inside(*next(search)) for i, search in enumerate(searches)}
    while wanted:
        going = list(wanted)
        steps = _steps([coordinates[i].step(*wanted[i]) for i in going])
        some = candidates if len(going) == len(candidates) else candidates[np.array(going)]
        means = posterior.total(_derivatives, some, steps) / posterior.total_weight
        for i, sums in zip(going, means, strict=True):
            try:
                place = searches[i].send(coordinates[i].point(*wanted[i], sums))
                wanted[i] = _inside(*place)
            except StopIteration as end:
                ends[i] = end.value
                del wanted[i]
    return [ends[i] for i in range(len(searches))]


def _steps(each: list[Step]) -> Steps:
    coefficients, shrinkages = zip(*each, strict=True)
    by_function = np.stack(coefficients, axis=1)
    return Steps(by_function[0] if len(by_function) == 1 else by_function, shrinkages)


def _inside(a: float, tau: float) -> Place:
    return float(np.clip(a, -FARTHEST, FARTHEST)), float(np.clip(tau, *ODDS))


def _lower(here: _Point, bend: Bend) -> Generator[Place, _Point, _Point | None]:
    """A point with less loss along Newton's step, or along shorter ones; None if none has."""
    step = _newton_step(here, bend)
    for shorter in 4.0 ** -np.arange(6):
        trial = yield here.a + shorter * step[0], here.tau + shorter * step[1]
        if trial.value < here.value:
            return trial
    return None


def _bend_at(here: _Point) -> Generator[Place, _Point, Bend]:
    """The second derivatives that involve τ, from a point nearby: one more pass."""
    nearby = NEARBY if here.tau + NEARBY <= ODDS[1] else -NEARBY
    other = yield here.a, here.tau + nearby
    return _bend_between(here, other) or (0.0, 0.0)


def _bend_between(here: _Point, to: _Point) -> Bend | None:
    """The same from how the gradient changes between two points; the one in a is known there.

    None where τ has hardly changed.
    """
    d_a, d_tau = to.a - here.a, to.tau - here.tau
    if abs(d_tau) < NEARBY / 2:
        return None
    change = to.gradient - here.gradient
    mixed = (change[0] - 0.5 * (to.curvature + here.curvature) * d_a) / d_tau
    return float(mixed), float((change[1] - mixed * d_a) / d_tau)


def _newton_step(here: _Point, bend: Bend) -> Floats:
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
    """-log Z of every row, its derivative by the shrinkage, those by the coefficients of the latent
    functions, and the curvatures in these."""
    k, (log_z, alpha, nu) = rows.column, rows.moments
    functions = 1 if alpha.ndim == 1 else len(alpha)
    slopes = np.empty((2 + 2 * functions, len(k)))
    by_coefficient, curvature = slopes[2 : 2 + functions], slopes[2 + functions :]
    np.negative(log_z, out=slopes[0])
    np.multiply(alpha, k, out=by_coefficient)
    np.multiply(nu, k, out=curvature)
    curvature *= k
    squares = np.square(by_coefficient)
    squares -= curvature
    np.sum(squares, axis=0, out=slopes[1])
    slopes[1] *= 0.5
    np.negative(by_coefficient, out=by_coefficient)
    return slopes
