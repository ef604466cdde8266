"""What is special about each objective: its value, by textbook algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from sgpc_framework.engine.trial import Trial
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_plugins.kernels import SquaredExponential
from sgpc_plugins.likelihoods import MultinomialProbit, Probit
from sgpc_plugins.objectives import MarginalLikelihood, Nlp, PredictiveLoss

KERNEL = SquaredExponential(variance=2.0, lengthscale=1.5)


@given(st.integers(1, 6), st.integers(0, 2**32), st.sampled_from([1, 3]))
def test_marginal_likelihood_is_the_density_of_the_site_means(size, seed, functions):
    """-log N(m; 0, K + Π⁻¹), added up over the latent functions; the start has no prior to pay."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 2))
    likelihood = Probit() if functions == 1 else MultinomialProbit((0.0,) * functions)
    y = np.resize([-1.0, 1.0], 8) if functions == 1 else np.arange(8.0) % 3
    precision, mean = rng.gamma(2.0, size=size), rng.standard_normal((functions, size))
    if functions == 1:
        mean = mean[0]
    state = State(KERNEL, likelihood, np.arange(size), X[:size], precision, mean)
    found = MarginalLikelihood().loss(Trial(state, TrainingRows.of(X, y), state))
    C = KERNEL(X[:size], X[:size]) + np.diag(1.0 / precision)
    density = multivariate_normal(np.zeros(size), C)
    wanted = -sum(density.logpdf(each) for each in np.atleast_2d(mean))
    assert found.value == pytest.approx(wanted, rel=1e-9)
    assert not found.comparable


@pytest.mark.parametrize("kind", [Nlp, PredictiveLoss])
def test_options(kind):
    assert kind(subset=0) == kind()
    assert kind(subset=7).subset == 7
    with pytest.raises(ValueError, match="subset"):
        kind(subset=-1)
    for objective in (kind, MarginalLikelihood):
        with pytest.raises(ValueError, match="prior_width"):
            objective(prior_width=0.0)
