"""A zoo of broken parts: each is caught by the checks that are about its fault, and by no other."""

from __future__ import annotations

import random
import sys
from types import ModuleType
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from scipy.special import ndtr

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.errors import PluginError
from sgpc_framework.parts.expressions import Exp, SquaredDistance
from sgpc_framework.parts.hyperparameters import hyperparameter
from sgpc_framework.plugin import hookimpl
from sgpc_framework.plugin.loading import Announcement, load
from sgpc_framework.plugin.records import Origin
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.protocols import Loss, Moments, Refined, Refining, RowLoss
from sgpc_framework.testing import ConformanceError, checks_for, run_checks
from sgpc_plugins.likelihoods import Probit
from sgpc_plugins.sites import MomentMatching

ZOO: list[tuple[Any, set[str], str]] = []


def caught(*checks: str, saying: str):
    """Put a class into the zoo: which checks it fails, and what one of them says."""

    def admit(cls: type) -> type:
        ZOO.append((cls, set(checks), saying))
        return cls

    return admit


# ---------------------------------------------------------------------------------------------
# Kernels


@attrs.frozen
class Plain:
    """A sound kernel: variance · exp(-r² / 2 lengthscale²)."""

    name: ClassVar[str] = "zoo-kernel"
    variance: float = hyperparameter(1.5, bounds=(1e-3, 1e3))
    lengthscale: float = hyperparameter(1.2, bounds=(1e-3, 1e3))

    def __call__(self, X, Z):
        return self.variance * np.exp(-_r2(X, Z) / (2.0 * self.lengthscale**2))

    def diag(self, X):
        return np.full(len(X), self.variance)


@attrs.frozen
class Exact(Plain):
    """The same with exact gradients."""

    def linearised(self, X, Z):
        K = Plain.__call__(self, X, Z)
        by_length = K * _r2(X, Z) / self.lengthscale**3
        return K, lambda G: np.array([np.sum(G * K) / self.variance, np.sum(G * by_length)])

    def linearised_diag(self, X):
        return self.diag(X), lambda G: np.array([np.sum(G), 0.0])

    def input_pullback(self, X, Z, cotangent):
        W = cotangent * self(X, Z) / self.lengthscale**2
        return W @ Z - W.sum(axis=1)[:, None] * X


def _r2(X, Z):
    return np.sum((X[:, None, :] - Z[None, :, :]) ** 2, axis=2)


@caught("symmetric", saying="k(Z, X)ᵀ")
class Asymmetric(Plain):
    def __call__(self, X, Z):
        return Plain.__call__(self, X, Z) + 0.01 * (X[:, :1] - Z[:, :1].T)


@caught("positive semidefinite", saying="an eigenvalue -")
class Indefinite(Plain):
    def __call__(self, X, Z):
        return self.variance * np.cos(np.sqrt(_r2(X, Z)) / self.lengthscale)


@caught("diagonal agrees", saying="diag(X)")
class WrongDiagonal(Plain):
    def diag(self, X):
        return np.full(len(X), 2.0 * self.variance)


@caught("deterministic", "same values whatever the block", saying="asked last and first")
@attrs.frozen
class RemembersByShape(Plain):
    _kept: dict[Any, Any] = attrs.field(factory=dict, init=False, eq=False)

    def __call__(self, X, Z):
        asked = X.shape, Z.shape
        if asked not in self._kept:
            self._kept[asked] = Plain.__call__(self, X, Z)
        return self._kept[asked]


@caught("leaves its inputs alone", saying="X was changed")
class RoundsItsInputs(Plain):
    def __call__(self, X, Z):
        return Plain.__call__(self, np.round(X, 9, out=X), Z)


@caught("same values whatever the block", saying="alone")
class DependsOnTheBlock(Plain):
    def __call__(self, X, Z):
        return Plain.__call__(self, X, Z) * (1.0 if min(len(X), len(Z)) > 1 else 1.01)


@caught("same values for a copy", "diagonal agrees", saying="k(X, copy of X) = ")
class AddsNoiseToItself(Plain):
    def __call__(self, X, Z):
        return Plain.__call__(self, X, Z) + (0.1 * np.eye(len(X)) if X is Z else 0.0)


