"""Broken parts that pass the quick checks: the thorough ones catch each by name."""

from __future__ import annotations

import os
import threading
import time
import warnings
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

from sgpc_framework.parts.hyperparameters import hyperparameter
from sgpc_framework.protocols import Moments, RowLoss
from sgpc_framework.testing import ConformanceError, checks_for
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import Probit
from sgpc_plugins.sites import MomentMatching

ZOO: list[tuple[Any, str, str]] = []
CACHE: dict[Any, Any] = {}


def caught(check: str, saying: str):
    """Put a class into the zoo: which check it fails, and what that says."""

    def admit(cls: type) -> type:
        ZOO.append((cls, check, saying))
        return cls

    return admit


@attrs.frozen
class Plain:
    """A sound kernel."""

    name: ClassVar[str] = "zoo-kernel"
    lengthscale: float = hyperparameter(1.2, bounds=(1e-3, 1e3))

    def __call__(self, X, Z):
        return SquaredExponential(1.0, self.lengthscale)(X, Z)

    def diag(self, X):
        return np.ones(len(X))


@caught("symmetric and positive semidefinite over wide ranges", "an eigenvalue -")
class IndefiniteWithManyRows(Plain):
    def __call__(self, X, Z):
        K = Plain.__call__(self, X, Z)
        return K - 0.5 * (np.abs(K - 0.5) < 0.4) if min(K.shape) > 100 else K


@caught("symmetric and positive semidefinite over wide ranges", "20 features")
class IndefiniteInManyDimensions(Plain):
    def __call__(self, X, Z):
        K = Plain.__call__(self, X, Z)
        return np.where(K == 1.0, 1.0, K - 0.1) if X.shape[1] > 10 else K


@caught("diagonal agrees over wide ranges", "diag(X) = ")
class WrongDiagonalFarOut(Plain):
    def diag(self, X):
        return np.where(np.abs(X[:, 0]) > 20.0, 0.5, 1.0)


@caught("diagonal agrees over wide ranges", "hyperparameters [")
class WrongDiagonalForLongScales(Plain):
    def diag(self, X):
        return np.full(len(X), 1.0 if self.lengthscale < 20.0 else 1.1)


@caught("same values in large blocks", "10000 rows at once")
class ScalesWithTheBlock(Plain):
    def __call__(self, X, Z):
        return Plain.__call__(self, X, Z) * (1.0 if len(X) <= 1000 else 0.9)


@caught("a second large call leaves the first result alone", "10000 rows against 5, then others")
class ReusesALargeMatrix(Plain):
    def __call__(self, X, Z):
        K = Plain.__call__(self, X, Z)
        if len(X) < 1000:
            return K
        kept = CACHE.setdefault(K.shape, K)
        kept[:] = K
        return kept


@caught("pullbacks agree near the bounds", "hyperparameters [")
class WrongGradientForLongScales(Plain):
    def linearised(self, X, Z):
        K, pullback = SquaredExponential(1.0, self.lengthscale).linearised(X, Z)
        share = 1.0 if self.lengthscale < 20.0 else 0.5
        return K, lambda G: share * pullback(G)[1:]

    def linearised_diag(self, X):
        return self.diag(X), lambda g: np.zeros(1)


@caught("finite over wide ranges", "k(X, X) = nan")
class NanFarOut(Plain):
    def __call__(self, X, Z):
        K = Plain.__call__(self, X, Z)
        return np.where(np.abs(X[:, :1]) > 1000.0, np.nan, K)


@caught("leaves the users data alone", "X was changed")
class WinsorisesTheUsersInputs(Plain):
    def diag(self, X):
        if len(X) > 100:
            owner = X if X.base is None else X.base
            owner.flags.writeable = True
            np.clip(owner, -10.0, 10.0, out=owner)
        return Plain.diag(self, X)


@caught("a fit in between changes nothing", "before and after a fit to other data")
class LearnsItsScaleOnce(Plain):
    def started(self, X):
        scale = CACHE.setdefault(len(X), float(np.mean(np.abs(X))))
        CACHE[len(X)] = 1.001 * scale if len(X) == 120 else scale
        return attrs.evolve(self, lengthscale=scale)


@attrs.frozen
class SoundLikelihood:
    name: ClassVar[str] = "zoo-likelihood"

    def moments(self, y, mean, variance):
        return Probit().moments(y, mean, variance)


@caught("same values in large blocks", "10000 rows at once")
class CentredInLargeBlocks(SoundLikelihood):
    def moments(self, y, mean, variance):
        if len(y) > 1000:
            mean = mean - 1e-3
        return Probit().moments(y, mean, variance)


@caught("derivatives in the tails", "alpha and -nu in the tails")
class ClipsItsSlope(SoundLikelihood):
    def moments(self, y, mean, variance):
        log_z, alpha, nu = Probit().moments(y, mean, variance)
        return Moments(log_z, np.clip(alpha, -10.0, 10.0), nu)


@caught("derivatives in the tails", "alpha and -nu in the tails")
class WrongForWidePriors(SoundLikelihood):
    def moments(self, y, mean, variance):
        log_z, alpha, nu = Probit().moments(y, mean, variance)
        return Moments(log_z, np.where(variance > 500.0, 1.1, 1.0) * alpha, nu)


