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
    _bend_between,
    _derivatives,
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