@caught("finite float64 of the right shape", "works on one row and on none", saying="k(X, Z) = nan")
class NanWhereInputsCoincide(Plain):
    def __call__(self, X, Z):
        r2 = _r2(X, Z)
        return Plain.__call__(self, X, Z) * r2 / r2


@caught("finite float64 of the right shape", "works on one row and on none", saying="float32")
class HalfPrecision(Plain):
    def __call__(self, X, Z):
        return Plain.__call__(self, X, Z).astype(np.float32)


@caught("works on one row and on none", saying="zero-size array")
class NeedsRows(Plain):
    def __call__(self, X, Z):
        assert np.isfinite(X.max() + Z.max())
        return Plain.__call__(self, X, Z)


@caught("pullback agrees with differences", saying="gradient by free coordinates")
class WrongSign(Exact):
    def linearised(self, X, Z):
        K, pullback = Exact.linearised(self, X, Z)
        return K, lambda G: -pullback(G)


@caught(
    "diagonal pullback agrees with differences",
    "works on one row and on none",
    saying="shape (1,)",
)
class ForgetsAHyperparameter(Exact):
    def linearised_diag(self, X):
        return self.diag(X), lambda G: np.array([np.sum(G)])


@caught("input pullback agrees with differences", saying="derivative by feature 0")
class WrongInputGradient(Exact):
    def input_pullback(self, X, Z, cotangent):
        return 1.001 * Exact.input_pullback(self, X, Z, cotangent)


@caught("fused pullback agrees with the single ones", saying="fused inputs")
class WrongFusedGradient(Exact):
    def linearised_in_inputs(self, X, Z):
        K, pullback = Exact.linearised(self, X, Z)
        return K, lambda G: (pullback(G), 1.001 * Exact.input_pullback(self, X, Z, G))


@caught("whole abilities", saying="linearised without linearised_diag (KernelPullback)")
class HalfAnAbility(Plain):
    def linearised(self, X, Z):
        return Exact.linearised(self, X, Z)


@caught("whole abilities", saying="is 'input_pullback' meant?")
class MisspeltAbility(Plain):
    def inputs_pullback(self, X, Z, cotangent):
        return Exact.input_pullback(self, X, Z, cotangent)


@caught("starts from data", saying="scale = 'median'")
@attrs.frozen
class LeavesTheWord(Plain):
    scale: float | str = hyperparameter("median", bounds=(1e-3, 1e3), starts=("median",))

    def started(self, X):
        return attrs.evolve(self, scale=1.0) if len(X) > 1 else self


@caught("starting leaves the inputs alone", saying="X was changed")
@attrs.frozen
class StandardisesTheUsersInputs(Plain):
    def started(self, X):
        X.flags.writeable = True
        X -= 1e-3 * (X > 2.0)
        return self


@caught("works on one row and on none", saying="SystemExit: nothing to do")
class LeavesForNoRows(Plain):
    def diag(self, X):
        if not len(X):
            sys.exit("nothing to do")
        return Plain.diag(self, X)


@caught("leaves its inputs alone", saying="an input was made writable")
class OpensWhatWasLocked(Plain):
    def diag(self, X):
        X.flags.writeable = True
        return Plain.diag(self, X)


BUFFER = np.empty(4096)


def _in_the_buffer(array):
    """The same numbers, where those of the call before were."""
    view = BUFFER[: array.size].reshape(array.shape)
    view[...] = array
    return view


@caught("a second call leaves the first result alone", saying="k(X, Z) after other calls")
class ReusesItsMatrix(Plain):
    def __call__(self, X, Z):
        return _in_the_buffer(Plain.__call__(self, X, Z))


@caught("a second call leaves the first result alone", saying="diag(X) after other calls")
class ReusesItsDiagonal(Plain):
    def diag(self, X):
        return _in_the_buffer(Plain.diag(self, X) + 1e-12 * X[:, 0])


@caught("expression agrees", saying="expression() = ")
class AnotherFormula(Plain):
    def expression(self):
        return self.variance * Exp(-1.0 * SquaredDistance(self.lengthscale**-2.0))


@caught("a second call leaves the first result alone", saying="columns_of(X)(Z) after other calls")
class ReusesItsColumns(Plain):
    def columns_of(self, X):
        return lambda Z: _in_the_buffer(Plain.__call__(self, Z, X))


