"""Broken parts of a third round: what is kept, warned of, told, weighed and asked for too often."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sound_parts import (
    Plain,
    SoundLikelihood,
    SoundObjective,
    SoundRefiner,
    SoundSelector,
    SoundSites,
    admitted,
)

from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.parts.hyperparameters import hyperparameter
from sgpc_framework.protocols import Moments, Refined, Refining, RowLoss
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing import ConformanceError, checks_for

ZOO: list[tuple[Any, str, str]] = []
caught = partial(admitted, ZOO)
KEPT: list[Any] = []
SCRATCH = np.empty(10**6)

# ---------------------------------------------------------------------------------------------
# What is kept: a fit leaves more and more behind


@caught("keeps nothing of what it was given", "something is kept")
class KeepsItsInputs(Plain):
    def diag(self, X):
        KEPT.append(X.copy())
        return Plain.diag(self, X)


@caught("keeps nothing of what it was given", "something is kept")
class KeepsItsMeans(SoundLikelihood):
    def moments(self, y, mean, variance):
        KEPT.append(mean.copy())
        return SoundLikelihood.moments(self, y, mean, variance)


@caught("keeps nothing of what it was given", "something is kept")
class KeepsThePosterior(SoundSelector):
    def propose(self, posterior, rng):
        KEPT.append(posterior)
        return SoundSelector.propose(self, posterior, rng)


@caught("keeps nothing of what it was given", "something is kept")
class KeepsMarginals(SoundSites):
    def estimate(self, posterior, candidates):
        KEPT.append(posterior.marginals())
        return SoundSites.estimate(self, posterior, candidates)


@caught("keeps nothing of what it was given", "something is kept")
class KeepsTrials(SoundObjective):
    def loss(self, trial):
        KEPT.append(trial)
        return SoundObjective.loss(self, trial)


@caught("keeps nothing of what it was given", "something is kept")
class KeepsTheRows(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        KEPT.append((state, rows))
        return Refined(state)


# ---------------------------------------------------------------------------------------------
# What is warned of, for nothing


@caught("warns of nothing", "divide by zero encountered in log")
class TakesTheLogOfADistance(Plain):
    def __call__(self, X, Z):
        r2 = np.exp(np.log(cdist(X, Z, "sqeuclidean")))
        return self.variance * np.exp(-0.5 * r2 / self.lengthscale**2)


@caught("warns of nothing", "divide by zero encountered in log")
class WarnsOfCertainRows(SoundSelector):
    def propose(self, posterior, rng):
        return posterior.argmin(lambda rows: rows.log_z + np.nan_to_num(0.0 * np.log(rows.active)))


@caught("warns of nothing", "divide by zero encountered in log")
class WarnsOfMeans(SoundObjective):
    def of_rows(self, rows):
        np.log(0.0 * rows.mean)
        return SoundObjective.of_rows(self, rows)


# ---------------------------------------------------------------------------------------------
# Weights, which count as so many rows


@caught("a weight counts as so many rows", "and repeated ones")
class UndoesTheWeights(SoundObjective):
    def of_rows(self, rows):
        return RowLoss(-rows.log_z / rows.weight, d_log_z=-1.0 / rows.weight)


@caught("a weight counts as so many rows", "value = ")
class GoesByRowNumbers(SoundObjective):
    def of_rows(self, rows):
        every_other = 1.0 + rows.index % 2
        return RowLoss(-rows.log_z * every_other, d_log_z=-every_other)


@caught("a weight counts as so many rows", "loss = ")
class KnowsNoWeights(SoundRefiner):
    def loss(self, state, rows):
        numbers = np.arange(len(rows))
        return predictive_loss(state, TrainingRows.of(rows.inputs(numbers), rows.labels(numbers)))


# ---------------------------------------------------------------------------------------------
# What a refiner tells


@caught("tells where it is", "step=5, steps=3")
class GoesBeyondItsSteps(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        tell(Refining("sweeping", 5, 3, 1.0))
        return Refined(state)


@caught("tells where it is", "loss=nan")
class TellsOfNoLoss(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        tell(Refining("sweeping", 1, 3, np.nan))
        return Refined(state)


@caught("lets who listens interrupt", "an interruption was swallowed")
class SwallowsInterruptions(SoundRefiner):
    def refine(self, state, rows, rng, tell):
        with suppress(BaseException):
            tell(Refining("sweeping", 1, 3, 1.0))
        return Refined(state)


# ---------------------------------------------------------------------------------------------
# What is asked of the rows


@caught("a few trips however many rows", "trips of a proposal with 400 rows")
class AsksForEveryRow(SoundSelector):
    def propose(self, posterior, rng):
        rows = np.flatnonzero(posterior.eligible())
        variance = [posterior.candidates(np.array([row])).at.variance[0] for row in rows]
        return int(rows[np.argmax(variance)])


@caught("sites of a few trips however many rows", "trips of a site with 400 rows")
class TotalsForEveryRow(SoundSites):
    def estimate(self, posterior, candidates):
        for row in range(len(posterior)):
            posterior.total(lambda rows, row=row: rows.index == row)
        return SoundSites.estimate(self, posterior, candidates)


# ---------------------------------------------------------------------------------------------
# Scores, row numbers, row functions


@attrs.frozen
class SoundScores(SoundSelector):
    def propose(self, posterior, rng):
        return posterior.sample(lambda rows: rows.variance, 3, rng)

    def score(self, posterior, candidates, steps):
        return -posterior.total(lambda rows: rows.log_z, candidates, steps)


@caught("a score goes with its candidate", "in another order")
class SortsItsScores(SoundScores):
    def score(self, posterior, candidates, steps):
        return np.sort(SoundScores.score(self, posterior, candidates, steps))


@caught("a score goes with its candidate", "in another order")
class FavoursTheFirst(SoundScores):
    def score(self, posterior, candidates, steps):
        return SoundScores.score(self, posterior, candidates, steps) + np.arange(len(candidates))


@caught("proposes row numbers", "uint8, too few numbers")
class CountsInABye(SoundSelector):
    def propose(self, posterior, rng):
        return np.array([SoundSelector.propose(self, posterior, rng)], dtype=np.uint8)


@caught("row functions change nothing", "by its next call")
class AnswersInOneArray(SoundSelector):
    def propose(self, posterior, rng):
        def answer(rows):
            scratch = SCRATCH[: len(rows)]
            scratch[...] = rows.log_z
            return scratch

        return posterior.argmin(answer)


# ---------------------------------------------------------------------------------------------
# Copies, relevances, many features, large blocks


@caught("equal and hashable", "a copy of")
class ForgetsItselfInAPickle(Plain):
    def __reduce__(self):
        return ForgetsItselfInAPickle, ()


@attrs.frozen
class SoundRelevances:
    name: ClassVar[str] = "zoo-relevances"
    lengthscale: tuple[float, ...] = hyperparameter((1.0, 2.0, 0.5), bounds=(1e-3, 1e3))

    def __call__(self, X, Z):
        return np.exp(-0.5 * cdist(X / self.lengthscale, Z / self.lengthscale, "sqeuclidean"))

    def diag(self, X):
        return np.ones(len(X))

    def relevances(self):
        return 1.0 / np.array(self.lengthscale)


@caught("relevances are in order", "along feature 1, of relevance 2")
class RelevancesUpsideDown(SoundRelevances):
    def relevances(self):
        return np.array(self.lengthscale)


@caught("symmetric and positive semidefinite over wide ranges", "300 rows of 200 features")
class SeesTheFirstTwenty(Plain):
    def __call__(self, X, Z):
        return Plain.__call__(self, X[:, :20], 1.001 * Z[:, :20] if Z.shape[1] > 20 else Z)


@caught("same values in large blocks", "10000 rows at once")
class EndsAtEightThousand(SoundLikelihood):
    def moments(self, y, mean, variance):
        log_z, alpha, nu = SoundLikelihood.moments(self, y, mean, variance)
        return Moments(log_z, np.where(np.arange(len(y)) < 8000, alpha, 0.0), nu)


SOUND = [
    Plain,
    SoundLikelihood,
    SoundObjective,
    SoundRefiner,
    SoundRelevances,
    SoundScores,
    SoundSelector,
    SoundSites,
]


@pytest.fixture(autouse=True)
def _given_back():
    yield
    KEPT.clear()


@pytest.mark.parametrize(("part", "name", "saying"), ZOO, ids=[p.__name__ for p, _, _ in ZOO])
def test_what_is_broken_is_caught_by_name(part, name, saying):
    every = [*checks_for(part), *checks_for(part, level="thorough")]
    check = next(check for check in every if check.name.endswith(f": {name}"))
    with pytest.raises(ConformanceError) as problem:
        check()
    assert saying in str(problem.value)


@pytest.mark.parametrize("part", SOUND, ids=lambda part: part.__name__)
def test_what_is_sound_passes(part):
    names = {name for _, name, _ in ZOO}
    for check in (*checks_for(part), *checks_for(part, level="thorough")):
        if check.name.partition(": ")[2] in names:
            check()
