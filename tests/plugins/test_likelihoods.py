"""The laws of the built-in likelihoods, judged by mpmath and by quadrature."""

from __future__ import annotations

import itertools

import attrs
import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit, ndtr

from sgpc_framework.parts.hyperparameters import hyperparameters, replaced, values
from sgpc_framework.protocols import (
    Likelihood,
    LikelihoodPullback,
    LogEvidence,
)
from sgpc_plugins.likelihoods import Logistic, NoisyProbit, Probit, sgpc_likelihoods
from sgpc_plugins.likelihoods.normal_tail import log_cdf, log_cdf_derivatives

law = settings(derandomize=True, deadline=None, max_examples=80)
slow_law = settings(derandomize=True, deadline=None, max_examples=30)

slopes = st.floats(-1.0, 1.0).map(lambda power: 10.0**power)
biases = st.floats(-2.0, 2.0)
labels = st.sampled_from([-1.0, 1.0])
variances = st.floats(-3.0, 4.0).map(lambda power: 10.0**power) | st.just(0.0)
probits = st.builds(Probit, slopes, biases)
noisy_probits = st.builds(NoisyProbit, slopes, biases, st.sampled_from([1e-6, 1e-3, 0.05, 0.4]))
logistics = st.builds(Logistic, slopes, biases)
log_concave = probits | logistics
likelihoods = log_concave | noisy_probits

every_kind = pytest.mark.parametrize(
    "likelihood",
    [Probit(0.7, 0.3), Logistic(1.8, -0.2), NoisyProbit(1.3, 0.1, 0.02)],
    ids=lambda likelihood: likelihood.name,
)


def row(*numbers):
    return tuple(np.array([number]) for number in numbers)


def mean_at(likelihood, y, variance, z):
    """The mean whose distance from the boundary is z standard deviations, slope included."""
    return y * z * np.sqrt(variance + likelihood.slope**-2) - likelihood.bias


def five_point_derivative(function, at, step):
    """Of fourth order: the error of a smooth function is far below the tolerances used here."""
    near = (function(at + step) - function(at - step)) / (2 * step)
    wide = (function(at + 2 * step) - function(at - 2 * step)) / (4 * step)
    return (4 * near - wide) / 3


# ---------------------------------------------------------------------------------------------
# The judges


def exact_probit(likelihood, y, mean, variance, epsilon=0.0):
    """The closed form in sixty digits."""
    with mp.workdps(60):
        width = mp.sqrt(mp.mpf(variance) + 1 / mp.mpf(likelihood.slope) ** 2)
        z = y * (mp.mpf(mean) + mp.mpf(likelihood.bias)) / width
        smaller = epsilon + (1 - 2 * mp.mpf(epsilon)) * mp.erfc(abs(z) / mp.sqrt(2)) / 2
        evidence = smaller if z < 0 else 1 - smaller
        g = (1 - 2 * mp.mpf(epsilon)) * mp.npdf(z) / evidence
        log_z = mp.log(smaller) if z < 0 else mp.log1p(-smaller)
        return float(log_z), float(y * g / width), float(g * (g + z) / width**2)


def quadrature_logistic(m, v):
    """The trapezoidal rule, exponentially accurate: nodes three to a standard deviation and to σ.

    Under the posterior p ∝ σ N, alpha = E[1 - σ] and nu = E[σ (1 - σ)] - Var[σ]: positive sums,
    up to a difference that extended precision pays for.
    """
    s = np.sqrt(v)
    step = min(s, 0.9) / 3
    tilted = np.clip(0.0, m - 3 * v, m + 3 * v)  # where σ³ N or (1 - σ)³ N may have its mode
    f = np.arange(min(m, tilted) - 13 * s, max(m, tilted) + 13 * s, step).astype(np.longdouble)
    up, down = 1 / (1 + np.exp(-f)), 1 / (1 + np.exp(f))
    log_p = np.minimum(f, 0) - np.log1p(np.exp(-np.abs(f))) - (f - m) ** 2 / (2 * v)
    p = np.exp(log_p - log_p.max())
    log_z = log_p.max() + np.log(p.sum() * step / np.sqrt(2 * np.pi * v))
    if m > 0:  # the logarithm of a number near one: go by the other label
        log_z = np.log1p(-np.exp(quadrature_logistic(-m, v)[0]))
    p /= p.sum()
    rare = up if m < 0 else down
    return log_z, p @ down, p @ (up * down) - p @ (rare - p @ rare) ** 2