@caught("a second call leaves the first result alone", saying="the pullback of linearised after")
class ReusesItsGradient(Exact):
    def linearised(self, X, Z):
        K, pullback = Exact.linearised(self, X, Z)
        return K, lambda G: _in_the_buffer(pullback(G))


@caught("finite float64 of the right shape", "works on one row and on none", saying="MaskedArray")
class HidesNumbers(Plain):
    def __call__(self, X, Z):
        return np.ma.masked_less(Plain.__call__(self, X, Z), 1e-6)


# ---------------------------------------------------------------------------------------------
# Likelihoods


@attrs.frozen
class SoundLikelihood:
    """The unit probit, without abilities."""

    name: ClassVar[str] = "zoo-likelihood"

    def moments(self, y, mean, variance):
        return Probit().moments(y, mean, variance)


@caught("normalised", saying="the sum of all = 0.9")
class NotNormalised(SoundLikelihood):
    def moments(self, y, mean, variance):
        log_z, alpha, nu = Probit().moments(y, mean, variance)
        return Moments(log_z + np.log(0.9), alpha, nu)


@caught("alpha is the derivative of log z", saying="alpha = ")
class WrongWithoutVariance(SoundLikelihood):
    def moments(self, y, mean, variance, /):
        log_z, alpha, nu = Probit().moments(y, mean, variance)
        return Moments(log_z, np.where(variance == 0.0, 0.0, alpha), nu)


@caught("alpha is the derivative of log z", saying="alpha = ")
class WrongAlpha(SoundLikelihood):
    def moments(self, y, mean, variance):
        log_z, alpha, nu = Probit().moments(y, mean, variance)
        return Moments(log_z, 0.999 * alpha, nu)


@caught("nu is minus the second derivative of log z", saying="nu = ")
class WrongNu(SoundLikelihood):
    def moments(self, y, mean, variance):
        log_z, alpha, nu = Probit().moments(y, mean, variance)
        return Moments(log_z, alpha, 0.999 * nu)


@caught("tails are finite without warnings", saying="RuntimeWarning: overflow")
class WarnsInTheTail(SoundLikelihood):
    def moments(self, y, mean, variance):
        np.exp(np.abs(mean))
        return Probit().moments(y, mean, variance)


@caught("tails are finite without warnings", saying="RuntimeWarning: divide by zero")
class InfiniteInTheTail(SoundLikelihood):
    def moments(self, y, mean, variance):
        _, alpha, nu = Probit().moments(y, mean, variance)
        return Moments(np.log(ndtr(y * mean / np.sqrt(1.0 + variance))), alpha, nu)


@caught("heat equation", "leaves some variance", saying="d log_z / d variance")
class NoIntegral(SoundLikelihood):
    def moments(self, y, mean, variance):
        return Probit().moments(y, mean, np.zeros_like(variance))


@caught("same values whatever the block", saying="row 0 alone")
class DependsOnNeighbours(SoundLikelihood):
    def moments(self, y, mean, variance):
        log_z, alpha, nu = Probit().moments(y, mean, variance)
        return Moments(log_z - 1e-3 * (len(y) == 1), alpha, nu)


@caught("leaves its inputs alone", saying="variance was changed")
class WritesIntoTheVariance(SoundLikelihood):
    def moments(self, y, mean, variance):
        moments = Probit().moments(y, mean, variance)
        variance *= 1.0 + 1e-15 * (variance > 0.5)
        return moments


@caught("log z alone agrees with the moments", saying="log_z = ")
class TwoOpinions(SoundLikelihood):
    def log_z(self, y, mean, variance):
        return Probit(bias=1e-3).log_z(y, mean, variance)


@caught("pullback agrees with differences", saying="gradient by free coordinates")
class WrongLikelihoodGradient(Probit):
    def pullback(self, y, mean, variance, moments, cotangent):
        return -Probit.pullback(self, y, mean, variance, moments, cotangent)


@caught("a second call leaves the first result alone", saying="alpha after other calls")
class ReusesItsMoments(SoundLikelihood):
    def moments(self, y, mean, variance):
        log_z, alpha, nu = Probit().moments(y, mean, variance)
        return Moments(log_z, _in_the_buffer(alpha), nu)


