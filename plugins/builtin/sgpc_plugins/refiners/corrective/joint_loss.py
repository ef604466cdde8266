"""The refiner's function: a loss of hyperparameters, sites and basis inputs together.

Sites are written in whitened coordinates c. With R = Π^½ and B = I + R K_uu R = L Lᵀ,

    m = R⁻¹ L c        mean(x) = M(x)ᵀ c        M(x) = L⁻¹ R k_u(x)

so that c says what the mean function is in units of its own prior, whatever the hyperparameters,
precisions and basis inputs are. Moved at fixed c, these do not upset the mean, which is what makes
a quasi-Newton method converge in dozens of steps. The loss is that of eq. (5) and a penalty, the
information that the sites took from the data:

    NLP_a + weight · KL(q(u) ‖ p(u)) / n,     KL = ½ (log |B| + tr B⁻¹ - d + |c|² - |L⁻ᵀ c|²)

or, with a share of the evidence lower bound, ``MixedLoss`` in the place of NLP_a. ``slopes``
supplies its derivatives at fixed m; what c and the penalty add are derivatives of a Cholesky
factor, of d³ operations. One evaluation costs what one of step 6 does, and with such a share a
fourth to a half more. Several latent functions share R and L, and each has its own c: KL adds up.
"""

from __future__ import annotations

from typing import NamedTuple

import attrs
import numpy as np

