"""Adam: it finds minima by noisy gradients, stays in its box, and backs away from nowhere."""

from __future__ import annotations

import numpy as np
import pytest

from sgpc_framework.engine.adam import RETREATS, descend
from sgpc_framework.errors import NumericalError

FAR = np.full(3, 10.0)
TARGET = np.array([1.0, -2.0, 0.5])


def noisy_bowl(rng):
    def function(point):
        apart = point - TARGET
        return float(apart @ apart), 2.0 * apart + rng.normal(size=3)

    return function


def test_finds_a_minimum_by_noisy_gradients():
    end = descend(noisy_bowl(np.random.default_rng(0)), np.zeros(3), -FAR, FAR, 2000, 0.1)
    np.testing.assert_allclose(end, TARGET, atol=0.1)


def test_stays_in_its_box():
    lower, upper = np.array([0.0, 0.0, 0.0]), np.array([0.5, 1.0, 1.0])
    end = descend(noisy_bowl(np.random.default_rng(0)), np.full(3, 0.2), lower, upper, 500, 0.1)
    np.testing.assert_allclose(end, [0.5, 0.0, 0.5], atol=0.1)
    assert np.all(end >= lower)
    assert np.all(end <= upper)


@pytest.mark.parametrize("wrong", [NumericalError("no factor"), np.nan])
def test_backs_away_from_where_the_function_does_not_exist(wrong):
    def function(point):
        if point[0] > 0.9:
            if isinstance(wrong, Exception):
                raise wrong
            return wrong, np.zeros(3)
        return -point[0], np.array([-1.0, 0.0, 0.0])

    end = descend(function, np.zeros(3), -FAR, FAR, 200, 0.1)
    assert 0.8 < end[0] <= 0.9


def test_gives_up_after_some_retreats():
    asked = []

    def function(point):
        asked.append(point)
        if len(asked) > 1:
            raise NumericalError("nowhere")
        return 0.0, np.ones(3)

    end = descend(function, np.zeros(3), -FAR, FAR, 100, 0.1)
    np.testing.assert_array_equal(end, np.zeros(3))
    assert len(asked) == 2 + RETREATS


def test_ends_when_told_to():
    asked = []
    rng = np.random.default_rng(0)
    descend(
        noisy_bowl(rng), np.zeros(3), -FAR, FAR, 100, 0.1, lambda k, _: asked.append(k) or k < 7
    )
    assert asked == list(range(1, 8))