@caught("a second call leaves the first result alone", saying="log_z alone after other calls")
class ReusesItsEvidence(SoundLikelihood):
    def log_z(self, y, mean, variance):
        return _in_the_buffer(Probit().log_z(y, mean, variance))


@caught("finite of the right shape", saying="log_z of type MaskedArray")
class MasksTheTail(SoundLikelihood):
    def moments(self, y, mean, variance):
        log_z, alpha, nu = Probit().moments(y, mean, variance)
        return Moments(np.ma.masked_less(log_z, -5.0), alpha, nu)


# ---------------------------------------------------------------------------------------------
# Selectors

ASKING = {
    "proposes row numbers",
    "proposes inactive rows only",
    "proposes distinct rows",
    "survives duplicates ties and a single inactive row",
    "deterministic given the generator",
    "uses only the generator given",
    "row functions are row local",
    "row functions change nothing",
    "keeps no state between fits",
    "leaves the posterior alone",
}
CORNERS = "survives duplicates ties and a single inactive row"


@attrs.frozen
class SoundSelector:
    """The row whose label is least probable."""

    name: ClassVar[str] = "zoo-selector"

    def propose(self, posterior, rng):
        return posterior.argmin(lambda rows: rows.log_z)

    def inactive(self, posterior):
        return np.flatnonzero(posterior.eligible())


@attrs.frozen
class SoundScoringSelector(SoundSelector):
    """Two rows, of which the one with the lower number is better."""

    def propose(self, posterior, rng):
        return posterior.sample(lambda rows: rows.variance, 2, rng)

    def score(self, posterior, candidates, steps):
        return candidates.index.astype(float)


@attrs.frozen
class SoundSelectorWithMemory(SoundSelector):
    """Goes through rows in an order that is drawn once."""

    def begun(self, posterior, rng):
        return rng.permutation(len(posterior))

    def propose(self, posterior, rng, order):
        usable = posterior.eligible()[order]
        return order[usable][:2]

    def score(self, posterior, candidates, steps, order):
        return order[candidates.index].astype(float)


@caught("proposes inactive rows only", CORNERS, saying="row [3], which is active")
class ProposesAnActiveRow(SoundSelector):
    def propose(self, posterior, rng):
        return posterior.basis[0] if posterior.basis else 0


@caught("proposes distinct rows", CORNERS, saying="a row is repeated")
class RepeatsARow(SoundSelector):
    def propose(self, posterior, rng):
        return np.repeat(SoundSelector.propose(self, posterior, rng), 2)


@caught("proposes row numbers", CORNERS, saying="float64")
class FloatIndices(SoundSelector):
    def propose(self, posterior, rng):
        return np.array([SoundSelector.propose(self, posterior, rng)], dtype=float)


@caught("proposes row numbers", CORNERS, saying="row [24]")
class OutOfRange(SoundSelector):
    def propose(self, posterior, rng):
        return len(posterior)


@caught("proposes row numbers", CORNERS, saying="no row at all")
class NothingToPropose(SoundSelector):
    def propose(self, posterior, rng):
        return np.empty(0, dtype=int)


@caught("uses only the generator given", saying="draws from numpy.random")
class UsesNumpyRandom(SoundSelector):
    def propose(self, posterior, rng):
        return np.random.choice(self.inactive(posterior))  # noqa: NPY002


@caught("uses only the generator given", saying="draws from Python's random")
class UsesRandom(SoundSelector):
    def propose(self, posterior, rng):
        return random.choice(self.inactive(posterior).tolist())


@caught(*ASKING, saying="it writes into an array that it was only given to read")
class TriesToWrite(SoundSelector):
    def propose(self, posterior, rng):
        posterior.marginals()[0].fill(0.0)
        return SoundSelector.propose(self, posterior, rng)


@caught(
    "leaves the posterior alone",
    "row functions are row local",
    "row functions change nothing",
    saying="y was changed",
)
class FlipsLabels(SoundSelector):
    def propose(self, posterior, rng):
        chosen = SoundSelector.propose(self, posterior, rng)
        posterior.total(lambda rows: _flipped(rows.y, rows.index == chosen))
        return chosen


@caught("leaves the posterior alone", saying="variance was changed")
class BreaksIn(SoundSelector):
    def propose(self, posterior, rng):
        posterior.total(lambda rows: _shrunk(rows.variance))
        return SoundSelector.propose(self, posterior, rng)