from sgpc_framework.authors import (
    Factor,
    Floats,
    FreeVector,
    RowMean,
    State,
    TrainingRows,
    factorised,
    in_hyperparameters,
    linearised_in_inputs,
    mean_over_rows,
    replaced,
    slopes,
    values,
)
from sgpc_plugins.refiners.corrective.mixed_loss import MixedLoss

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

    The loss of the rows is NLP_a, with a share (``elbo_share``) of the expected loss. With
    ``moves`` the basis inputs are part of the vector, in units of ``scale``: one number, or one for
    each feature. The kernel must then have ``KernelInputPullback``.
    """

    start: State
    rows: TrainingRows
    weight: float
    elbo_share: float = 0.0
    moves: bool = attrs.field(default=False, kw_only=True)
    scale: Floats | float = attrs.field(default=1.0, kw_only=True)
    _box: FreeVector = attrs.field(init=False)
    _loss: MixedLoss = attrs.field(init=False)

    @_loss.default
    def _of_rows(self) -> MixedLoss:
        return MixedLoss(self.elbo_share)

    @_box.default
    def _free_hyperparameters(self) -> FreeVector:
        return FreeVector.of(self.start)

    def on(self, rows: TrainingRows) -> JointLoss:
        """The same function seen through some of the rows: the penalty is that of all of them."""
        share = rows.total_weight / self.rows.total_weight
        return attrs.evolve(self, rows=rows, weight=share * self.weight)

    def point(self, state: State) -> Floats:
        """The vector of a state: ``state(point(s))`` is ``s``."""
        pieces = Pieces(
            self._box.free(values(state)),
            np.log(state.precision) / PRECISION_UNIT,
            _whitened(state, _factor(state, state.gram())).ravel(),
            (state.inputs / self.scale).ravel() if self.moves else np.empty(0),
        )
        return np.concatenate(pieces)

    def pieces(self, point: Floats) -> Pieces:
        """The parts of a vector."""
        sizes = len(self._box.transforms), self.start.precision.size, self.start.mean.size
        return Pieces(*np.split(point, np.cumsum(sizes)))

    def state(self, point: Floats) -> State:
        """The state that a vector describes."""
        pieces = self.pieces(point)
        moved = self._moved(pieces)
        return _with_mean(moved, _factor(moved, moved.gram()), pieces.whitened)

    def value(self, state: State) -> float:
        """The loss of any state on the rows."""
        factor = _factor(state, state.gram())
        penalty = _information(_whitened(state, factor), factor)[0]
        loss = mean_over_rows(lambda rows: self._loss(rows).value, state, self.rows)
        return loss + self.weight * penalty / self.rows.total_weight

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """The loss and its gradient."""
        pieces = self.pieces(point)
        moved = self._moved(pieces)
        Z = moved.inputs
        K, pullbacks = (linearised_in_inputs if self.moves else in_hyperparameters)(
            moved.kernel, Z, Z
        )
        factor = _factor(moved, K)
        state = _with_mean(moved, factor, pieces.whitened)
        precision, mean = state.precision, state.mean
        by = slopes(RowMean(self._loss), state, self.rows, factor.form(precision, mean), self.moves)
        share = self.weight / self.rows.total_weight

        root, c = np.sqrt(precision), pieces.whitened.reshape(-1, len(precision))
        by_mean = by.mean.reshape(c.shape)
        # m = R⁻¹ L c depends on c directly, and through L on all that B depends on.
        d_c = (by_mean / root) @ factor.L
        penalty, penalty_c, penalty_L = _information(c, factor)
        d_B = _before_cholesky(d_c.T @ c + share * penalty_L, factor.inverse)
        d_precision = (
            -np.diag(by.gram) / precision  # Π⁻¹ stands beside K_uu
            - 0.5 * np.sum(by_mean * mean, axis=0)  # R⁻¹ in m
            + np.sum(d_B * (root[:, None] * K * root), axis=1)  # R in B, twice
        )
        d_K = by.gram + root[:, None] * d_B * root
        d_K += d_K.T  # a basis vector is an argument of a row and of a column of K
        d_theta, d_inputs = pullbacks(d_K)
        natural = np.concatenate([by.kernel + 0.5 * d_theta, by.likelihood])
        gradient = Pieces(
            self._box.chain(values(state), natural),
            PRECISION_UNIT * d_precision,
            (d_c + share * penalty_c).ravel(),
            ((by.inputs + d_inputs) * self.scale).ravel() if self.moves else np.empty(0),
        )
        return by.value + share * penalty, np.concatenate(gradient)

    def _moved(self, pieces: Pieces) -> State:
        """The start with all of a vector but c."""
        start = replaced(self.start, self._box.natural(pieces.theta))
        log_precision = PRECISION_UNIT * pieces.log_precision
        precision = np.exp(log_precision)
        if not self.moves:
            return attrs.evolve(start, precision=precision)
        inputs = pieces.inputs.reshape(start.inputs.shape) * self.scale
        return attrs.evolve(start, precision=precision, inputs=inputs)


def _information(c: Floats, factor: Factor) -> tuple[float, Floats, Floats]:
    """KL(q(u) ‖ p(u)), its derivative by c, and Lᵀ times that by L (its lower triangle counts).

    ``c`` has a row for each latent function; KL is the sum over them.
    """
    inverse = factor.inverse
    functions, size = c.shape
    u = c @ inverse
    log_det = 2.0 * np.sum(np.log(np.diag(factor.L)))
    each = functions * (log_det + np.sum(inverse**2) - size)
    value = 0.5 * float(each + np.sum(c**2) - np.sum(u**2))
    by_L = functions * np.eye(size) - (functions * inverse - c.T @ u) @ inverse.T
    return value, c - u @ inverse.T, by_L


def _before_cholesky(slopes: Floats, inverse: Floats) -> Floats:
    """dLoss/dB from Lᵀ dLoss/dL, where B = L Lᵀ; ``inverse`` is L⁻¹."""
    half = np.tril(slopes)
    half.flat[:: len(half) + 1] *= 0.5  # the diagonal
    d_B: Floats = 0.5 * inverse.T @ (half + half.T) @ inverse
    return d_B


def _factor(state: State, K: Floats) -> Factor:
    return factorised(K, state.precision)


def _whitened(state: State, factor: Factor) -> Floats:
    """c = L⁻¹ R m, a row for each latent function."""
    return np.atleast_2d(np.sqrt(state.precision) * state.mean) @ factor.inverse.T


def _with_mean(state: State, factor: Factor, whitened: Floats) -> State:
    """The state with site means m = R⁻¹ L c."""
    mean = (whitened.reshape(-1, len(state)) @ factor.L.T).reshape(state.mean.shape)
    return attrs.evolve(state, mean=mean / np.sqrt(state.precision))
