"""How often the machines are asked: a verb is one trip, and a stage has very few of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sgpc_framework import datasets
from sgpc_framework.engine.chance import Chance
from sgpc_framework.engine.judging import paired_losses
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.engine.stages import stages
from sgpc_framework.engine.trial import Trial
from sgpc_framework.parts.hyperparameters import FreeVector, values
from sgpc_framework.protocols import RowLoss
from sgpc_framework.rows.placement import ThisProcess
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import Probit
from sgpc_plugins.refiners.corrective.joint_loss import JointLoss
from sgpc_plugins.selectors import AdaptiveSampling, Entropy, Validation
from sgpc_plugins.sites import MomentMatching, PredictiveLossSites
from sgpc_plugins.sites.predictive_loss import _Coordinates


class Counting:
    """A placement that counts the trips to it, by what was called there."""

    def __init__(self, inner, trips):
        self._inner = inner
        self._trips = trips

    def __len__(self):
        return len(self._inner)

    def every(self, function, /, *shared, **named):
        self._trips[function.__name__] += 1
        return self._inner.every(function, *shared, **named)

    def some(self, function, arguments, /):
        self._trips[function.__name__] += 1
        return self._inner.some(function, arguments)

    def sum(self, function, /, *shared, **named):
        self._trips[function.__name__] += 1
        return self._inner.sum(function, *shared, **named)

    def merge(self, function, arguments, /):
        self._trips[function.__name__] += 1
        return self._inner.merge(function, arguments)

    def map(self, function, /, *shared, **named):
        return Counting(self._inner.map(function, *shared, **named), self._trips)


@pytest.fixture
def trips():
    return Counter()


@pytest.fixture
def rows(trips):
    """Three hundred rows in ten blocks."""
    X, y = datasets.waveform(300, seed=1)
    place = lambda blocks, count: Counting(ThisProcess(blocks, count), trips)  # noqa: E731
    return TrainingRows.of(X, y, 30, place)


def posterior(rows):
    return rows.posterior(SquaredExponential(variance=2.0, lengthscale=5.0), Probit(), 12)


def stage_by_stage(rows, selector, sites, trips):
    """The trips of each of twelve stages."""
    start = posterior(rows)
    trips.clear()
    for _ in stages(start, selector, sites, 12, Chance(seed=3, iteration=1)):
        yield Counter(trips)
        trips.clear()


@pytest.mark.parametrize("selector", [Entropy(), AdaptiveSampling(working_set=1)])
def test_two_trips_with_one_candidate(rows, trips, selector):
    for stage in stage_by_stage(rows, selector, MomentMatching(), trips):
        assert stage.total() <= 2, stage


@pytest.mark.parametrize(
    "selector", [AdaptiveSampling(working_set=2), AdaptiveSampling(5), Validation(), Validation(9)]
)
def test_three_trips_with_several_but_for_a_draw_that_is_repeated(rows, trips, selector):
    counts = list(stage_by_stage(rows, selector, MomentMatching(), trips))
    for stage in counts:
        repeated = stage["arrivals"] - 1
        assert stage.total() - repeated <= 3, stage
    draws = sum(stage["arrivals"] for stage in counts)
    assert draws <= 1.2 * len(counts), "draws are repeated all the time"


@pytest.mark.parametrize("working_set", [1, 2, 4])
def test_one_more_for_each_pass_of_a_site_estimator_for_all_candidates_together(
    rows, trips, working_set, monkeypatch
):
    points = Counter()
    point = _Coordinates.point

    def counted(self, *arguments):
        points[id(self)] += 1
        return point(self, *arguments)

    monkeypatch.setattr(_Coordinates, "point", counted)
    selector = AdaptiveSampling(working_set)
    for stage in stage_by_stage(rows, selector, PredictiveLossSites(), trips):
        passes = max(points.values())
        assert passes > 1
        assert stage.total() - (stage["arrivals"] - 1) == (2 if working_set == 1 else 3) + passes
        points.clear()


@pytest.fixture
def state(rows):
    start = posterior(rows)
    for _ in stages(start, Entropy(), MomentMatching(), 12, Chance(seed=3, iteration=1)):
        pass
    return start.state()


def trial(state, rows):
    return Trial.at(FreeVector.of(state).free(values(state)), state, rows, state)


def loss_of(view):
    return RowLoss(-view.log_z, d_log_z=-1.0)


@pytest.mark.parametrize("over", ["all", "inactive"])
def test_a_mean_over_rows_with_its_gradient_is_one_trip(rows, state, trips, over):
    trips.clear()
    trial(state, rows).mean(loss_of, over)
    assert trips.total() == 1


def test_a_function_of_sums_is_two(rows, state, trips):
    trips.clear()
    trial(state, rows).of_sums(lambda view: [loss_of(view)] * 2, lambda sums: (sums[0], [1.0, 0.0]))
    assert trips.total() == 2


def test_a_function_of_the_gram_matrix_is_none(rows, state, trips):
    trips.clear()
    trial(state, rows).of_gram(lambda K, precision, mean: (float(K.sum()), np.ones_like(K)))
    assert trips.total() == 0


@pytest.mark.parametrize("options", [{}, {"moves": True}, {"elbo_share": 0.3}])
def test_an_evaluation_of_the_refiner_is_one(rows, state, trips, options):
    loss = JointLoss(state, rows, 1.0, **options)
    point = loss.point(state)
    trips.clear()
    loss(point)
    assert trips.total() == 1


def test_what_states_lose_is_one_for_all_of_them(rows, state, trips):
    trips.clear()
    predictive_loss(state, rows)
    paired_losses([state, state[:5], state[:2]], rows)
    rows.summary()
    rows.inputs(np.array([3, 250, 77]))
    assert trips.total() == 4


def test_labelling_one_class_against_the_rest_is_none(rows, trips):
    trips.clear()
    rows.against_rest(1)
    assert trips.total() == 0