# ---------------------------------------------------------------------------------------------
# Values


@law
@given(st.floats(-12.0, 12.0))
def test_log_cdf_is_accurate_in_table_and_tails(z):
    exact = exact_probit(Probit(1.0), 1.0, z, 0.0)
    for copies in (1, 100):  # a few rows are computed directly, many are read off the table
        found = np.array(log_cdf_derivatives(np.full(copies, z)))[:, -1]
        assert found == pytest.approx(exact, rel=1e-13, abs=0.0)
        assert log_cdf(np.full(copies, z))[-1] == pytest.approx(found[0], rel=2e-14, abs=0.0)


@law
@given(probits, labels, variances, st.floats(-40.0, 40.0))
def test_probit_moments_are_the_closed_form(likelihood, y, variance, z):
    mean = mean_at(likelihood, y, variance, z)
    found = np.concatenate(likelihood.moments(*row(y, mean, variance)))
    # Beyond z = 37 everything underflows: the absolute tolerance is the guard of nu.
    assert found == pytest.approx(
        exact_probit(likelihood, y, mean, variance), rel=1e-10, abs=2e-300
    )


@law
@given(noisy_probits, labels, variances, st.floats(-40.0, 40.0))
def test_noisy_probit_moments_are_the_closed_form(likelihood, y, variance, z):
    mean = mean_at(likelihood, y, variance, z)
    log_z, alpha, nu = exact_probit(likelihood, y, mean, variance, likelihood.epsilon)
    found = likelihood.moments(*row(y, mean, variance))
    assert found.log_z[0] == pytest.approx(log_z, rel=1e-10, abs=0.0)
    assert found.alpha[0] == pytest.approx(alpha, rel=1e-10, abs=1e-300)
    # nu changes sign, so that its error is measured by the size of its two terms.
    assert found.nu[0] == pytest.approx(nu, rel=1e-10, abs=1e-12 * alpha**2 + 1e-300)


@slow_law
@given(logistics, labels, variances.filter(bool), st.floats(-40.0, 40.0))
def test_logistic_moments_equal_quadrature(likelihood, y, variance, m):
    slope = likelihood.slope
    v = slope**2 * variance
    assume(v <= 1e4)  # the stated range
    mean = y * m / slope - likelihood.bias
    log_z, alpha, nu = quadrature_logistic(slope * y * (mean + likelihood.bias), v)
    found = likelihood.moments(*row(y, mean, variance))
    assert found.log_z[0] == pytest.approx(float(log_z), rel=1e-10, abs=0.0)
    assert found.alpha[0] == pytest.approx(float(slope * y * alpha), rel=1e-10, abs=0.0)
    assert found.nu[0] == pytest.approx(float(slope**2 * nu), rel=1e-10, abs=0.0)


@slow_law
@given(st.sampled_from([0.5, 1.0, 10.0, 100.0, 1e3, 1e4]), st.floats(0.0, 3.0))
def test_logistic_is_accurate_through_the_left_tail(v, ratio):
    """Both series and the seam between them, which is at a = v: ratio = 1."""
    m = -ratio * v
    assume(m >= -700.0 - v / 2)
    log_z, alpha, nu = quadrature_logistic(m, v)
    found = Logistic().moments(*row(1.0, m, v))
    assert found.log_z[0] == pytest.approx(float(log_z), rel=1e-10, abs=0.0)
    assert found.alpha[0] == pytest.approx(float(alpha), rel=1e-10, abs=0.0)
    # nu is a difference of numbers up to v times as large: 2e-10 was the worst seen at v = 1e4.
    assert found.nu[0] == pytest.approx(float(nu), rel=1e-10 + 1e-13 * v, abs=1e-295)


@law
@given(logistics, labels, st.floats(-40.0, 40.0))
def test_logistic_without_variance_is_the_sigmoid(likelihood, y, m):
    mean = y * m / likelihood.slope - likelihood.bias
    m = likelihood.slope * y * (mean + likelihood.bias)
    found = likelihood.moments(*row(y, mean, 0.0))
    assert found.log_z[0] == pytest.approx(-np.logaddexp(0.0, -m), rel=1e-12, abs=0.0)
    assert found.alpha[0] == pytest.approx(likelihood.slope * y * expit(-m), rel=1e-12, abs=0.0)
    assert found.nu[0] == pytest.approx(
        likelihood.slope**2 * expit(m) * expit(-m), rel=1e-10, abs=0.0
    )


