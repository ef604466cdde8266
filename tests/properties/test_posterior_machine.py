"""A posterior under any sequence of what can be done with it, with the dense oracle beside it."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from sgpc_framework.algebra.sites import Steps
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.oracle import dense_posterior
from sgpc_plugins.kernels import Linear, Matern32, Polynomial, SquaredExponential
from sgpc_plugins.likelihoods import Probit

KERNELS = (
    SquaredExponential(variance=4.0, lengthscale=0.7),
    Matern32(variance=0.3, lengthscale=2.0),
    Linear() + Matern32(lengthscale=0.2),
    Polynomial(lengthscale=1.0, degree=2),
)
TOLERANCE = 1e-8
"""Of the prior's scale, as in the laws of any sequence of inclusions."""

shares = st.floats(0.01, 0.99)
coefficients = st.floats(-2.0, 2.0)
seeds = st.integers(0, 2**32)


def value(rows):
    """Sums that tell where mean and variance went: neither is the other, nor alike in all rows."""
    return np.stack([rows.mean * (1 + rows.index), rows.variance * (1 + rows.index)])


class PosteriorMachine(RuleBasedStateMachine):
    """Include, try, draw, look and replay, in any order."""

    @initialize(
        kernel=st.sampled_from(KERNELS),
        count=st.integers(2, 12),
        block_rows=st.sampled_from([1, 3, 5, 100]),
        twins=st.booleans(),
        seed=seeds,
    )
    def begin(self, kernel, count, block_rows, twins, seed):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(count, 2))
        if twins:  # a row that another one explains has nothing left to give
            self.X[-1] = self.X[0]
        self.y = np.where(rng.random(count) < 0.5, -1.0, 1.0)
        self.kernel, self.block_rows = kernel, block_rows
        self.posterior = self.fresh()
        self.prior = kernel.diag(self.X)
        self.seen = self.posterior.marginals()[1].copy()
        self.steps: list[tuple[np.ndarray, int, Steps]] = []

    def fresh(self):
        rows = TrainingRows.of(self.X, self.y, self.block_rows)
        return rows.posterior(self.kernel, Probit(), len(self.y))

    def candidates(self, seed, count):
        """Some rows that can be included, in any order; none twice."""
        eligible = np.flatnonzero(self.posterior.eligible())
        chosen = np.random.default_rng(seed).permutation(eligible)[:count]
        return self.posterior.candidates(chosen)

    def steps_of(self, candidates, coefficient, share):
        variance = candidates.at.variance
        each = np.linspace(0.5, 1.0, len(candidates))
        return Steps(coefficient * each / np.sqrt(variance), share * each / variance)

    def dense(self, sites=None, basis=None):
        sites = self.posterior.sites if sites is None else sites
        basis = np.array(self.posterior.basis if basis is None else basis, dtype=np.intp)
        return dense_posterior(self.kernel, self.X, basis, sites.precision, sites.mean)

    @property
    def unfinished(self):
        return not self.posterior.exhausted

    # -- what can be done ----------------------------------------------------------------------

    @precondition(lambda self: self.unfinished)
    @rule(seed=seeds, count=st.integers(1, 4), coefficient=coefficients, share=shares)
    def include(self, seed, count, coefficient, share):
        candidates = self.candidates(seed, count)
        position = seed % len(candidates)
        step = self.steps_of(candidates, coefficient, share)[position]
        before, row = self.posterior.size, int(candidates.index[position])
        self.steps.append((candidates.index.copy(), position, step))
        self.posterior.include(candidates, position, step)
        assert self.posterior.basis[before:] == [row]
        assert not self.posterior.eligible()[row], "no row is included twice"

    @precondition(lambda self: self.unfinished)
    @rule(seed=seeds, count=st.integers(1, 4), coefficient=coefficients, share=shares)
    def try_some(self, seed, count, coefficient, share):
        """A trial has the sums of the dense posterior with that site, and changes nothing."""
        before = [each.copy() for each in self.posterior.marginals()]
        candidates = self.candidates(seed, count)
        steps = self.steps_of(candidates, coefficient, share)
        found = self.posterior.total(value, candidates, steps)
        sites, weight = self.posterior.sites, 1.0 + np.arange(len(self.y))
        for position, row in enumerate(candidates.index):
            eta, alpha = steps.shrinkage[position], steps.coefficient[position]
            at = candidates.at
            extended = type(sites)(
                np.append(sites.precision, eta / (1.0 - eta * at.variance[position])),
                np.append(sites.mean, at.mean[position] + alpha / eta),
                sites.coefficient,
                sites.shrinkage,
            )
            wanted = self.dense(extended, [*self.posterior.basis, row])
            sums = [weight @ wanted.mean, weight @ wanted.variance]
            scale = weight.sum() * (np.abs(wanted.mean).max() + self.prior.max() + 1.0)
            np.testing.assert_allclose(found[position], sums, rtol=0, atol=4 * TOLERANCE * scale)
        for ours, theirs in zip(self.posterior.marginals(), before, strict=True):
            np.testing.assert_array_equal(ours, theirs)

    @rule(seed=seeds, size=st.integers(1, 5), some=st.booleans())
    def draw(self, seed, size, some):
        def weight(rows):
            return np.where(rows.y > 0, rows.variance, 0.0) if some else np.ones(len(rows))

        eligible = self.posterior.eligible()
        drawn = self.posterior.sample(weight, size, np.random.default_rng(seed))
        assert len(set(drawn.tolist())) == len(drawn) == min(size, eligible.sum())
        assert eligible[drawn].all()
        again = self.posterior.sample(weight, size, np.random.default_rng(seed))
        assert again.tolist() == drawn.tolist()

    @precondition(lambda self: self.unfinished)
    @rule()
    def look_for_the_least(self):
        mean, _ = self.posterior.marginals()
        eligible = np.flatnonzero(self.posterior.eligible())
        wanted = eligible[np.argmin(mean[eligible])]
        assert self.posterior.argmin(lambda rows: rows.mean) == wanted

    @rule()
    def replay(self):
        """The same inclusions make the same posterior again, to the bit."""
        again = self.fresh()
        for index, position, step in self.steps:
            again.include(again.candidates(index), position, step)
        for ours, theirs in zip(self.posterior.marginals(), again.marginals(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert again.basis == self.posterior.basis
        np.testing.assert_array_equal(again.sites.precision, self.posterior.sites.precision)
        np.testing.assert_array_equal(again.sites.mean, self.posterior.sites.mean)

    # -- what holds after each -----------------------------------------------------------------

    @invariant()
    def it_equals_dense_algebra(self):
        if not hasattr(self, "posterior"):
            return
        mean, variance = self.posterior.marginals()
        dense = self.dense()
        scale = np.abs(dense.mean).max() + np.sqrt(self.prior.max())
        np.testing.assert_allclose(mean, dense.mean, rtol=0, atol=2 * TOLERANCE * scale)
        limit = 2 * TOLERANCE * self.prior.max()
        np.testing.assert_allclose(variance, dense.variance, rtol=0, atol=limit)

    @invariant()
    def variance_never_increases_and_never_goes_below_zero(self):
        if not hasattr(self, "posterior"):
            return
        variance = self.posterior.marginals()[1]
        assert np.all((variance >= 0.0) & (variance <= self.seen))
        self.seen = variance.copy()

    @invariant()
    def rows_left_are_those_that_are_eligible(self):
        if not hasattr(self, "posterior"):
            return
        eligible = self.posterior.eligible()
        assert self.posterior.exhausted == (not eligible.any())
        assert not eligible[self.posterior.basis].any()


PosteriorMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=12)
TestPosteriorMachine = PosteriorMachine.TestCase
