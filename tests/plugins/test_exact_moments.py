"""Moments of the likelihoods without a closed form, beside sums in thirty digits, to the tails.

log_z is an integral over the latent value, or over the noise of a label; alpha and nu are ratios of
such integrals. The trapezoidal rule has all digits for what is smooth and dies out at both ends;
mpmath keeps them. The probit and the noisy probit have closed forms: see ``test_likelihoods``.
"""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from sgpc_plugins.likelihoods import (
    Logistic,
    MultinomialProbit,
    NoisyMultinomialProbit,
    NoisyProbit,
    Probit,
    sgpc_likelihoods,
)

DIGITS = 30

CLOSED = {"probit", "noisy-probit"}
SEVERAL = {
    "multinomial-probit": MultinomialProbit((0.2, -0.5, 0.3)),
    "noisy-multinomial-probit": NoisyMultinomialProbit((0.2, -0.5, 0.3), 0.05),
}


def test_no_likelihood_is_forgotten():
    assert {*CLOSED, *SEVERAL, "logistic"} == {kind.name for kind in sgpc_likelihoods()}


# ---------------------------------------------------------------------------------------------
# The logistic: sums over the latent value


def exact(slope, bias, y, mean, variance):
    """log Z, and alpha and nu from mean and variance of f under σ(slope y (f + bias)) N(f)."""
    with mp.workdps(DIGITS):
        m, v, slope = mp.mpf(mean), mp.mpf(variance), mp.mpf(slope)
        s = mp.sqrt(v)
        step = min(s, 1 / slope) / 3  # three to a deviation of N and to a unit of σ
        pull = slope * v  # as far as the mass can be from the mean
        low, high = m - 14 * s - pull, m + 14 * s + pull
        nodes = [low + i * step for i in range(int((high - low) / step) + 1)]
        mass = [
            mp.exp(-((f - m) ** 2) / (2 * v)) / (1 + mp.exp(-slope * y * (f + mp.mpf(bias))))
            for f in nodes
        ]
        total = mp.fsum(mass)
        shift = mp.fdot(mass, [f - m for f in nodes]) / total
        spread = mp.fdot(mass, [(f - m - shift) ** 2 for f in nodes]) / total
        log_z = mp.log(total * step / mp.sqrt(2 * mp.pi * v))
        return float(log_z), float(shift / v), float((1 - spread / v) / v)


@pytest.mark.parametrize("distance", [-30.0, -8.0, -0.7, 0.0, 1.5, 5.0])
@pytest.mark.parametrize(("y", "variance"), [(1.0, 0.04), (-1.0, 2.5), (1.0, 40.0)])
def test_logistic(y, variance, distance):
    likelihood = Logistic(1.8, -0.2)
    mean = y * distance / 1.8 + 0.2
    log_z, alpha, nu = exact(1.8, -0.2, y, mean, variance)
    found = likelihood.moments(*(np.array([number]) for number in (y, mean, variance)))
    assert found.log_z[0] == pytest.approx(log_z, rel=1e-11, abs=0.0)
    assert found.alpha[0] == pytest.approx(alpha, rel=1e-11, abs=0.0)
    assert found.nu[0] == pytest.approx(nu, rel=1e-10, abs=0.0)


# ---------------------------------------------------------------------------------------------
# Several classes: integrals over the noise of the label's own class


