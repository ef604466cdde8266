"""Whatever a part does wrong in a fit is reported as that part's, with call and stage."""

from __future__ import annotations

import signal
import sys
from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.algebra.sites import Steps
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.model.model import Model
from sgpc_framework.parts.hyperparameters import hyperparameter
from sgpc_framework.protocols import Moments, Refined, RowLoss

X, Y = datasets.twonorm(40, seed=1)


@attrs.frozen
class Kernel:
    """A linear kernel that can be told to misbehave."""

    name: ClassVar[str] = "odd"
    fault: str = ""
    variance: float = hyperparameter(1.0, bounds=(0.1, 10.0))

    def __call__(self, X, Z):
        K = self.variance * (X @ Z.T)
        if self.fault == "writes" and len(Z) > 5:
            Z -= Z.mean(axis=0)
        if self.fault == "raises" and len(Z) > 5:
            raise ZeroDivisionError("boom")
        if self.fault == "exits" and len(Z) > 5:
            sys.exit("boom")
        if self.fault == "shape" and len(Z) > 5:
            return K.T
        return K * np.nan if self.fault == "nan" and len(Z) > 5 else K

    def diag(self, X):
        if self.fault == "negative diagonal":
            return -np.ones(len(X))
        return self.variance * np.sum(X**2, axis=1)


@attrs.frozen
class Likelihood:
    """The unit probit, roughly, that can be told to misbehave."""

    name: ClassVar[str] = "odd"
    fault: str = ""

    def moments(self, y, mean, variance):
        moments = sgpc.build().config.likelihood.moments(y, mean, variance)
        if self.fault == "raises":
            raise KeyError("boom")
        if self.fault == "shape":
            return Moments(moments.log_z[:1], moments.alpha, moments.nu)
        if self.fault == "nan":
            return Moments(*(np.where(np.abs(mean) > 0, np.nan, m) for m in moments))
        return moments


@attrs.frozen
class Selector:
    """Proposes row after row, or something it must not."""

    name: ClassVar[str] = "odd"
    fault: str = ""

    def propose(self, posterior, rng):
        row = posterior.size
        if row < 2:
            return row
        return {
            "raises": lambda: posterior.no_such_verb(),
            "exits": lambda: sys.exit(3),
            "active": lambda: 0,
            "repeats": lambda: np.array([row, row]),
            "float": lambda: np.array([float(row)]),
            "outside": lambda: len(posterior),
            "negative": lambda: -1,
            "nothing": lambda: np.array([], dtype=int),
            "writes": lambda: posterior.marginals()[0].fill(0.0),
            "nan": lambda: posterior.argmin(lambda rows: rows.mean * np.nan),
            "shape": lambda: posterior.argmin(lambda rows: rows.mean[1:]),
            "score": lambda: np.array([row, row + 1]),
        }[self.fault]()

    def score(self, posterior, candidates, steps):
        return np.full(len(candidates), np.nan)


@attrs.frozen
class SiteEstimator:
    """Sites that are none."""

    name: ClassVar[str] = "odd"
    fault: str = ""

    def estimate(self, posterior, candidates):
        one = np.ones(len(candidates))
        return {
            "raises": lambda: one / None,
            "negative": lambda: Steps(one, -0.1 * one),
            "too much": lambda: Steps(one, 1.5 / candidates.at.variance),
            "nan": lambda: Steps(one * np.nan, 0.1 / candidates.at.variance),
            "count": lambda: Steps(np.ones(7), np.ones(7)),
        }[self.fault]()


@attrs.frozen
class Objective:
    """An objective that is none."""

    name: ClassVar[str] = "odd"
    fault: str = ""

    def loss(self, trial):
        return trial.mean(self.of_rows)

    def of_rows(self, rows):
        if self.fault == "raises":
            raise RuntimeError("boom")
        if self.fault == "writes":
            rows.mean[:] = 0.0
        if self.fault == "pullback":
            return RowLoss(-rows.log_z, d_log_z=-1.0, pullback=lambda weights: np.ones(5))
        return RowLoss(rows.log_z[:2], d_log_z=1.0)


@attrs.frozen
class Refiner:
    """A refiner that loses a basis vector, or all reason."""

    name: ClassVar[str] = "odd"
    fault: str = ""

    def loss(self, state, rows):
        return predictive_loss(state, rows)

    def refine(self, state, rows, rng, tell):
        if self.fault == "raises":
            raise OSError("boom")
        if self.fault == "exits":
            raise SystemExit
        if self.fault == "notes":
            return Refined(state, "not a tuple of them")
        if self.fault == "state":
            return state
        if self.fault == "count":
            return Refined(attrs.evolve(state, mean=state.mean[1:]))
        if self.fault == "rows":
            return Refined(attrs.evolve(state, basis=state.basis + len(rows)))
        return Refined(attrs.evolve(state, precision=-state.precision))


