"""The refiner's function: a loss of hyperparameters, sites and basis inputs together.

Sites are written in whitened coordinates c. With R = Π^½ and B = I + R K_uu R = L Lᵀ,

    m = R⁻¹ L c        mean(x) = M(x)ᵀ c        M(x) = L⁻¹ R k_u(x)

so that c says what the mean function is in units of its own prior, whatever the hyperparameters,
precisions and basis inputs are. Moved at fixed c, these do not upset the mean, which is what makes
a quasi-Newton method converge in dozens of steps. The loss is that of eq. (5) and a penalty, the
information that the sites took from the data:

    NLP_a + weight · KL(q(u) ‖ p(u)) / n,     KL = ½ (log |B| + tr B⁻¹ - d + |c|² - |L⁻ᵀ c|²)

or, with some caution, the loss of ``row_losses`` in the place of NLP_a. ``FixedSites.slopes``
supplies its derivatives at fixed m; what c and the penalty add are derivatives of a Cholesky
factor, of d³ operations. One evaluation costs what one of step 6 does, and with caution a fourth to
a half more.
"""

from __future__ import annotations

from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from sgpc_framework.algebra.additive import Factor, factorised
from sgpc_framework.engine.refinement import Refinable
from sgpc_framework.engine.row_losses import MixedLoss
from sgpc_framework.engine.step6 import Theta
from sgpc_framework.parts import hyperparameters as hyper
from sgpc_framework.parts.calls import kernel_values
from sgpc_framework.parts.derivatives import in_hyperparameters, linearised_in_inputs

Floats = NDArray[np.float64]

PRECISION_UNIT = 3.0
"""The logarithm of a precision is measured in so many, because a model hardly feels a change of
one: a quasi-Newton method then needs half the iterations."""


class Pieces(NamedTuple):
    """A vector of the joint loss, taken apart (or the gradient: one part for each)."""

    theta: Floats
    """The hyperparameters in free coordinates: the kernel's, then the likelihood's."""

    log_precision: Floats
    """In units of ``PRECISION_UNIT``."""

    whitened: Floats
    """c, with m = R⁻¹ L c."""

    inputs: Floats
    """The basis inputs in units of ``scale``, row after row; empty if they stay."""