def exact_of_several(likelihood, y, mean, variance):
    """log Z, alpha and nu of each class.

    With N(u) Π Φ(u + z_c) differentiated under the integral: by a mean of another class
    N(u + z_c) takes the place of Φ(u + z_c), and then its slope; by the own one u moves, which
    brings u and u² - 1 into the integrand.
    """
    with mp.workdps(DIGITS):
        width = mp.sqrt(1 + mp.mpf(variance))
        f = [mp.mpf(m) + mp.mpf(b) for m, b in zip(mean, likelihood.bias, strict=True)]
        z = {c: (f[y] - f[c]) / width for c in range(len(f)) if c != y}

        step = mp.mpf(1) / 5
        nodes = [-14 + i * step for i in range(int((60 + 14) / step))]
        normal = [step * mp.npdf(u) for u in nodes]
        below = {c: [mp.erfc(-(u + d) / mp.sqrt(2)) / 2 for u in nodes] for c, d in z.items()}

        def integral(weights, special=None):
            terms = [a * b for a, b in zip(normal, weights, strict=True)]
            for c, column in below.items():
                if c != special:
                    terms = [a * b for a, b in zip(terms, column, strict=True)]
            return mp.fsum(terms)

        evidence = integral([1] * len(nodes))
        first = {y: integral(nodes) / width}
        second = {y: integral([u * u - 1 for u in nodes]) / width**2}
        for c, d in z.items():
            moved = [mp.npdf(u + d) for u in nodes]
            first[c] = -integral(moved, c) / width
            bent = [(u + d) * each for u, each in zip(nodes, moved, strict=True)]
            second[c] = -integral(bent, c) / width**2
        noise = mp.mpf(getattr(likelihood, "epsilon", 0.0))
        total = noise / len(f) + (1 - noise) * evidence
        order = range(len(f))
        slopes = [(1 - noise) * first[c] / total for c in order]
        bends = [(1 - noise) * second[c] / total for c in order]
        nu = [slope**2 - bend for slope, bend in zip(slopes, bends, strict=True)]
        return float(mp.log(total)), np.array(slopes, float), np.array(nu, float)


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize(
    ("y", "mean", "variance"),
    [
        (0, (0.3, -0.2, 1.1), 0.7),
        (1, (0.0, 3.0, 1.0), 0.05),
        (2, (4.0, 5.0, -6.0), 0.3),  # five deviations on the wrong side
        (2, (9.0, 5.0, -9.0), 0.3),  # eleven
        (0, (8.0, -8.0, 0.0), 4.0),  # as good as certain
        (1, (30.0, -20.0, 10.0), 20.0),
    ],
)
def test_several_classes(name, y, mean, variance):
    likelihood = SEVERAL[name]
    log_z, alpha, nu = exact_of_several(likelihood, y, mean, variance)
    arrays = np.array([float(y)]), np.array(mean)[:, None], np.array([variance])
    found = likelihood.moments(*arrays)
    # Sixteen nodes: 1e-8 for three classes, more in what is differentiated.
    assert found.log_z[0] == pytest.approx(log_z, rel=1e-8, abs=1e-8)
    assert likelihood.log_z(*arrays)[0] == pytest.approx(log_z, rel=1e-8, abs=1e-8)
    np.testing.assert_allclose(found.alpha[:, 0], alpha, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.nu[:, 0], nu, rtol=1e-5, atol=1e-6)


def test_the_label_that_says_nothing_pulls_back_by_differences():
    likelihood = SEVERAL["noisy-multinomial-probit"]
    rng = np.random.default_rng(0)
    y, variance = rng.integers(3, size=30).astype(float), rng.gamma(1.0, 2.0, size=30)
    mean, cotangent = 2.0 * rng.normal(size=(3, 30)), rng.normal(size=30)
    found = likelihood.pullback(y, mean, variance, likelihood.moments(y, mean, variance), cotangent)

    def total(bias, epsilon):
        return NoisyMultinomialProbit(tuple(bias), epsilon).log_z(y, mean, variance) @ cotangent

    bias, epsilon, step = np.array(likelihood.bias), likelihood.epsilon, 1e-5
    for c, side in enumerate(step * np.eye(3)):
        difference = (total(bias + side, epsilon) - total(bias - side, epsilon)) / (2 * step)
        assert found[c] == pytest.approx(difference, rel=1e-6, abs=1e-7)
    difference = (total(bias, epsilon + step) - total(bias, epsilon - step)) / (2 * step)
    assert found[3] == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize("likelihood", [Probit(), NoisyProbit(epsilon=0.02), *SEVERAL.values()])
def test_many_classes_have_a_form_of_their_own(likelihood):
    many = likelihood.for_classes(5)
    assert many.bias == (0.0,) * 5
    if isinstance(likelihood, NoisyProbit):  # as many labels are wrong: one in 50
        assert many.epsilon == pytest.approx(0.02 * 5 / 4)
        assert NoisyProbit(epsilon=0.4).for_classes(2).epsilon == 0.49  # where its bound is
    if isinstance(likelihood, NoisyMultinomialProbit):
        assert many.epsilon == likelihood.epsilon


@pytest.mark.parametrize("kind", [MultinomialProbit, NoisyMultinomialProbit])
def test_so_many_classes_as_there_are_already(kind):
    given = kind((0.1, 0.2, 0.3))
    assert given.for_classes(3) is given
    with pytest.raises(ValueError, match="a number for each of the classes"):
        kind((1.0,))
