"""What is special about each site estimator: its arithmetic, judged by hand and by differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import MultinomialProbit, NoisyProbit, Probit
from sgpc_plugins.sites import MomentMatching, PredictiveLossSites
from sgpc_plugins.sites.moment_matching import LEAST_SHARE
from sgpc_plugins.sites.predictive_loss import (
    LONGEST,
    NEARBY,
    ODDS,
    _bend_at,
    _bend_between,
    _Coordinates,
    _derivatives,
    _inside,
    _lower,
    _newton_step,
    _Point,
)

KERNEL = SquaredExponential(variance=9.0, lengthscale=2.0)
numbers = st.floats(-2.0, 2.0)


def posterior(likelihood, y):
    X = np.linspace(-3.0, 3.0, len(y))[:, None]
    return TrainingRows.of(X, np.asarray(y, dtype=float)).posterior(KERNEL, likelihood, 5)


def test_only_sites_without_a_proper_match_take_a_millionth():
    """Two labels of a noisy probit: one where it should be, one far on the wrong side."""
    rows = posterior(NoisyProbit(epsilon=0.05), [1.0, 1.0, 1.0, -1.0, 1.0, 1.0])
    for _ in range(4):
        first = rows.candidates(np.array([rows.argmin(lambda each: -each.y)]))
        rows.include(first, 0, Steps(3.0 / first.at.variance[0], 0.9 / first.at.variance[0]))
    candidates = rows.candidates(np.flatnonzero(rows.eligible()))
    nu, variance = candidates.at.nu, candidates.at.variance
    assert nu.min() < 0.0 < nu.max()
    steps = MomentMatching().estimate(rows, candidates)
    wanted = np.where(nu > 0.0, nu, LEAST_SHARE / variance)
    np.testing.assert_array_equal(steps.shrinkage, wanted)
    np.testing.assert_array_equal(steps.coefficient, candidates.at.alpha)
    assert LEAST_SHARE == 1e-6


@given(st.lists(numbers, min_size=3, max_size=3), st.tuples(numbers, numbers, numbers, numbers))
def test_between_two_points_of_a_quadratic_the_bend_is_its_own(entries, places):
    H = np.array([[entries[0], entries[1]], [entries[1], entries[2]]])
    here, to = (_quadratic(H, np.array(place)) for place in (places[:2], places[2:]))
    assume(abs(to.tau - here.tau) > 0.01)
    mixed, twice = _bend_between(here, to)
    assert mixed == pytest.approx(H[0, 1], abs=1e-9)
    assert twice == pytest.approx(H[1, 1], abs=1e-9)


def test_where_tau_has_hardly_changed_there_is_no_bend():
    here, to = (_quadratic(np.eye(2), np.array([1.0, tau])) for tau in (0.0, 0.4 * NEARBY))
    assert _bend_between(here, to) is None
    assert _bend_between(here, _quadratic(np.eye(2), np.array([1.0, NEARBY]))) is not None


@given(st.floats(0.1, 5.0), st.floats(0.1, 5.0), st.floats(0.0, 3.0), st.tuples(numbers, numbers))
def test_newtons_step_ends_at_the_minimum_of_a_quadratic(first, second, angle, place):
    """If no principal axis is longer than a step may be; otherwise the step is cut along it."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    H = turn @ np.diag([first, second]) @ turn.T
    here = _quadratic(H, np.array(place))
    step = _newton_step(here, (float(H[0, 1]), float(H[1, 1])))
    if abs(place[0]) <= 1.0 and np.hypot(*place) < LONGEST:
        np.testing.assert_allclose(step, -np.array(place), atol=1e-7)
    assert step @ here.gradient <= 1e-12
    unit = max(1.0, abs(place[0]))
    assert np.hypot(step[0] / unit, step[1]) <= np.sqrt(2.0) * LONGEST * (1 + 1e-12)


def test_a_curvature_that_is_negative_is_taken_as_positive():
    here = _Point(0.5, 0.0, 0.0, np.array([0.3, 0.8]), -2.0)
    np.testing.assert_allclose(_newton_step(here, (0.0, -4.0)), [-0.15, -0.2])


def _quadratic(H, place):
    """½ xᵀ H x at a place."""
    return _Point(*place.tolist(), float(place @ H @ place / 2), H @ place, float(H[0, 0]))