@attrs.frozen
class SoundSelector:
    name: ClassVar[str] = "zoo-selector"

    def propose(self, posterior, rng):
        return posterior.argmin(lambda rows: rows.log_z)


@caught("sixty stages of proposals", "stage 42 of 60")
class TiresAfterFortyStages(SoundSelector):
    def propose(self, posterior, rng):
        return (
            posterior.basis[0]
            if posterior.size > 40
            else SoundSelector.propose(self, posterior, rng)
        )


@caught("sixty stages twice", "at stage 31")
class KeepsCountAcrossFits(SoundSelector):
    def propose(self, posterior, rng):
        if posterior.size < 30:
            return SoundSelector.propose(self, posterior, rng)
        CACHE["asked"] = CACHE.get("asked", 0) + 1
        return np.flatnonzero(posterior.eligible())[CACHE["asked"]]


@caught("same bits in another process", "hash seed 1, then hash seed 20")
class GoesByHashes(SoundSelector):
    def propose(self, posterior, rng):
        rows = np.flatnonzero(posterior.eligible())
        return rows[hash("a row") % len(rows)]


@caught("same bits in another process", "hash seed 1, then hash seed 20")
class GoesByTheClock(SoundSelector):
    def propose(self, posterior, rng):
        rows = np.flatnonzero(posterior.eligible())
        return rows[int(time.time() / 86400.0) % len(rows)]


@caught("same bits in another process", "this one, which has made other fits")
class SharesItsMemory(SoundSelector):
    def begun(self, posterior, rng):
        return CACHE

    def propose(self, posterior, rng, memory):
        shift = memory.setdefault("rows", len(posterior))
        return posterior.argmin(lambda rows: np.sin(rows.index + shift))


@caught("leaves the process as it was", "the working directory was")
class GoesAway(SoundSelector):
    def propose(self, posterior, rng):
        os.chdir(os.sep)
        return SoundSelector.propose(self, posterior, rng)


@caught("leaves the process as it was", "by a fit, np.seterr was {'over': 'warn'}")
class LeavesThingsBehind(SoundSelector):
    def propose(self, posterior, rng):
        np.seterr(over="ignore")
        warnings.simplefilter("ignore", DeprecationWarning)
        if posterior.size == 3:
            threading.Thread(target=time.sleep, args=(600,), name="lost", daemon=True).start()
        return SoundSelector.propose(self, posterior, rng)


@attrs.frozen
class SoundSites:
    name: ClassVar[str] = "zoo-sites"

    def estimate(self, posterior, candidates):
        return MomentMatching().estimate(posterior, candidates)


@caught("sixty stages of sites", "coefficient = nan")
class NanAfterFortyStages(SoundSites):
    def estimate(self, posterior, candidates):
        steps = MomentMatching().estimate(posterior, candidates)
        late = np.nan if posterior.size >= 40 else 1.0
        return attrs.evolve(steps, coefficient=late * steps.coefficient)


@attrs.frozen
class SoundObjective:
    name: ClassVar[str] = "zoo-objective"

    def loss(self, trial):
        return trial.mean(self.of_rows)

    def of_rows(self, rows):
        return RowLoss(-rows.log_z, d_log_z=-1.0)


@caught("gradient in the tails", "gradient by free coordinates")
class ClipsItsGradient(SoundObjective):
    def of_rows(self, rows):
        return RowLoss(-rows.log_z, d_log_z=np.where(rows.log_z < -12.0, 0.0, -1.0))


SOUND = [Plain, SoundLikelihood, SoundSelector, SoundSites, SoundObjective]
IN_PROCESSES = {"same bits in another process", "leaves the process as it was"}


def named(part: Any, name: str) -> Any:
    checks = checks_for(part, level="thorough")
    return next(check for check in checks if check.name.endswith(f": {name}"))


@pytest.mark.parametrize(("part", "name", "saying"), ZOO, ids=[p.__name__ for p, _, _ in ZOO])
def test_what_is_broken_is_caught_by_name(part, name, saying, monkeypatch):
    monkeypatch.chdir(".")
    monkeypatch.setitem(CACHE, "rows", 40)  # as if there had been a fit to so many
    with pytest.raises(ConformanceError) as caught:
        named(part, name)()
    assert saying in str(caught.value)


def test_everything_that_is_left_behind_is_named():
    with pytest.raises(ConformanceError) as caught:
        named(LeavesThingsBehind, "leaves the process as it was")()
    assert "a thread 'lost' that goes on" in str(caught.value)
    assert "the filters of warnings was" in str(caught.value)


@pytest.mark.parametrize("part", SOUND, ids=lambda part: part.__name__)
def test_what_is_sound_passes(part):
    for check in checks_for(part, level="thorough"):
        if part is Plain or check.name.partition(": ")[2] not in IN_PROCESSES:
            check()


def test_a_part_that_cannot_be_sent_is_told_so():
    class Local(SoundSelector):
        pass

    with pytest.raises(ConformanceError, match="define its class at the top level of a module"):
        named(Local, "same bits in another process")()