def _flipped(labels, which):
    owner = labels.base
    owner[which] *= -1.0
    return labels


def _shrunk(variance):
    owner = variance.base
    owner *= 1.0 - 1e-9
    return variance


COUNTED = []


def _blocks(posterior):
    """How many blocks the rows are in: something that nobody should look at."""
    COUNTED.clear()
    posterior.total(lambda rows: COUNTED.append(1) or rows.mean)
    return len(COUNTED)


@caught("scores are finite one for each candidate", saying="score = nan")
class NanScores(SoundScoringSelector):
    def score(self, posterior, candidates, steps):
        return np.full(len(candidates), np.nan)


@caught(
    "scores are finite one for each candidate",
    "scores are unchanged by block size",
    saying="scores of shape (1,) for 2 candidates",
)
class OneScoreForAll(SoundScoringSelector):
    def score(self, posterior, candidates, steps):
        return np.ones(_blocks(posterior))


@caught(*ASKING, saying="the score of row 0 is NaN")
class NanRowScores(SoundSelector):
    def propose(self, posterior, rng):
        return posterior.argmin(lambda rows: rows.mean * np.nan)


@caught("keeps no state between fits", saying="at stage 1")
@attrs.frozen
class RemembersFits(SoundSelector):
    _asked: list[int] = attrs.field(factory=list, init=False, eq=False)

    def propose(self, posterior, rng):
        self._asked.append(len(posterior))
        inactive = self.inactive(posterior)
        return inactive[len(self._asked) % len(inactive)]


SCORED = []


@caught(
    "keeps no state between fits",
    "scores are unchanged by block size",
    "a score goes with its candidate",
    saying="scores of two fits at stage 1",
)
class RemembersScores(SoundScoringSelector):
    def score(self, posterior, candidates, steps):
        SCORED.append(len(candidates))
        return candidates.index * (1.0 + len(SCORED))


@caught("row functions are row local", saying="a row's number = ")
class LooksAtItsNeighbours(SoundSelector):
    def propose(self, posterior, rng):
        return posterior.argmin(lambda rows: rows.log_z - rows.log_z.mean())


@caught("row functions are row local", saying="a sum over rows = ")
class SumsOfTheBlock(SoundSelector):
    def propose(self, posterior, rng):
        posterior.total(lambda rows: np.full(len(rows), len(rows)))
        return SoundSelector.propose(self, posterior, rng)


@caught("keeps no state between fits", saying="at stage 1")
@attrs.frozen
class RemembersInTheWrongPlace(SoundSelector):
    """Its memory is made anew for each fit, but it is not where it looks."""

    _before: list[int] = attrs.field(factory=list, init=False, eq=False)

    def begun(self, posterior, rng):
        return []

    def propose(self, posterior, rng, memory):
        self._before.append(len(posterior))
        inactive = self.inactive(posterior)
        return inactive[len(self._before) % len(inactive)]


@caught(CORNERS, saying="no end after 0.3 s")
class HangsOnASingleRow(SoundSelector):
    def propose(self, posterior, rng):
        first = second = posterior.argmin(lambda rows: rows.log_z)
        while second == first:
            second = rng.choice(self.inactive(posterior))
        return np.array([first, second])


@caught(*ASKING, saying="it seems to hang")
class Hangs(SoundSelector):
    def propose(self, posterior, rng):
        while True:
            try:
                pass
            except Exception:
                continue


@caught("whole abilities", saying="is 'score' meant?")
class MisspeltScore(SoundSelector):
    def scores(self, posterior, candidates, steps):
        return candidates.index.astype(float)


# ---------------------------------------------------------------------------------------------
# Sites


@attrs.frozen
class SoundSites:
    """Moment matching."""

    name: ClassVar[str] = "zoo-sites"

    def estimate(self, posterior, candidates):
        return MomentMatching().estimate(posterior, candidates)


@caught("positive", "never increases a variance", saying="shrinkage = -")
class NegativePrecision(SoundSites):
    def estimate(self, posterior, candidates):
        return Steps(candidates.at.alpha, -0.1 / candidates.at.variance)


@caught("positive", "never increases a variance", saying="a row with the wrong label, noisy-probit")
class TrustsEveryLikelihood(SoundSites):
    def estimate(self, posterior, candidates):
        return Steps(candidates.at.alpha, candidates.at.nu)


