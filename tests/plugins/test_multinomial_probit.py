"""The multinomial probit: its integral, judged by a dense rule and by draws, and its symmetries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp

from sgpc_plugins.likelihoods import MultinomialProbit, Probit, multinomial_probit

RNG = np.random.default_rng(3)


def rows_of(classes, rows=60, scale=2.0):
    """Labels, means and variances, some of them extreme."""
    rng = np.random.default_rng(classes)
    y = rng.integers(0, classes, size=rows).astype(float)
    mean = scale * rng.normal(size=(classes, rows))
    mean[:, : rows // 6] *= 20.0
    return y, mean, rng.uniform(0.0, 3.0, size=rows)


def dense(y, mean, variance):
    """log Z by the trapezoidal rule with so many nodes that nothing is left to be desired."""
    u = np.linspace(-12.0, 30.0, 20_001)
    others = [c for c in range(len(mean)) if c != y]
    z = (mean[y] - np.array([mean[c] for c in others])) / np.sqrt(1.0 + variance)
    log_p = -u * u / 2.0 - np.log(2.0 * np.pi) / 2.0 + log_ndtr(u[:, None] + z).sum(axis=1)
    return logsumexp(log_p) + np.log(u[1] - u[0])


@pytest.mark.parametrize(
    ("y", "mean", "variance"),
    [
        (0, np.array([0.3, -0.2, 1.1]), 0.7),
        (2, np.array([4.0, 5.0, -6.0]), 0.0),
        (1, np.array([-3.0, 8.0, 0.0, 1.0, 1.0, 1.0]), 2.5),
        (3, np.full(10, 0.1), 1.0),
    ],
)
def test_moments_are_those_of_the_integral(y, mean, variance):
    columns = mean[:, None]
    found = MultinomialProbit((0.0,) * len(mean)).moments(
        np.array([float(y)]), columns, np.array([variance])
    )
    here, step = dense(y, mean, variance), 1e-3
    assert found.log_z[0] == pytest.approx(here, abs=1e-6)
    for c in range(len(mean)):
        moved = step * np.eye(len(mean))[c]
        above, below = (dense(y, mean + side * moved, variance) for side in (1.0, -1.0))
        assert found.alpha[c, 0] == pytest.approx((above - below) / (2.0 * step), abs=1e-5)
        second = (above - 2.0 * here + below) / step**2
        assert found.nu[c, 0] == pytest.approx(-second, abs=1e-5)


def test_z_is_how_often_a_class_with_noise_is_the_highest():
    bias = np.array([0.5, -1.0, 0.0, 0.3])
    mean, variance, draws = np.array([0.0, 1.0, -0.5, 0.2]), 0.8, 200_000
    scores = mean + bias + np.sqrt(1.0 + variance) * RNG.normal(size=(draws, 4))
    often = np.bincount(scores.argmax(axis=1), minlength=4) / draws
    log_z = MultinomialProbit(tuple(bias)).log_z(
        np.arange(4.0), np.repeat(mean[:, None], 4, axis=1), np.full(4, variance)
    )
    noise = np.sqrt(often * (1.0 - often) / draws)
    assert np.all(np.abs(np.exp(log_z) - often) < 4.0 * noise)


def test_two_classes_are_a_probit():
    y, mean, variance = rows_of(2)
    both = MultinomialProbit((0.4, -0.3)).moments(y, mean, variance)
    difference = (mean[1] - mean[0]) / np.sqrt(2.0)
    one = Probit(bias=-0.7 / np.sqrt(2.0)).moments(2.0 * y - 1.0, difference, variance)
    np.testing.assert_allclose(both.log_z, one.log_z, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(both.alpha[1], one.alpha / np.sqrt(2.0), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(both.alpha[0], -both.alpha[1], rtol=1e-12)
    np.testing.assert_allclose(both.nu, np.tile(one.nu / 2.0, (2, 1)), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("classes", [3, 10, 26])
def test_classes_have_no_order_and_add_up_to_one(classes):
    y, mean, variance = rows_of(classes)
    bias = RNG.normal(size=classes)
    order = RNG.permutation(classes)
    moments = MultinomialProbit(tuple(bias)).moments(y, mean, variance)
    place = np.argsort(order)
    other = MultinomialProbit(tuple(bias[order])).moments(
        place[y.astype(int)].astype(float), mean[order], variance
    )
    np.testing.assert_allclose(other.log_z, moments.log_z, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(other.alpha, moments.alpha[order], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(other.nu, moments.nu[order], rtol=1e-8, atol=1e-10)
    each = [
        MultinomialProbit(tuple(bias)).log_z(0.0 * y + c, mean, variance) for c in range(classes)
    ]
    np.testing.assert_allclose(np.exp(each).sum(axis=0), 1.0, atol=4e-6)
    np.testing.assert_allclose(moments.alpha.sum(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_the_compiled_loop_does_the_same_arithmetic(classes, monkeypatch):
    pytest.importorskip("numba")
    y, mean, variance = rows_of(classes, rows=200)
    likelihood = MultinomialProbit(tuple(RNG.normal(size=classes)))
    fast, fast_log_z = likelihood.moments(y, mean, variance), likelihood.log_z(y, mean, variance)
    monkeypatch.setattr(multinomial_probit, "compiled", lambda _: None)
    plain = likelihood.moments(y, mean, variance)
    np.testing.assert_allclose(fast_log_z, likelihood.log_z(y, mean, variance), rtol=1e-8)
    for ours, theirs in zip(fast, plain, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("bias", [0.0, (1.0,)])
def test_there_is_a_bias_for_each_class(bias):
    with pytest.raises(ValueError, match="a number for each of the classes"):
        MultinomialProbit(bias)


def test_at_first_no_class_is_ahead():
    assert MultinomialProbit().bias == (0.0, 0.0, 0.0)
    log_z = MultinomialProbit().log_z(np.arange(3.0), np.zeros((3, 3)), np.ones(3))
    np.testing.assert_allclose(log_z, -np.log(3.0), rtol=1e-7)