@pytest.mark.parametrize("likelihood", [Probit(1.3, 0.2), MultinomialProbit((0.3, 0.0, -0.4))])
def test_derivatives_are_those_of_the_loss(likelihood):
    y = [0.0, 1.0, 2.0, 1.0, 0.0] if likelihood.name.startswith("m") else [1, -1, -1, 1, 1]
    rows = posterior(likelihood, y)
    one = rows.candidates(np.array([2]))
    coefficient = np.array([0.2, -0.1, 0.3]) if one.at.mean.ndim == 2 else np.array([0.2])
    functions = len(coefficient)

    def at(c, eta):
        steps = Steps(c[:, None] if functions > 1 else c, [eta])
        return rows.total(_derivatives, one, steps)[0]

    eta, h = 0.05, 1e-5
    found = at(coefficient, eta)
    assert len(found) == 2 + 2 * functions
    by_eta = (at(coefficient, eta + h)[0] - at(coefficient, eta - h)[0]) / (2 * h)
    assert found[1] == pytest.approx(by_eta, rel=1e-5)
    for i, side in enumerate(h * np.eye(functions)):
        up, down = at(coefficient + side, eta), at(coefficient - side, eta)
        assert found[2 + i] == pytest.approx((up[0] - down[0]) / (2 * h), rel=1e-5)
        bend = (up[2 + i] - down[2 + i]) / (2 * h)
        assert found[2 + functions + i] == pytest.approx(bend, rel=1e-4)


def test_no_steps_at_all_leave_moment_matching():
    rows = posterior(Probit(), [1, -1, -1, 1, 1])
    candidates = rows.candidates(np.array([1, 4]))
    with pytest.raises(ValueError, match="max_steps"):
        PredictiveLossSites(max_steps=0)
    with pytest.raises(ValueError, match="tolerance"):
        PredictiveLossSites(tolerance=-1e-9)
    patient = PredictiveLossSites(tolerance=0.0).estimate(rows, candidates)
    hasty = PredictiveLossSites(tolerance=1e9).estimate(rows, candidates)
    matched = MomentMatching().estimate(rows, candidates)
    evidence = [
        rows.total(lambda each: each.log_z, candidates, steps)
        for steps in (matched, hasty, patient)
    ]
    assert np.all(evidence[0] < evidence[1])  # one step is taken before its gain is asked for
    assert np.all(evidence[1] < evidence[2])


def test_a_step_where_the_loss_is_flat_is_none():
    flat = _Point(0.0, 0.0, 0.7, np.zeros(2), 0.0)
    np.testing.assert_array_equal(_newton_step(flat, (0.0, 0.0)), [0.0, 0.0])


def test_a_step_is_bounded_in_units_of_its_own():
    """By LONGEST times the size of a along it, and by LONGEST along τ."""
    far = _quadratic(np.diag([1.0, 0.1]), np.array([300.0, 50.0]))
    np.testing.assert_allclose(_newton_step(far, (0.0, 0.1)), [-300.0, -LONGEST])
    steep = _Point(5.0, 0.0, 0.0, np.array([1e6, -1e6]), 1e-3)
    np.testing.assert_allclose(_newton_step(steep, (0.0, 1e-3)), [-5.0 * LONGEST, LONGEST])
    small = _Point(0.1, 0.0, 0.0, np.array([1e6, 0.0]), 1e-3)
    np.testing.assert_allclose(_newton_step(small, (0.0, 1e-3)), [-LONGEST, 0.0])
    assert LONGEST == 2.0


@pytest.mark.parametrize("likelihood", [Probit(), MultinomialProbit((0.0, 0.0, 0.0))])
def test_the_first_place_is_moment_matching(likelihood):
    y = [0.0, 1.0, 2.0, 1.0, 0.0] if likelihood.name.startswith("m") else [1, -1, -1, 1, 1]
    rows = posterior(likelihood, y)
    candidates = rows.candidates(np.array([1, 4]))
    starts = MomentMatching().estimate(rows, candidates)
    for i in range(2):
        coordinates = _Coordinates(candidates, starts, i)
        coefficient, shrinkage = coordinates.step(*coordinates.start)
        assert coordinates.start[0] == 1.0
        np.testing.assert_allclose(coefficient, np.atleast_2d(starts.coefficient)[:, i])
        assert shrinkage == pytest.approx(starts.shrinkage[i])


def test_a_site_that_does_not_move_gets_a_unit_of_its_own():
    """That of the candidate's deviation; one that moves some functions keeps its own."""
    rows = posterior(MultinomialProbit((0.0, 0.0, 0.0)), [0.0, 1.0, 2.0, 1.0, 0.0])
    one = rows.candidates(np.array([2]))
    still = _Coordinates(one, Steps(np.zeros((3, 1)), np.full((3, 1), 0.05)[0]), 0)
    assert still.start[0] == 0.0
    np.testing.assert_allclose(still.step(2.0, 0.0)[0], 2.0 / 3.0)  # the variance is nine
    assert still.step(2.0, 0.0)[1] == pytest.approx(0.5 / 9.0)
    some = _Coordinates(one, Steps(np.array([[0.3], [0.0], [0.0]]), np.array([0.05])), 0)
    np.testing.assert_allclose(some.step(2.0, 0.0)[0], [0.6, 0.0, 0.0])