@caught("finite", saying="coefficient = nan at [0]")
class NanSite(SoundSites):
    def estimate(self, posterior, candidates):
        return Steps(candidates.at.alpha * np.nan, 0.1 / candidates.at.variance)


@caught("leaves some variance", saying="shrinkage * variance = 1.5")
class TakesTooMuch(SoundSites):
    def estimate(self, posterior, candidates):
        return Steps(candidates.at.alpha, 1.5 / candidates.at.variance)


@caught("same site whoever else is a candidate", saying="candidate 0 alone")
class MixesUpCandidates(SoundSites):
    def estimate(self, posterior, candidates):
        steps = MomentMatching().estimate(posterior, candidates)
        return Steps(steps.coefficient[::-1], steps.shrinkage)


@caught("unchanged by block size", saying="blocks of 5 rows")
class SiteOfTheBlocks(SoundSites):
    def estimate(self, posterior, candidates):
        share = 0.5 / _blocks(posterior)
        return Steps(candidates.at.alpha, share / candidates.at.variance)


# ---------------------------------------------------------------------------------------------
# Objectives


@attrs.frozen
class SoundObjective:
    """NLP over all rows."""

    name: ClassVar[str] = "zoo-objective"

    def loss(self, trial):
        return trial.mean(self.of_rows)

    def of_rows(self, rows):
        return RowLoss(-rows.log_z, d_log_z=-1.0)


@attrs.frozen
class SoundObjectiveOfSums(SoundObjective):
    """The square of the mean NLP, plus that of the mean mean."""

    def loss(self, trial):
        return trial.of_sums(self.each, lambda sums: (float(sums @ sums), 2.0 * sums))

    def each(self, rows):
        share = 1.0 / 24.0
        return RowLoss(-share * rows.log_z, d_log_z=-share), RowLoss(
            share * rows.mean, d_mean=share
        )


@caught("gradient agrees with differences", saying="gradient by free coordinates")
class WrongObjectiveGradient(SoundObjective):
    def of_rows(self, rows):
        return RowLoss(-rows.log_z, d_log_z=-1.0, d_variance=0.01)


@caught("gradient agrees with differences", saying="gradient by free coordinates")
class WrongCombination(SoundObjectiveOfSums):
    def loss(self, trial):
        return trial.of_sums(self.each, lambda sums: (float(sums @ sums), sums))


@caught("finite", saying="loss = nan")
class NanObjective(SoundObjective):
    def of_rows(self, rows):
        return RowLoss(np.where(rows.active, np.nan, -rows.log_z), d_log_z=-1.0)


@caught(
    "says something everywhere or nowhere",
    "finite",
    "a loss with all its entries",
    "prefers a fit to its opposite",
    "gradient agrees with differences",
    "deterministic",
    "unchanged by block size",
    "a weight counts as so many rows",
    "leaves the sites alone",
    saying='wanted over = "all" or "inactive", found \'some\'',
)
class OverSome(SoundObjective):
    def loss(self, trial):
        return trial.mean(self.of_rows, over="some")


@caught("says something everywhere or nowhere", saying="None for some states")
class SpeaksNowAndThen(SoundObjective):
    def loss(self, trial):
        return None if len(trial.state) == 5 else SoundObjective.loss(self, trial)


@caught("unchanged by block size", "a weight counts as so many rows", saying="blocks of 1 rows")
class CountsTheBlock(SoundObjective):
    def of_rows(self, rows):
        return RowLoss(-rows.log_z + 0.01 * len(rows), d_log_z=-1.0)


@caught("gradient agrees with differences", saying="gradient by free coordinates")
class WrongPenalty(SoundObjective):
    def loss(self, trial):
        value, gradient, *others = SoundObjective.loss(self, trial)
        moved = trial.displacement
        return Loss(value + float(moved @ moved), gradient + moved, *others)


@caught("leaves the sites alone", "deterministic", saying="site means were changed")
class MovesTheSites(SoundObjective):
    def loss(self, trial):
        loss = SoundObjective.loss(self, trial)
        trial.state.mean[:] += 1e-9
        return loss


@caught("whole abilities", saying="is 'subset' meant?")
class MisspeltSubset(SoundObjective):
    subsets: ClassVar[int] = 100


