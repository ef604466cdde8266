"""The optimiser never returns a worse point and survives a function with holes."""

from __future__ import annotations

import numpy as np
import pytest

from sgpc_framework.engine.optimisers import minimise
from sgpc_framework.errors import NumericalError

METHODS = ["l-bfgs-b", "conjugate-gradients"]
LOWER, UPPER = np.full(2, -4.0), np.full(2, 4.0)


def bowl(x):
    return float(np.sum((x - [1.0, -2.0]) ** 2)), 2 * (x - [1.0, -2.0])


@pytest.mark.parametrize("method", METHODS)
def test_finds_a_minimum_inside_the_box(method):
    found = minimise(bowl, np.zeros(2), LOWER, UPPER, method, 100)
    np.testing.assert_allclose(found.point, [1.0, -2.0], atol=1e-3)
    assert found.start_value == 5.0
    assert found.evaluations > 1


@pytest.mark.parametrize("method", METHODS)
def test_ends_when_ten_iterations_gain_too_little(method):
    def valley(x):  # Rosenbrock's: a long way with small gains
        a, b = 1.0 - x[0], x[1] - x[0] ** 2
        return float(a**2 + 100.0 * b**2), np.array([-2.0 * a - 400.0 * x[0] * b, 200.0 * b])

    start = np.array([-1.2, 1.0])
    patient, hasty = (
        minimise(valley, start, LOWER, UPPER, method, 500, gain) for gain in (0.0, 5.0)
    )
    assert hasty.evaluations < patient.evaluations
    assert patient.value < hasty.value < hasty.start_value


@pytest.mark.parametrize("method", METHODS)
def test_who_watches_counts_from_one_and_may_end_it(method):
    told = []

    def go_on(step, value):
        told.append((step, value))
        return step < 3

    def steep(x):
        return float(np.sum(x**4)), 4.0 * x**3

    found = minimise(steep, np.full(2, 3.0), LOWER, UPPER, method, 100, go_on=go_on)
    assert [step for step, _ in told] == [1, 2, 3]
    assert found.value == told[-1][1] < told[0][1]


@pytest.mark.parametrize("method", METHODS)
def test_stays_inside_the_box(method):
    seen = []

    def outside(x):
        seen.append(x.copy())
        return float(-x.sum()), -np.ones(2)

    found = minimise(outside, np.zeros(2), LOWER, UPPER, method, 50)
    assert np.all((np.array(seen) >= LOWER) & (np.array(seen) <= UPPER))
    np.testing.assert_allclose(found.point, UPPER, atol=0.1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("hole", ["nan", "error"])
def test_goes_on_from_the_best_point_where_the_function_does_not_exist(method, hole):
    def holed(x):
        if x[0] > 0.5:
            if hole == "error":
                raise NumericalError("no such place")
            return np.nan, np.full(2, np.nan)
        return bowl(x)

    found = minimise(holed, np.zeros(2), LOWER, UPPER, method, 50)
    assert found.value < 5.0
    assert found.point[0] <= 0.5
    assert np.isfinite(found.value)


def test_a_start_that_does_not_exist_is_an_error():
    with pytest.raises(NumericalError, match="start"):
        minimise(lambda x: (np.inf, x), np.zeros(2), LOWER, UPPER, "l-bfgs-b", 5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", [LOWER, UPPER, np.array([-4.0, 4.0])])
def test_a_start_on_the_border_is_left(method, start):
    found = minimise(bowl, start, LOWER, UPPER, method, 500)
    assert np.all(np.isfinite(found.point))
    assert found.value < 0.5 * found.start_value


def test_a_box_without_width_is_a_point():
    for method in METHODS:
        found = minimise(bowl, np.ones(2), np.ones(2), np.ones(2), method, 5)
        np.testing.assert_allclose(found.point, 1.0, atol=1e-9)
