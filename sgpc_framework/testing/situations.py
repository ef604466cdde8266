"""Situations of a fit in which selectors, site estimators, objectives and refiners are tried.

The kit itself decides which rows are included, never the part under test: whatever is wrong with a
part, the states it sees are the same, and one fault does not make another. The other parts of the
fit are the defaults of ``build()``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

import attrs
import numpy as np

from sgpc_framework.config.config import Config
from sgpc_framework.protocols import Floats, Likelihood
from sgpc_framework.rows.placement import ThisProcess
from sgpc_framework.rows.posterior import Posterior
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import Place, TrainingRows
from sgpc_framework.rows.view import Rows
from sgpc_framework.testing.samples import started
from sgpc_framework.testing.verdict import Violation

ROWS = 24


_place: ContextVar[Place] = ContextVar("place", default=ThisProcess)


@contextmanager
def placed(place: Place) -> Iterator[None]:
    """Inside, the rows of all situations are there: on the workers of a cluster, say."""
    outer = _place.set(place)
    try:
        yield
    finally:
        _place.reset(outer)


def current_place() -> Place:
    """Where the rows of situations are."""
    return _place.get()


@cache
def defaults() -> Config:
    """The default parts."""
    return Config.from_mapping()


@attrs.frozen(eq=False)
class Situation:
    """Training data, and which rows of it have been included so far."""

    title: str
    X: Floats
    y: Floats
    included: tuple[int, ...] = ()
    likelihood: Likelihood = attrs.field(factory=lambda: defaults().likelihood)
    weight: Floats | None = None

    def rows(self, block_rows: int = ROWS) -> TrainingRows:
        """A copy of the data: a part that writes into it harms nobody else."""
        X, y = self.X.copy(), self.y.copy()
        return TrainingRows.of(X, y, block_rows, current_place(), self.weight)

    def posterior(self, block_rows: int = ROWS, stages: int = 4) -> Posterior:
        """A new posterior in this situation, with room for some stages more."""
        kernel = started(defaults().kernel, self.X)
        stages += len(self.included)
        posterior = self.rows(block_rows).posterior(kernel, self.likelihood, stages)
        for row in self.included:
            include(posterior, row)
        return posterior

    def state(self) -> State:
        """The same as a refiner or an objective gets it."""
        return self.posterior().state()


def include(posterior: Posterior, row: int) -> None:
    """One stage with a given row and its default site."""
    candidates = posterior.candidates(np.array([row]))
    posterior.include(candidates, 0, defaults().sites.estimate(posterior, candidates))


def rows_of_three_kinds() -> Situation:
    """Rows that repeat themselves after three, one of them a basis vector."""
    X, _ = _data()
    thrice = np.arange(ROWS) % 3
    return Situation("rows of three kinds", X[thrice], np.array([-1.0, 1.0, -1.0])[thrice], (9,))


def weighted_and_repeated() -> tuple[tuple[State, TrainingRows], tuple[State, TrainingRows]]:
    """A state and rows with whole weights, and the same with each row so many times; basis vectors
    weigh one, because among copies only one would be a basis vector."""
    situation = ordinary_situations()[2]
    state, counts = situation.state(), 1 + np.arange(ROWS) % 3
    counts[state.basis] = 1
    weighted = attrs.evolve(situation, weight=counts.astype(np.float64))
    X, y = situation.X.repeat(counts, axis=0), situation.y.repeat(counts)
    there = attrs.evolve(state, basis=(np.cumsum(counts) - counts)[state.basis])
    return (state, weighted.rows()), (there, attrs.evolve(situation, X=X, y=y).rows(7))


@cache
def ordinary_situations() -> tuple[Situation, ...]:
    """The beginning, the middle and the awkward data of an ordinary fit; few ties, if any."""
    X, y = _data()
    constant = X.copy()
    constant[:, 0] = 0.7
    return (
        Situation("no basis vectors yet", X, y),
        Situation("one basis vector", X, y, (3,)),
        Situation("five basis vectors", X, y, (3, 11, 19, 7, 0)),
        Situation("a constant feature", constant, y, (5, 2, 17)),
        Situation("rows with weights", X, y, (3, 11), weight=np.linspace(0.2, 2.0, ROWS)),
    )


@cache
def corner_situations() -> tuple[Situation, ...]:
    """Duplicate rows, ties between all rows, a single inactive row, and a surprise."""
    X, y = _data()
    thrice = np.arange(ROWS) // 3
    return (
        Situation("duplicate rows", X[thrice], y[thrice], (0, 4)),
        Situation("rows of two kinds", X[np.arange(ROWS) % 2], np.tile([-1.0, 1.0], ROWS // 2)),
        Situation("rows that are all equal", np.ones((6, 2)), np.tile([-1.0, 1.0], 3), (2,)),
        Situation("a single inactive row", X[:5], y[:5], (0, 1, 4, 3)),
        _surprise(),
    )


def situation_of(rows: int, included: tuple[int, ...] = ()) -> Situation:
    """So many rows of the ordinary kind."""
    return Situation(f"{rows} rows", *_data(rows), included)


def _surprise() -> Situation:
    """Where seven basis vectors agree on a label, a row with the other one.

    A likelihood that allows for wrong labels takes it for one: its nu is negative there.
    """
    crowd = np.column_stack([np.linspace(0.0, 0.1, 8), np.zeros(8)])
    X = np.vstack([3.0 * _data()[0][:6], crowd])
    y = np.append(np.ones(13), -1.0)
    return Situation("a row with the wrong label", X, y, (6, 7, 8, 9, 10, 11, 12))


def _data(rows: int = ROWS) -> tuple[Floats, Floats]:
    """Two features, and labels that follow them with some noise."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((rows, 2))
    y = np.where(X[:, 0] - 0.5 * X[:, 1] + 0.6 * rng.standard_normal(rows) > 0.0, 1.0, -1.0)
    return X, y


def snapshot(posterior: Posterior) -> dict[str, Floats]:
    """A copy of everything in a posterior that a part could write into."""
    blocks = posterior.evaluated(_look)
    names = ("X", "y", "mean", "variance", "active")
    arrays = map(np.concatenate, zip(*blocks, strict=True))
    sites = posterior.sites
    return {
        **dict(zip(names, arrays, strict=True)),
        "basis": np.array(posterior.basis, dtype=np.float64),
        "site precisions": sites.precision,
        "site means": sites.mean,
    }


def _look(rows: Rows) -> tuple[Floats, ...]:
    seen = (rows.X, rows.y, rows.mean, rows.variance, rows.active)
    return tuple(np.array(each, dtype=np.float64) for each in seen)


def require_untouched(before: dict[str, Floats], after: dict[str, Floats], where: str) -> None:
    """Nothing differs between two snapshots."""
    for name, array in before.items():
        if not np.array_equal(array, after[name], equal_nan=True):
            raise Violation(f"{name} was changed ({where})")