CASES = [
    ("kernel", Kernel, "raises", "__call__"),
    ("kernel", Kernel, "exits", "__call__"),
    ("kernel", Kernel, "shape", "__call__"),
    ("kernel", Kernel, "nan", "__call__"),
    ("kernel", Kernel, "negative diagonal", "diag"),
    ("likelihood", Likelihood, "raises", "moments"),
    ("likelihood", Likelihood, "shape", "moments"),
    ("likelihood", Likelihood, "nan", "moments"),
    *[
        ("selector", Selector, fault, "propose")
        for fault in (
            "raises", "exits", "active", "repeats", "float", "outside", "negative", "nothing",
            "writes", "nan", "shape",
        )
    ],
    ("selector", Selector, "score", "score"),
    *[
        ("sites", SiteEstimator, fault, "estimate")
        for fault in ("raises", "negative", "too much", "nan", "count")
    ],
    ("kernel", Kernel, "writes", "__call__"),
    ("objective", Objective, "writes", "loss"),
    ("objective", Objective, "raises", "loss"),
    ("objective", Objective, "shape", "loss"),
    ("objective", Objective, "pullback", "loss"),
    ("refiner", Refiner, "raises", "refine"),
    ("refiner", Refiner, "exits", "refine"),
    ("refiner", Refiner, "count", "refine"),
    ("refiner", Refiner, "rows", "refine"),
    ("refiner", Refiner, "negative", "refine"),
    ("refiner", Refiner, "notes", "refine"),
    ("refiner", Refiner, "state", "refine"),
]  # fmt: skip


@pytest.mark.parametrize(("slot", "part", "fault", "call"), CASES)
def test_the_part_is_named_with_its_call(slot, part, fault, call):
    design = sgpc.build(**{slot: part(fault=fault)}, max_basis=6, max_iterations=2)
    with pytest.raises(sgpc.PluginError) as caught:
        design.fit(X, Y)
    error = caught.value
    assert (error.kind, error.name, error.call) == (slot, "odd", call)
    assert f"{slot} 'odd'" in str(error)
    assert part.__module__ in error.distribution
    if fault in ("raises", "exits"):
        assert error.__cause__ is not None
    if fault == "exits":
        assert "SystemExit" in str(error)


def test_the_stage_is_counted_from_one():
    with pytest.raises(sgpc.PluginError, match="iteration 1, stage 3") as caught:
        sgpc.build(selector=Selector(fault="active"), max_basis=6).fit(X, Y)
    assert (caught.value.iteration, caught.value.stage) == (1, 3)


def test_an_installed_part_is_named_with_its_distribution_and_version(monkeypatch):
    from sgpc_plugins.selectors import Entropy

    monkeypatch.setattr(Entropy, "propose", lambda self, posterior, rng: 1 / 0)
    with pytest.raises(sgpc.PluginError) as caught:
        sgpc.build(selector="entropy", max_basis=3).fit(X, Y)
    assert caught.value.distribution == "sgpc-framework"
    assert caught.value.version == sgpc.__version__
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_kernel_that_breaks_at_prediction_is_named():
    model = sgpc.build(kernel=Kernel(), max_basis=4, max_iterations=1).fit(X, Y)
    state = attrs.evolve(model.state, kernel=Kernel(fault="raises"))
    broken = Model(model.classes, state, model.trace)
    with pytest.raises(sgpc.PluginError, match=r"kernel 'odd'.*in __call__"):
        broken.predict(X)


def test_a_kernel_keeps_its_own_arrays():
    """A kernel may hand out an array that it keeps: the framework does not write into it."""
    gram = X @ X.T
    kept = gram.copy()

    @attrs.frozen
    class Precomputed:
        name: ClassVar[str] = "precomputed"

        def __call__(self, rows, others):
            if len(rows) == 1 and len(others) == len(gram):
                return gram[int(rows[0, 0])][None]
            return gram[np.ix_(rows[:, 0].astype(int), others[:, 0].astype(int))]

        def diag(self, rows):
            return np.diag(gram)[rows[:, 0].astype(int)]

    numbers = np.arange(len(X), dtype=float)[:, None]
    design = sgpc.build(kernel=Precomputed(), selector="entropy", objective="none", max_basis=8)
    design.fit(numbers, Y)
    np.testing.assert_array_equal(gram, kept)


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("told_of", ["a stage", "a refiner"])
def test_who_watches_may_end_the_process(end, told_of):
    def watch(progress):
        if told_of == "a stage" or progress.refining is not None:
            raise end

    with pytest.raises(end):
        sgpc.build("accurate", max_basis=4).fit(X, Y, progress=watch)


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit, TimeoutError])
def test_what_a_signal_brings_is_no_fault_of_the_part_that_it_comes_upon(end):
    def handler(*_):
        raise end

    @attrs.frozen
    class Waits(Objective):
        def of_rows(self, rows):
            signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, handler)
    try:
        with pytest.raises(end):
            sgpc.build(objective=Waits(), max_basis=4).fit(X, Y)
    finally:
        signal.signal(signal.SIGTERM, before)


@attrs.frozen
class OneDraw:
    """Draws once, and proposes that draw at every stage."""

    name: ClassVar[str] = "one-draw"

    def begun(self, posterior, rng):
        return posterior.sample(lambda rows: np.ones(len(rows)), 3, rng)

    def propose(self, posterior, rng, drawn):
        return drawn


def test_an_old_draw_is_looked_at_again():
    """What ``sample`` returns needs no check, but only until the next inclusion."""
    with pytest.raises(sgpc.PluginError, match="wanted inactive rows") as caught:
        sgpc.build(selector=OneDraw(), max_basis=6, objective="none").fit(X, Y)
    assert (caught.value.name, caught.value.stage) == ("one-draw", 2)
