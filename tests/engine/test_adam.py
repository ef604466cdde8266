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


def test_is_the_adam_of_the_paper():
    """Step by step as Kingma and Ba write it, with the rate of the module's docstring."""
    rng = np.random.default_rng(3)
    slopes = rng.normal(size=(30, 2)) * [1.0, 100.0]
    given = iter(slopes)
    seen = []

    def function(point):
        seen.append(point.copy())
        return 0.0, next(given)

    end = descend(function, np.array([0.3, -0.2]), -FAR[:2], FAR[:2], 30, 0.1)
    x, m, v = np.array([0.3, -0.2]), np.zeros(2), np.zeros(2)
    for t, g in enumerate(slopes, 1):
        np.testing.assert_allclose(seen[t - 1], x, rtol=1e-12)
        last = x
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g**2
        m_hat, v_hat = m / (1.0 - 0.9**t), v / (1.0 - 0.99**t)
        pace = 0.1 * min(1.0, t / 20) * (1.0 - t / 30)
        x = x - pace * m_hat / (np.sqrt(v_hat) + 1e-10)
    np.testing.assert_allclose(end, last, rtol=1e-12)
