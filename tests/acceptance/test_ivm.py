"""The framework against the informative vector machine as the paper prints it (eqs. 1 to 3).

The reference below keeps L and M, as the paper does, and shares nothing with the framework.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import sgpc_framework as sgpc
from sgpc_framework import datasets


def paper_ivm(K, y, slope, bias, stages):
    """Algorithm 1's inner loop with entropy selection and ADF; yields the state of every stage."""
    n = len(y)
    mean, variance = np.zeros(n), np.diag(K).copy()
    L, M = np.zeros((0, 0)), np.zeros((0, n))
    active, precisions, means = [], [], []
    for _ in range(stages):
        scale = 1.0 + slope**2 * variance
        z = slope * y * (mean + bias) / np.sqrt(scale)
        alpha = slope * y * norm.pdf(z) / norm.cdf(z) / np.sqrt(scale)
        nu = alpha * (alpha + slope**2 * (mean + bias) / scale)
        entropy = np.log(1.0 - nu * variance)
        entropy[active] = np.inf
        j = int(np.argmin(entropy))
        p = nu[j] / (1.0 - variance[j] * nu[j])
        m = mean[j] + alpha[j] / nu[j]
        column = np.sqrt(p) * M[:, j]
        corner = np.sqrt(1.0 + p * K[j, j] - column @ column)
        mu = (np.sqrt(p) * K[:, j] - M.T @ column) / corner
        mean = mean + alpha[j] * corner / np.sqrt(p) * mu
        variance = variance - mu**2
        L = np.block([[L, np.zeros((len(L), 1))], [column[None], np.array([[corner]])]])
        M = np.vstack([M, mu])
        active.append(j)
        precisions.append(p)
        means.append(m)
        yield active, precisions, means, mean, variance


@pytest.mark.parametrize("kernel", ["squared-exponential", "matern-52", "rational-quadratic"])
@pytest.mark.parametrize(("slope", "bias"), [(1.0, 0.0), (1.7, -0.4), (0.6, 0.3)])
@pytest.mark.parametrize("generate", [datasets.waveform, datasets.ringnorm])
def test_every_stage_agrees(generate, slope, bias, kernel):
    X, y = generate(300, seed=11)
    design = sgpc.build(
        kernel=kernel,
        likelihood={"name": "probit", "slope": slope, "bias": bias},
        selector="entropy",
        objective="none",
        max_basis=60,
    )
    model = design.fit(X, y)
    reference = paper_ivm(model.kernel(X, X), y, slope, bias, 60)
    for stage, (active, precision, mean, f, variance) in enumerate(reference, start=1):
        part = model.truncated(stage)
        assert part.basis.tolist() == active
        np.testing.assert_allclose(part.sites.precision, precision, rtol=1e-9)
        np.testing.assert_allclose(part.sites.mean, mean, rtol=1e-9)
        ours = part.predict_latent(X)
        np.testing.assert_allclose(ours[0], f, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours[1], variance, rtol=1e-9, atol=1e-9)