# ---------------------------------------------------------------------------------------------
# Refiners


REFINING = {
    "never worse than its start",
    "a site for each basis vector",
    "row numbers are those of the rows",
    "finite",
    "positive precisions",
    "deterministic given the generator",
    "uses only the generator given",
    "ends when told to",
    "leaves what it was given alone",
}


@attrs.frozen
class SoundRefiner:
    """Leaves everything as it is, but can be told to change the sites."""

    name: ClassVar[str] = "zoo-refiner"

    def loss(self, state, rows):
        return predictive_loss(state, rows)

    def refine(self, state, rows, rng, tell):
        return Refined(state)


@attrs.frozen
class SoundPruner(SoundRefiner):
    """Drops the last basis vector if that is no worse."""

    def refine(self, state, rows, rng, tell):
        return Refined(min(state, state[:-1], key=lambda each: self.loss(each, rows)))


@attrs.frozen
class SoundRunner(SoundRefiner):
    """Tries random scales of the site means, in two runs."""

    def refine(self, state, rows, rng, tell):
        return self.refine_in_runs(state, rows, rng, tell, lambda _, run: run())

    def refine_in_runs(self, state, rows, rng, tell, once):
        for _ in range(2):
            state = once(rng, lambda state=state: self.run(state, rows, rng))
        return Refined(state)

    def run(self, state, rows, rng):
        scaled = attrs.evolve(state, mean=rng.uniform(0.9, 1.1) * state.mean)
        return min(state, scaled, key=lambda each: self.loss(each, rows))


@caught("runs may be recalled", saying="runs recalled")
class DecidesBesides(SoundRunner):
    def refine_in_runs(self, state, rows, rng, tell, once):
        states = [state]
        once(rng, lambda: states.append(self.run(state, rows, rng)) or states[-1])
        return Refined(states[-1])


