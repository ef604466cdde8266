"""Expectation propagation over the active set: sites that agree with each other."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from typing import ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.authors import (
    Floats,
    Likelihood,
    NumericalError,
    Refined,
    Refining,
    Rows,
    State,
    Tell,
    TrainingRows,
    positive_number,
    predictive_loss,
    share,
    whole_number,
)
from sgpc_plugins.refiners.expectation_propagation.active_posterior import ActivePosterior

IMPROPER = "without a proper cavity"
WIDENING = "whose exact posterior is wider than the cavity"


@attrs.frozen
class ExpectationPropagation:
    """Every site matched again and again to its own label, given all the others.

    The stages match each site once, given those before it. A sweep goes through the basis vectors
    in order: with the cavity N(mean, variance) of row j, which is its posterior without site j, and
    α, ν of the likelihood there, the site that gives row j the moments of the exact posterior is

        p = ν / (1 - ν variance)        p m = p mean + α / (1 - ν variance)

    (of several latent functions, each with its own α, ν is the mean: they share p), and (p, p m)
    becomes ``damping`` parts of what it was and 1 - ``damping`` parts of this. A site
    is left alone in a sweep where its cavity is not proper, or where ν <= 0, which no positive
    precision matches. After every sweep, O(d³), the posterior is computed afresh.

    The loss is how far the sites are from a fixed point. With q̂ the exact posterior of row j,
    cavity times likelihood, and q its marginal, it is the root of the mean over the basis of

        (mean of q̂ - mean of q)² / variance of q + log² (variance of q̂ / variance of q)

    The best of the start and all sweeps is returned, so the loss never increases. It ends below
    ``tolerance`` (rows left alone do not count for that), or after ``sweeps`` sweeps. The loss
    looks at the basis vectors alone, so NLP over all rows (eq. 5) may increase; the trace's notes
    say what became of it. Kernel and likelihood stay.
    """

    name: ClassVar[str] = "ep"

    sweeps: int = whole_number(20)
    damping: float = share(0.0)
    tolerance: float = positive_number(1e-6)

    def loss(self, state: State, rows: TrainingRows) -> float:
        """How far exact and approximate posterior of the basis vectors are apart; 0 for none."""
        active = _Active.of(state, rows)
        return _root_mean_square(active.disagreement(active.posterior(state)))

    def refine(
        self, state: State, rows: TrainingRows, rng: np.random.Generator, tell: Tell
    ) -> Refined:
        try:
            return self._refined(state, rows, tell)
        except NumericalError as error:
            return Refined(state, (f"failed, and the sites stay: {error}",))

    def _refined(self, state: State, rows: TrainingRows, tell: Tell) -> Refined:
        active = _Active.of(state, rows)
        given = active.posterior(state)
        best = last = start = _Sweep(0, given, active.disagreement(given), {})
        while not self._converged(last) and last.number < self.sweeps:
            last = active.swept(last, self.damping)
            best = min(best, last, key=lambda sweep: sweep.loss)
            if not tell(Refining("sweeping", last.number, self.sweeps, last.loss)):
                break
        refined = state if best is start else _with_sites(state, best.posterior)
        ending = "converged" if self._converged(last) else "not converged"
        summary = (
            f"{ending} after {last.number} sweeps; sweep {best.number} is kept: "
            f"loss from {start.loss:.3g} to {best.loss:.3g}, NLP over all rows "
            f"from {predictive_loss(state, rows):.4g} to {predictive_loss(refined, rows):.4g}"
        )
        return Refined(refined, (summary, *last.left_alone()))

    def _converged(self, sweep: _Sweep) -> bool:
        return sweep.remaining <= self.tolerance


@attrs.frozen(eq=False)
class _Sweep:
    """The posterior after a sweep, and how far each row is from a fixed point.

    ``skipped`` has the rows whose sites the sweep left alone, with the reason.
    """

    number: int
    posterior: ActivePosterior
    disagreement: Floats
    skipped: dict[int, str]

    @property
    def loss(self) -> float:
        """The root mean square over all rows."""
        return _root_mean_square(self.disagreement)

    @property
    def remaining(self) -> float:
        """The same without the rows that were left alone; infinite if all were."""
        if 0 < len(self.posterior) == len(self.skipped):
            return np.inf
        return _root_mean_square(np.delete(self.disagreement, list(self.skipped)))

    def left_alone(self) -> list[str]:
        """One line for each reason why sites were skipped."""
        reasons = Counter(self.skipped.values()).items()
        return [f"sites left alone in the last sweep, {why}: {count}" for why, count in reasons]


@attrs.frozen(eq=False)
class _Active:
    """The basis vectors and their own labels, all that expectation propagation looks at here."""

    K: Floats
    y: Floats
    likelihood: Likelihood

    @classmethod
    def of(cls, state: State, rows: TrainingRows) -> _Active:
        """Those of a state."""
        return cls(state.gram(), rows.labels(state.basis), state.likelihood)

    def posterior(self, state: State) -> ActivePosterior:
        """The posterior under the sites of a state."""
        return ActivePosterior(self.K, state.precision, state.precision * state.mean)

    def swept(self, last: _Sweep, damping: float) -> _Sweep:
        """One sweep over all rows in order, and the posterior computed afresh after it."""
        moving = deepcopy(last.posterior)
        skipped = {}
        for j in range(len(moving)):
            new = self._matched(moving, j)
            if isinstance(new, str):
                skipped[j] = new
            else:
                precision, shift = new
                precision += damping * (moving.precision[j] - precision)
                shift = shift + damping * (moving.shift[..., j] - shift)
                moving.exchange(j, precision, shift)
        fresh = ActivePosterior(self.K, moving.precision, moving.shift)
        return _Sweep(last.number + 1, fresh, self.disagreement(fresh), skipped)

    def disagreement(self, posterior: ActivePosterior) -> Floats:
        """How far exact and approximate marginal are apart, row by row; 0 without a cavity."""
        proper = np.flatnonzero(posterior.is_proper())
        cavity = self._cavity(posterior, proper)
        apart = cavity.mean + cavity.alpha * cavity.variance - posterior.mean[..., proper]
        if apart.ndim > 1:
            apart = np.sqrt(np.mean(apart**2, axis=0))  # over the latent functions
        ratio = _kept(cavity) / posterior.left[proper]
        disagreement = np.zeros(len(posterior))
        spread = np.sqrt(posterior.variance[proper])
        disagreement[proper] = np.hypot(apart / spread, np.log(ratio))
        return disagreement

    def _matched(self, posterior: ActivePosterior, j: int) -> tuple[float, Floats] | str:
        """The natural parameters of the matching site of row j, or why there is none."""
        if not posterior.is_proper()[j]:
            return IMPROPER
        cavity = self._cavity(posterior, np.array([j]))
        if cavity.shrinkage[0] <= 0.0:
            return WIDENING
        precision = cavity.shrinkage / _kept(cavity)
        shift = precision * cavity.mean + cavity.alpha / _kept(cavity)
        return float(precision[0]), shift[..., 0]

    def _cavity(self, posterior: ActivePosterior, rows: NDArray[np.intp]) -> Rows:
        """Rows as they would be without their own sites, ready for the likelihood."""
        outside = np.zeros(len(rows), dtype=np.bool_)
        return Rows(self.y[rows], *posterior.cavity(rows), outside, self.likelihood)


def _kept(cavity: Rows) -> Floats:
    """1 - ν variance, the share of its variance that the exact posterior keeps of the cavity."""
    return np.maximum(1.0 - cavity.shrinkage * cavity.variance, np.finfo(np.float64).eps)


def _with_sites(state: State, posterior: ActivePosterior) -> State:
    precision, mean = posterior.precision, posterior.shift / posterior.precision
    return attrs.evolve(state, precision=precision, mean=mean)


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0