def _driven(search, point):
    """The places that a search looks at, and what it returns."""
    places, sent = [], None
    while True:
        try:
            place = _inside(*search.send(sent))
        except StopIteration as end:
            return places, end.value
        places.append(place)
        sent = point(np.array(place))


def test_a_step_that_gains_nothing_is_shortened_to_a_fourth_six_times():
    here = _Point(0.0, 0.0, 0.0, np.array([0.5, 0.25]), 1.0)
    places, found = _driven(_lower(here, (0.0, 1.0)), lambda p: here)
    assert found is None
    wanted = [(-0.5 * 4.0**-k, -0.25 * 4.0**-k) for k in range(6)]
    np.testing.assert_allclose(places, wanted)
    lower = _Point(0.0, 0.0, -1e-9, np.zeros(2), 1.0)
    places, found = _driven(_lower(here, (0.0, 1.0)), lambda p: lower)
    assert (len(places), found) == (1, lower)


@pytest.mark.parametrize("tau", [0.0, ODDS[1] - NEARBY, ODDS[1] - NEARBY / 2, ODDS[1], ODDS[0]])
def test_the_bend_is_looked_for_inside(tau):
    H = np.array([[2.0, 0.5], [0.5, 3.0]])
    point = lambda place: _quadratic(H, place)  # noqa: E731
    ((a, near),), bend = _driven(_bend_at(point(np.array([1.0, tau]))), point)
    assert (a, abs(near - tau)) == (1.0, pytest.approx(NEARBY))
    assert ODDS[0] <= near <= ODDS[1]
    np.testing.assert_allclose(bend, [0.5, 3.0], rtol=1e-6)


class _Given:
    """Coordinates whose start is a place, and whose steps are places."""

    given = "given"

    def __init__(self, *start):
        self.start = start

    def step(self, a, tau):
        return a, tau


def test_who_begins_at_the_minimum_looks_once_and_stays():
    """At the start, nearby for the bend, and along one step and its parts; a bend that is fresh is
    not looked for again."""
    point = lambda place: _quadratic(np.eye(2), place)  # noqa: E731
    places, end = _driven(PredictiveLossSites()._search(_Given(0.0, 0.0)), point)
    assert end == "given"
    assert len(places) == 1 + 1 + 6


def test_a_quadratic_takes_one_step_and_a_last_look():
    point = lambda place: _quadratic(np.diag([2.0, 3.0]), place)  # noqa: E731
    places, end = _driven(PredictiveLossSites()._search(_Given(0.5, 0.5)), point)
    np.testing.assert_allclose(end, [0.0, 0.0], atol=1e-6)
    assert len(places) <= 1 + 1 + 2 + 6 + 1 + 6


def test_what_a_step_taught_and_misleads_is_looked_at_again():
    """A loss whose curvature changes along the way: the secant of the first step is of no use."""

    def point(place):
        a, tau = place
        value = a * a / 2 + abs(tau) ** 1.5
        slope = 1.5 * np.sign(tau) * abs(tau) ** 0.5
        return _Point(float(a), float(tau), float(value), np.array([a, slope]), 1.0)

    patient = PredictiveLossSites(max_steps=60, tolerance=0.0)
    places, end = _driven(patient._search(_Given(0.1, 4.0)), point)
    assert abs(end[1]) < 1e-3
    hasty = PredictiveLossSites(max_steps=1, tolerance=0.0)
    few, _ = _driven(hasty._search(_Given(0.1, 4.0)), point)
    assert len(few) < len(places)


def test_an_axis_that_is_nearly_flat_is_as_curved_as_rounding_of_the_other():
    here = _Point(0.0, 0.0, 0.0, np.array([0.5, 1e-9]), 1.0)
    np.testing.assert_allclose(_newton_step(here, (0.0, 0.0)), [-0.5, -0.1])


@pytest.mark.parametrize("tau", [-3.0, 0.4, 2.0])
def test_the_gradient_of_a_place_is_that_of_its_loss(tau):
    rows = posterior(Probit(1.3, 0.2), [1, -1, -1, 1, 1])
    one = rows.candidates(np.array([2]))
    coordinates = _Coordinates(one, MomentMatching().estimate(rows, one), 0)

    def point(a, tau):
        coefficient, shrinkage = coordinates.step(a, tau)
        means = rows.total(_derivatives, one, Steps(coefficient, [shrinkage]))[0]
        return coordinates.point(a, tau, means)

    here, h = point(0.7, tau), 1e-5
    by_a = (point(0.7 + h, tau).value - point(0.7 - h, tau).value) / (2 * h)
    by_tau = (point(0.7, tau + h).value - point(0.7, tau - h).value) / (2 * h)
    np.testing.assert_allclose(here.gradient, [by_a, by_tau], rtol=1e-5)
    twice = (point(0.7 + h, tau).gradient - point(0.7 - h, tau).gradient)[0] / (2 * h)
    assert here.curvature == pytest.approx(twice, rel=1e-4)