@every_kind
@pytest.mark.parametrize(("y", "mean", "variance"), [(1.0, -2.0, 0.5), (-1.0, 0.7, 3.0)])
def test_evidence_is_the_integral_of_what_the_docstring_says(likelihood, y, mean, variance):
    link = expit if isinstance(likelihood, Logistic) else ndtr
    epsilon = getattr(likelihood, "epsilon", 0.0)

    def integrand(f):
        label = epsilon + (1 - 2 * epsilon) * link(likelihood.slope * y * (f + likelihood.bias))
        return label * np.exp(-((f - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)

    reach = 12 * np.sqrt(variance)
    evidence, _ = quad(integrand, mean - reach, mean + reach, epsabs=0, epsrel=1e-12)
    (log_z,) = likelihood.log_z(*row(y, mean, variance))
    assert np.exp(log_z) == pytest.approx(evidence, rel=1e-10, abs=0.0)


# ---------------------------------------------------------------------------------------------
# Laws


@law
@given(likelihoods, variances, st.floats(-50.0, 50.0))
def test_labels_are_normalised(likelihood, variance, mean):
    y, both, spread = np.array([-1.0, 1.0]), np.full(2, mean), np.full(2, variance)
    assert np.exp(likelihood.log_z(y, both, spread)).sum() == pytest.approx(1.0, abs=1e-12)


@law
@given(likelihoods, labels, variances)
def test_finite_and_monotone_to_the_far_ends(likelihood, y, variance):
    distance = np.concatenate([[0.0], np.logspace(-8, 8, 600), [1e30, 1e100]])
    mean = y * np.concatenate([-distance[::-1], distance])
    moments = likelihood.moments(np.full(len(mean), y), mean, np.full(len(mean), variance))
    assert np.isfinite(moments).all()
    # Equal up to rounding counts as nondecreasing.
    assert (np.diff(moments.log_z) >= 1e-14 * moments.log_z[1:]).all()
    assert (y * moments.alpha >= 0.0).all()
    assert (moments.log_z <= 0.0).all()


@law
@given(log_concave, labels, st.floats(-6.0, 8.0) | st.floats(15.0, 17.0))
def test_log_concave_sites_are_proper(likelihood, y, power):
    distance = np.logspace(-8, 40, 300)
    mean = np.concatenate([-distance[::-1], [0.0], distance])
    variance = np.full(len(mean), 10.0**power)
    nu = likelihood.moments(np.full(len(mean), y), mean, variance).nu
    assert (nu > 0.0).all()
    assert (nu * variance > 0.0).all()
    assert (nu * variance < 1.0).all()


@law
@given(noisy_probits, labels, variances, st.floats(-60.0, 60.0))
def test_noisy_probit_leaves_some_variance(likelihood, y, variance, z):
    mean = mean_at(likelihood, y, variance, z)
    assert likelihood.moments(*row(y, mean, variance)).nu[0] * variance < 1.0


def test_noisy_probit_gives_up_on_a_label_far_on_the_wrong_side():
    log_z, alpha, nu = NoisyProbit(epsilon=0.01).moments(*row(1.0, -6.0, 0.5))
    assert log_z[0] == pytest.approx(np.log(0.01), rel=1e-4, abs=0.0)
    assert 0.0 < alpha[0] < 1e-2
    assert nu[0] < 0.0


@law
@given(likelihoods, labels, st.floats(-2.0, 3.0), st.floats(-8.0, 5.0))
def test_moments_are_derivatives_of_log_z(likelihood, y, power, z):
    variance = 10.0**power
    width = np.sqrt(variance + likelihood.slope**-2)
    mean = mean_at(likelihood, y, variance, z)
    _, alpha, nu = (float(moment[0]) for moment in likelihood.moments(*row(y, mean, variance)))

    def log_z(mean, variance):
        return likelihood.log_z(*row(y, mean, variance))[0]

    def slope_at(mean):
        return likelihood.moments(*row(y, mean, variance)).alpha[0]

    by_mean = five_point_derivative(lambda x: log_z(x, variance), mean, 1e-3 * width)
    assert alpha == pytest.approx(by_mean, rel=1e-8, abs=1e-10 / width)
    by_mean = five_point_derivative(slope_at, mean, 1e-3 * width)
    assert nu == pytest.approx(-by_mean, rel=1e-7, abs=1e-10 / width**2)
    # The heat equation.
    by_variance = five_point_derivative(lambda x: log_z(mean, x), variance, 1e-3 * variance)
    assert (alpha**2 - nu) / 2 == pytest.approx(by_variance, rel=1e-6, abs=1e-10 / variance)


@law
@given(likelihoods, st.integers(0, 2**32 - 1))
def test_pullback_equals_differences(likelihood, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size=20)
    mean, variance = rng.normal(scale=3.0, size=20), rng.gamma(1.0, 2.0, size=20)
    cotangent = rng.normal(size=20)
    moments = likelihood.moments(y, mean, variance)
    gradient = likelihood.pullback(y, mean, variance, moments, cotangent)
    natural = values(likelihood)
    assert gradient.shape == natural.shape

    def loss(value, position):
        moved = natural.copy()
        moved[position] = value
        return cotangent @ replaced(likelihood, moved).log_z(y, mean, variance)

    for position, parameter in enumerate(hyperparameters(likelihood)):
        least, most = parameter.bounds
        room = min(parameter.value - least, most - parameter.value)
        if room < 1e-9:  # differences need both sides
            continue
        step = min(1e-3 * max(abs(parameter.value), 1e-3), room / 2)
        difference = five_point_derivative(
            lambda value, position=position: loss(value, position), parameter.value, step
        )
        assert gradient[position] == pytest.approx(difference, rel=1e-6, abs=1e-12 / step)


@law
@given(likelihoods, st.integers(0, 2**32 - 1))
def test_log_z_alone_is_the_log_z_of_the_moments(likelihood, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size=50)
    mean, variance = rng.normal(scale=20.0, size=50), rng.gamma(1.0, 2.0, size=50)
    alone = likelihood.log_z(y, mean, variance)
    # Few rows are computed another way than many: in the right tail scipy is good to 1e-14.
    assert alone == pytest.approx(likelihood.moments(y, mean, variance).log_z, rel=2e-14, abs=0.0)


@every_kind
def test_rows_do_not_depend_on_their_neighbours(likelihood):
    """More rows than a block of any likelihood holds, against a few of them alone."""
    rng = np.random.default_rng(0)
    n = 40_000 if not isinstance(likelihood, Logistic) else 1_500
    y, variance = rng.choice([-1.0, 1.0], size=n), rng.gamma(1.0, 2.0, size=n)
    mean = rng.normal(scale=10.0, size=n)
    some = rng.choice(n, size=200, replace=False)
    whole = np.array(likelihood.moments(y, mean, variance))[:, some]
    alone = np.array(likelihood.moments(y[some], mean[some], variance[some]))
    # A matrix product may round differently for another number of rows.
    assert alone == pytest.approx(whole, rel=1e-11, abs=1e-300)


@every_kind
def test_inputs_stay_as_they_are(likelihood):
    arrays = [np.array([1.0, -1.0]), np.array([0.3, 9.0]), np.array([0.0, 2.0])]
    for array in arrays:
        array.flags.writeable = False
    moments = likelihood.moments(*arrays)
    likelihood.log_z(*arrays)
    assert np.isfinite(likelihood.pullback(*arrays, moments, arrays[0])).all()


@every_kind
def test_no_rows(likelihood):
    none = np.empty(0)
    moments = likelihood.moments(none, none, none)
    assert [moment.shape for moment in moments] == [(0,)] * 3
    assert likelihood.log_z(none, none, none).shape == (0,)
    gradient = likelihood.pullback(none, none, none, moments, none)
    assert gradient.tolist() == [0.0] * len(hyperparameters(likelihood))


# ---------------------------------------------------------------------------------------------
# The contract


def test_every_likelihood_has_every_ability():
    abilities = [Likelihood, LogEvidence, LikelihoodPullback]
    for kind, ability in itertools.product(sgpc_likelihoods(), abilities):
        assert isinstance(kind(), ability)


def test_names_and_hyperparameters():
    found = {kind.name: [h.path for h in hyperparameters(kind())] for kind in sgpc_likelihoods()}
    assert found == {
        "probit": ["slope", "bias"],
        "logistic": ["slope", "bias"],
        "noisy-probit": ["slope", "bias", "epsilon"],
        "multinomial-probit": ["bias[0]", "bias[1]", "bias[2]"],
        "noisy-multinomial-probit": ["bias[0]", "bias[1]", "bias[2]", "epsilon"],
    }


@every_kind
def test_likelihoods_are_values(likelihood):
    assert attrs.evolve(likelihood) == likelihood
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        likelihood.slope = 2.0
    with pytest.raises(ValueError, match="slope must lie in"):
        attrs.evolve(likelihood, slope=0.0)
