"""The refiner's function: a loss of hyperparameters, sites and basis inputs together.

Sites are written in whitened coordinates c. With R = Π^½ and B = I + R K_uu R = L Lᵀ,

    m = R⁻¹ L c        mean(x) = M(x)ᵀ c        M(x) = L⁻¹ R k_u(x)

so that c says what the mean function is in units of its own prior, whatever hyperparameters,
precisions and basis are. Moved at fixed c, they do not upset each other, which is what makes a
quasi-Newton method converge. The loss is that of step 6 plus a penalty,

    NLP_a + weight · KL(q(u) ‖ p(u)) / n,
    KL = ½ (log |B| + tr B⁻¹ - d + |c|² - |L⁻ᵀ c|²)

Step 6's function supplies dLoss/dm and dLoss/dK_uu at fixed m; what c adds is the derivative of a
Cholesky factor, of d³ operations. One evaluation costs what one of step 6 does.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from sgpc_framework import hyperparameters as hyper
from sgpc_framework.additive import cholesky_factor
from sgpc_framework.blame import kernel_values
from sgpc_framework.differentiation import input_pullback
from sgpc_framework.engine.fixed_sites import FixedSites
from sgpc_framework.engine.reestimation import Theta
from sgpc_framework.engine.refinement import Refinable
from sgpc_framework.protocols import RowLoss
from sgpc_framework.rows import Rows

Floats = NDArray[np.float64]


@attrs.frozen
class AllRows:
    """NLP over all rows (eq. 5), as an objective."""

    name: ClassVar[str] = "all-rows"
    over: ClassVar[Literal["all"]] = "all"

    def row_loss(self, rows: Rows) -> RowLoss:
        return RowLoss(-rows.log_z, d_log_z=-1.0)


@attrs.frozen(eq=False)
class JointLoss:
    """NLP_a + weight · KL / n as a function of one vector; ``start`` says of what shape.

    The vector holds the free hyperparameters, log π, c and, if ``moves``, the basis inputs in units
    of ``scale``, one for each feature.
    """

    start: Refinable
    weight: float
    moves: bool = False
    scale: Floats = attrs.field(factory=lambda: np.ones(1))
    kl: bool = True

    def point(self, fitted: Refinable) -> Floats:
        """The vector of a state."""
        theta, sites = Theta(fitted.kernel, fitted.likelihood), fitted.sites
        K = kernel_values(fitted.kernel, sites.basis_inputs, sites.basis_inputs)
        L = cholesky_factor(K, sites.precision)
        whitened = solve_triangular(
            L, np.sqrt(sites.precision) * sites.mean, lower=True, check_finite=False
        )
        pieces = [
            hyper.FreeVector.of(theta).free(hyper.values(theta)),
            np.log(sites.precision),
            whitened,
        ]
        if self.moves:
            pieces.append((sites.basis_inputs / self.scale).ravel())
        return np.concatenate(pieces)

    def _pieces(self, point: Floats):
        d = len(self.start.sites.precision)
        count = len(point) - 2 * d
        if self.moves:
            count -= self.start.sites.basis_inputs.size
        return (
            point[:count],
            point[count : count + d],
            point[count + d : count + 2 * d],
            point[count + 2 * d :],
        )

    def state(self, point: Floats) -> Refinable:
        """The state of a vector."""
        return self._state(point)[0]

    def _state(self, point: Floats):
        free, log_precision, c, Z = self._pieces(point)
        theta = Theta(self.start.kernel, self.start.likelihood)
        theta = hyper.replaced(theta, hyper.FreeVector.of(theta).natural(free))
        sites = self.start.sites
        inputs = Z.reshape(sites.basis_inputs.shape) * self.scale if self.moves else sites.basis_inputs
        precision = np.exp(log_precision)
        K = kernel_values(theta.kernel, inputs, inputs)
        L = cholesky_factor(K, precision)
        mean = (L @ c) / np.sqrt(precision)
        sites = attrs.evolve(sites, precision=precision, mean=mean, basis_inputs=inputs)
        return Refinable(sites, theta.kernel, theta.likelihood), L

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        fitted, L = self._state(point)
        kernel, sites, n = fitted.kernel, fitted.sites, len(fitted.sites.y)
        c = self._pieces(point)[2]
        root = np.sqrt(sites.precision)
        found = sites.slopes(AllRows(), kernel, fitted.likelihood, inputs=self.moves)
        k = self.weight / n
        d_c = L.T @ (found.mean / root)
        Li = solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
        P = np.outer(d_c, c)
        if self.kl:
            u = Li.T @ c
            penalty = 0.5 * (2 * np.log(np.diag(L)).sum() + np.sum(Li**2) - len(c) + c @ c - u @ u)
            P -= k * (Li - np.outer(c, u)) @ Li.T
            P[np.diag_indices_from(P)] += k
            d_c = d_c + k * (c - Li @ u)
        else:
            penalty = 0.5 * c @ c
            d_c = d_c + k * c
        P = np.tril(P)
        P[np.diag_indices_from(P)] *= 0.5
        d_B = 0.5 * Li.T @ (P + P.T) @ Li
        gram = found.gram + root[:, None] * d_B * root
        d_log_precision = (
            -0.5 * found.mean * sites.mean
            - np.diag(found.gram) / sites.precision
            + np.sum(d_B * (root[:, None] * found.K_uu * root), axis=1)
        )
        theta = Theta(kernel, fitted.likelihood)
        natural = np.concatenate([found.kernel + found.pull_gram(gram), found.likelihood])
        d_theta = hyper.FreeVector.of(theta).chain(hyper.values(theta), natural)
        pieces = [d_theta, d_log_precision, d_c]
        if self.moves:
            Z = sites.basis_inputs
            pieces.append(((found.inputs + input_pullback(kernel, Z, Z, gram + gram.T)) * self.scale).ravel())
        return found.value + k * penalty, np.concatenate(pieces)