@attrs.frozen(eq=False)
class JointLoss:
    """Loss of the rows + weight · KL / n as a function of one vector: that of a refined ``start``.

    The loss of the rows is NLP_a, with a share of ``caution`` for the expected loss. With ``moves``
    the basis inputs are part of the vector, in units of ``scale``: one number, or one for each
    feature. The kernel must then have ``KernelInputPullback``.
    """

    start: Refinable
    weight: float
    caution: float = 0.0
    moves: bool = attrs.field(default=False, kw_only=True)
    scale: Floats | float = attrs.field(default=1.0, kw_only=True)
    _box: hyper.FreeVector = attrs.field(init=False)

    _loss: MixedLoss = attrs.field(init=False)

    @_loss.default
    def _of_rows(self) -> MixedLoss:
        return MixedLoss(self.caution)

    @_box.default
    def _free_hyperparameters(self) -> hyper.FreeVector:
        return hyper.FreeVector.of(Theta(self.start.kernel, self.start.likelihood))

    def point(self, fitted: Refinable) -> Floats:
        """The vector of a state: ``state(point(fitted))`` is ``fitted``."""
        sites = fitted.sites
        factor = factorised(_gram(fitted), sites.precision)
        pieces = Pieces(
            self._box.free(hyper.values(Theta(fitted.kernel, fitted.likelihood))),
            np.log(sites.precision) / PRECISION_UNIT,
            _whitened(fitted, factor),
            (sites.basis_inputs / self.scale).ravel() if self.moves else np.empty(0),
        )
        return np.concatenate(pieces)

    def pieces(self, point: Floats) -> Pieces:
        """The parts of a vector."""
        d, count = len(self.start.sites.mean), len(self._box.transforms)
        return Pieces(*np.split(point, [count, count + d, count + 2 * d]))

    def state(self, point: Floats) -> Refinable:
        """The state that a vector describes."""
        pieces = self.pieces(point)
        moved = self._moved(pieces)
        factor = factorised(_gram(moved), moved.sites.precision)
        return _with_mean(moved, factor, pieces.whitened)

    def value(self, fitted: Refinable) -> float:
        """The loss of any state on the rows it holds."""
        sites = fitted.sites
        factor = factorised(_gram(fitted), sites.precision)
        penalty, _, _ = _information(_whitened(fitted, factor), factor)
        sums = sites.predicted(
            fitted.kernel,
            fitted.likelihood,
            lambda rows: float(np.sum(self._loss.row_loss(rows).value)),
        )
        return (sum(sums) + self.weight * penalty) / len(sites.y)

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """The loss and its gradient."""
        pieces = self.pieces(point)
        moved = self._moved(pieces)
        Z, precision, c = moved.sites.basis_inputs, moved.sites.precision, pieces.whitened
        K, pullbacks = (linearised_in_inputs if self.moves else in_hyperparameters)(
            moved.kernel, Z, Z
        )
        factor = factorised(K, precision)
        fitted = _with_mean(moved, factor, c)
        form = factor.form(precision, fitted.sites.mean)
        found = fitted.sites.slopes(self._loss, fitted.kernel, fitted.likelihood, form, self.moves)
        share = self.weight / len(fitted.sites.y)
        root = np.sqrt(precision)

        # m = R⁻¹ L c depends on c directly, and through L on all that B depends on.
        d_c = factor.L.T @ (found.mean / root)
        penalty, penalty_c, penalty_L = _information(c, factor)
        d_B = _before_cholesky(np.outer(d_c, c) + share * penalty_L, factor.inverse)
        d_K = found.gram + root[:, None] * d_B * root
        d_K += d_K.T  # a basis vector is an argument of a row and of a column of K
        d_theta, d_inputs = pullbacks(d_K)
        natural = np.concatenate([found.kernel + 0.5 * d_theta, found.likelihood])
        gradient = Pieces(
            self._box.chain(hyper.values(Theta(fitted.kernel, fitted.likelihood)), natural),
            PRECISION_UNIT
            * (
                -np.diag(found.gram) / precision  # Π⁻¹ stands beside K_uu
                - 0.5 * found.mean * fitted.sites.mean  # R⁻¹ in m
                + np.sum(d_B * (root[:, None] * K * root), axis=1)  # R in B, twice
            ),
            d_c + share * penalty_c,
            ((found.inputs + d_inputs) * self.scale).ravel() if self.moves else np.empty(0),
        )
        return found.value + share * penalty, np.concatenate(gradient)

    def _moved(self, pieces: Pieces) -> Refinable:
        """The start with all of a vector but c."""
        theta, sites = Theta(self.start.kernel, self.start.likelihood), self.start.sites
        theta = hyper.replaced(theta, self._box.natural(pieces.theta))
        sites = attrs.evolve(sites, precision=np.exp(PRECISION_UNIT * pieces.log_precision))
        if self.moves:
            inputs = pieces.inputs.reshape(sites.basis_inputs.shape) * self.scale
            sites = attrs.evolve(sites, basis_inputs=inputs)
        return Refinable(sites, theta.kernel, theta.likelihood)


def _information(c: Floats, factor: Factor) -> tuple[float, Floats, Floats]:
    """KL(q(u) ‖ p(u)), its derivative by c, and Lᵀ times that by L (its lower triangle counts)."""
    inverse = factor.inverse
    u = inverse.T @ c
    log_det = 2.0 * np.sum(np.log(np.diag(factor.L)))
    value = 0.5 * float(log_det + np.sum(inverse**2) - len(c) + c @ c - u @ u)
    by_L = np.eye(len(c)) - (inverse - np.outer(c, u)) @ inverse.T
    return value, c - inverse @ u, by_L


def _before_cholesky(slopes: Floats, inverse: Floats) -> Floats:
    """dLoss/dB from Lᵀ dLoss/dL, where B = L Lᵀ; ``inverse`` is L⁻¹."""
    half = np.tril(slopes)
    half.flat[:: len(half) + 1] *= 0.5  # the diagonal
    d_B: Floats = 0.5 * inverse.T @ (half + half.T) @ inverse
    return d_B


def _whitened(fitted: Refinable, factor: Factor) -> Floats:
    """c = L⁻¹ R m."""
    c: Floats = factor.inverse @ (np.sqrt(fitted.sites.precision) * fitted.sites.mean)
    return c


def _with_mean(fitted: Refinable, factor: Factor, c: Floats) -> Refinable:
    """The state with site means m = R⁻¹ L c."""
    mean = (factor.L @ c) / np.sqrt(fitted.sites.precision)
    return attrs.evolve(fitted, sites=attrs.evolve(fitted.sites, mean=mean))


def _gram(fitted: Refinable) -> Floats:
    Z = fitted.sites.basis_inputs
    return kernel_values(fitted.kernel, Z, Z)
