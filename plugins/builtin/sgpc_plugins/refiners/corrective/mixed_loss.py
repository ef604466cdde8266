"""What a refiner minimises over the rows: a mean of two losses.

    predictive   -log ∫ p(y|f) N(f; mean, variance) df     what the prediction loses (eq. 5)
    expected     -∫ log p(y|f) N(f; mean, variance) df     what a function drawn from it loses

The second is never less than the first, because the logarithm is concave (Jensen), and with the
relative entropy to the prior it is the negative evidence lower bound of variational inference. The
first alone fits a model that is too small for its data better: doubt may stand for what it cannot
follow. But doubt also hides that parameters were fitted to noise. The second does not let it.
"""

from __future__ import annotations

import attrs
import numpy as np

from sgpc_framework.authors import Floats, RowLoss, Rows, likelihood_gradient

NODES = 6
"""Values of f for each row at which the likelihood is evaluated for the expected loss. More of them
did not change what was learnt (8, 12 and 20 were tried). The loss is good to three digits where the
likelihood changes little over a deviation of f, and to one where it is all but a step."""

FLAT = 1e-8
"""Where the mean of |nu| * variance is less, log p is a parabola as far as f spreads."""


@attrs.frozen
class MixedLoss:
    """(1 - elbo_share) · predictive + elbo_share · expected, a loss of each row.

    The expectation is a sum over the nodes t and weights w of Gauss-Hermite quadrature,

        ∫ log p(y|f) N(f; mean, variance) df ≈ Σ_k w_k log p(y | mean + t_k √variance),

    and its derivatives are those of the sum. With several latent functions it would be an integral
    over all of them, and the predictive loss stands alone. A likelihood's log_z at variance zero is
    log p(y|f): every likelihood can be asked.
    """

    elbo_share: float = 0.0

    def __call__(self, rows: Rows) -> RowLoss:
        if self.elbo_share == 0.0 or rows.mean.ndim > 1:
            return RowLoss(-rows.log_z, d_log_z=-1.0)
        expected = _expected(rows, self.elbo_share)
        value = (self.elbo_share - 1.0) * rows.log_z + expected.value
        return expected._replace(value=value, d_log_z=self.elbo_share - 1.0)


def _expected(rows: Rows, share: float) -> RowLoss:
    """A share of the expected loss."""
    deviation = np.sqrt(rows.variance)
    f = rows.mean + _NODES[:, None] * deviation
    at = Rows(
        np.tile(rows.y, NODES),
        f.reshape(-1),
        np.zeros(f.size),
        np.tile(rows.active, NODES),
        rows.likelihood,
    )
    log_p, slope, bend = (moment.reshape(f.shape) for moment in at.moments)
    weights = share * _WEIGHTS
    d_variance = 0.5 * (weights @ bend)
    wide = (weights @ np.abs(bend)) * rows.variance > share * FLAT
    along = (-0.5 * weights * _NODES) @ slope  # the same in the limit, where this loses its digits
    np.divide(along, deviation, out=d_variance, where=wide)

    def pullback(counts: Floats) -> Floats:
        cotangent = np.outer(-weights, counts).reshape(-1)
        return likelihood_gradient(rows.likelihood, at, cotangent)

    return RowLoss(
        -(weights @ log_p), d_mean=-(weights @ slope), d_variance=d_variance, pullback=pullback
    )


def _quadrature() -> tuple[Floats, Floats]:
    """Nodes and weights for the standard normal distribution."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return nodes, weights / np.sqrt(2.0 * np.pi)


_NODES, _WEIGHTS = _quadrature()