@caught("never worse than its start", saying="at the start")
class GetsWorse(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        return Refined(attrs.evolve(state, mean=-state.mean))


@caught("a site for each basis vector", saying="[5, 5, 4, 4] of them")
class LosesABasisVector(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        return Refined(attrs.evolve(state, precision=state.precision[1:], mean=state.mean[1:]))


@caught(*REFINING, saying="State where Refined(state, notes) is wanted")
class ForgetsToSaySo(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        return state


@caught("positive precisions", saying="a precision of -")
class NegativeRefinedPrecision(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        return Refined(attrs.evolve(state, precision=-state.precision))


@caught("finite", saying="site means = nan")
class NanRefinedMean(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        return Refined(attrs.evolve(state, mean=state.mean * np.nan))


@caught("ends when told to", saying="a state that is none")
class NothingToShow(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        go_on = tell(Refining("trying", 1, 2, 0.0))
        return Refined(state if go_on else attrs.evolve(state, mean=state.mean * np.nan))


@caught("leaves what it was given alone", saying="site means were changed")
class RefinesInPlace(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        state.mean[:] *= 0.9
        return Refined(state)


@caught("uses only the generator given", saying="draws from numpy.random")
class RefinesAtRandom(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        np.random.normal()  # noqa: NPY002
        return Refined(state)


# ---------------------------------------------------------------------------------------------
# Whatever the kind


@caught("frozen attrs class", "equal and hashable", saying="an attrs class that is not frozen")
@attrs.define
class NotFrozen:
    name: ClassVar[str] = "zoo-selector"

    def propose(self, posterior, rng):
        return posterior.argmin(lambda rows: rows.log_z)


@caught("well formed name and options", saying="is called 'Bad Name'")
class BadName(SoundSelector):
    name: ClassVar[str] = "Bad Name"


@caught("equal and hashable", saying="write options as tuples")
@attrs.frozen
class ListOption(SoundSelector):
    weights: list[float] = attrs.field(factory=lambda: [1.0, 2.0])


@caught("made with its defaults", saying="no default for its option 'depth'")
@attrs.frozen
class NoDefault(SoundSelector):
    depth: int


SOUND = [
    Plain,
    Exact,
    SoundLikelihood,
    SoundSelector,
    SoundScoringSelector,
    SoundSites,
    SoundSelectorWithMemory,
    SoundObjective,
    SoundObjectiveOfSums,
    SoundRefiner,
    SoundPruner,
    SoundRunner,
]


@pytest.mark.parametrize("part", SOUND, ids=lambda part: part.__name__)
def test_what_is_sound_passes(part):
    assert [result.problem for result in run_checks(part) if not result.ok] == []


@pytest.mark.parametrize(("part", "checks", "saying"), ZOO, ids=[p.__name__ for p, _, _ in ZOO])
def test_what_is_broken_is_caught_by_name(part, checks, saying):
    slow = 0.3 if "Hangs" in part.__name__ else 20.0
    failed = {r.name: r.problem for r in run_checks(part, seconds=slow) if not r.ok}
    assert {name.partition(": ")[2] for name in failed} == checks
    assert any(saying in text for text in failed.values()), failed
    for name, text in failed.items():
        kind = name.partition(":")[0]
        assert text.startswith(f'{kind} {part.name!r} fails the check "{name}"')
        assert "wanted: " in text
        assert "found: " in text
        assert "read on: sgpc_framework.protocols." in text


def test_the_zoo_is_large_and_every_kind_lives_there():
    assert len(ZOO) >= 50
    kinds = {check.kind for part, _, _ in ZOO for check in checks_for(part)}
    assert kinds == {"kernel", "likelihood", "selector", "sites", "objective", "refiner"}


def test_an_exception_is_a_failure_that_has_it_as_its_cause():
    class Raises(SoundSelector):
        def propose(self, posterior, rng):
            raise ZeroDivisionError("boom")

    check = next(c for c in checks_for(Raises()) if c.name == "selector: proposes distinct rows")
    with pytest.raises(ConformanceError, match=r"ZeroDivisionError: boom \(test_zoo.py, line") as e:
        check()
    assert isinstance(e.value.__cause__, ZeroDivisionError)


def test_no_kind_no_checks():
    @attrs.frozen
    class Nothing:
        name: ClassVar[str] = "nothing"

        def do(self):
            """Nothing."""

    with pytest.raises(PluginError, match="must have the methods of exactly one kind, found do"):
        checks_for(Nothing())


# ---------------------------------------------------------------------------------------------
# Plugins that do not get as far as having parts


def _plugin(**functions: Any) -> ModuleType:
    module = ModuleType("zoo_plugin")
    vars(module).update(functions)
    return module


def _loaded(*imports: Any) -> Registry:
    found = [
        Announcement(Origin(f"sgpc-zoo-{number}", "1.0", "parts"), imported)
        for number, imported in enumerate(imports)
    ]
    return Registry(lambda manager: load(manager, found))


def _unimportable() -> ModuleType:
    raise ImportError("No module named 'surely_not_there'")


@pytest.mark.parametrize(
    ("imported", "reason"),
    [
        (
            lambda: _plugin(sgpc_kernls=hookimpl(lambda: [Plain], specname="sgpc_kernls")),
            "unknown hook 'sgpc_kernls': did you mean 'sgpc_kernels'?",
        ),
        (lambda: _plugin(sgpc_kernels=lambda: [Plain]), "'sgpc_kernels' without @hookimpl"),
        (_unimportable, "cannot be imported: ImportError: No module named 'surely_not_there'"),
        (
            lambda: _plugin(
                sgpc_basis_selectors=hookimpl(_bad_name, specname="sgpc_basis_selectors")
            ),
            "is called 'Bad Name'",
        ),
    ],
    ids=["hook misspelt", "hook not marked", "import error", "bad name"],
)
def test_a_broken_plugin_is_quarantined_with_its_reason(imported, reason):
    (absence,) = _loaded(imported).quarantined()
    assert absence.distribution == "sgpc-zoo-0"
    assert reason in absence.reason


def _bad_name() -> list[type]:
    return [BadName]


def test_two_parts_of_one_name_are_an_error_that_lists_both():
    twins = [
        _plugin(sgpc_kernels=hookimpl(lambda kernel=kernel: [kernel], specname="sgpc_kernels"))
        for kernel in (Plain, Exact)
    ]
    registry = _loaded(*[lambda twin=twin: twin for twin in twins])
    with pytest.raises(PluginError, match=r"provided by sgpc-zoo-0 1.0 .* and by sgpc-zoo-1 1.0"):
        registry.get("kernel", "zoo-kernel")
