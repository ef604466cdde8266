"""Slopes of a mean over rows equal central differences, one by one: quick, and in every part."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from sgpc_framework.algebra.additive import additive_form
from sgpc_framework.engine import slopes as engine
from sgpc_framework.engine.slopes import RowMean, mean_over_rows, slopes
from sgpc_framework.parts.hyperparameters import replaced, values
from sgpc_framework.protocols import RowLoss
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_plugins.kernels import Matern52
from sgpc_plugins.likelihoods import MultinomialProbit, NoisyProbit

STEP = 1e-5
rng = np.random.default_rng(5)
X = rng.normal(size=(17, 2))
TWO = np.where(X[:, 0] + 0.5 * rng.normal(size=17) > 0.0, 1.0, -1.0)
THREE = rng.integers(0, 3, size=17).astype(np.float64)
WEIGHT = rng.gamma(2.0, size=17)
BASIS = np.array([3, 11, 6])


def problem(functions: int, weight=None, block_rows=1000) -> tuple[State, TrainingRows]:
    several = functions > 1
    likelihood = (
        MultinomialProbit((0.2, -0.1, 0.0)) if several else NoisyProbit(1.3, 0.2, epsilon=0.05)
    )
    mean = rng.normal(size=(functions, 3) if several else 3)
    kernel = Matern52(variance=1.7, lengthscale=(0.8, 1.9))
    state = State(kernel, likelihood, BASIS, X[BASIS], np.array([0.7, 2.0, 1.1]), mean)
    return state, TrainingRows.of(X, THREE if several else TWO, block_rows, weight=weight)


def expected(rows) -> RowLoss:
    """A loss of everything: log Z, mean and variance."""
    mean, variance = np.atleast_2d(rows.mean), rows.variance
    by_mean = 2.0 * rows.mean
    value = -rows.log_z + np.sum(mean**2, axis=0) + 3.0 * variance
    return RowLoss(value, np.full(len(rows), -1.0), by_mean, np.full(len(rows), 3.0))


def difference(value, at):
    """Central differences of a function of an array."""
    found = np.empty_like(at)
    for place in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[place] = STEP
        found[place] = (value(at + step) - value(at - step)) / (2.0 * STEP)
    return found


@pytest.mark.parametrize("functions", [1, 3])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighed"])
@pytest.mark.parametrize("block_rows", [1000, 5])
def test_equal_differences(functions, weight, block_rows, monkeypatch):
    state, rows = problem(functions, weight, block_rows)
    if block_rows == 5:
        monkeypatch.setattr(engine, "LEAST_ROWS", 2)
        monkeypatch.setattr(engine, "CACHED", 1)

    def value(**changes) -> float:
        return mean_over_rows(
            lambda view: expected(view).value, attrs.evolve(state, **changes), rows
        )

    found = slopes(RowMean(expected), state, rows, inputs=True)
    assert found.value == pytest.approx(value(), rel=1e-12)
    np.testing.assert_allclose(
        found.mean, difference(lambda mean: value(mean=mean), state.mean), rtol=1e-6, atol=1e-9
    )

    # The kernel acts between basis and rows, and within the basis through ``gram``.
    def by_gram(gram) -> float:
        form = additive_form(gram, state.precision, state.mean)
        total = rows.sum(engine._row_sum, state, lambda view: expected(view).value, form)
        return total / rows.total_weight

    gram = difference(lambda K: by_gram((K + K.T) / 2.0), state.gram())
    np.testing.assert_allclose((found.gram + found.gram.T) / 2.0, gram, rtol=1e-5, atol=1e-8)

    def with_form(**changes) -> float:
        form, other = state.form(), attrs.evolve(state, **changes)
        total = rows.sum(engine._row_sum, other, lambda view: expected(view).value, form)
        return total / rows.total_weight

    np.testing.assert_allclose(
        found.kernel,
        difference(lambda v: with_form(kernel=replaced(state.kernel, v)), values(state.kernel)),
        rtol=1e-5,
        atol=1e-8,
    )
    np.testing.assert_allclose(
        found.likelihood,
        difference(
            lambda v: with_form(likelihood=replaced(state.likelihood, v)), values(state.likelihood)
        ),
        rtol=1e-5,
        atol=1e-8,
    )
    np.testing.assert_allclose(
        found.inputs,
        difference(lambda Z: with_form(inputs=Z), state.inputs),
        rtol=1e-5,
        atol=1e-8,
    )


def test_inputs_are_not_moved_unless_asked():
    state, rows = problem(1)
    assert slopes(RowMean(expected), state, rows).inputs.size == 0


def test_rows_of_the_basis_do_not_judge_if_there_are_enough_others():
    state, rows = problem(1)
    others = np.setdiff1d(np.arange(17), BASIS)
    found = slopes(RowMean(expected, "inactive"), state, rows)
    alone = slopes(RowMean(expected), state, TrainingRows.of(X[others], TWO[others]))
    for ours, theirs in zip(found, alone, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_a_megabyte_at_a_time():
    state, _ = problem(1)
    assert engine._rows_at_a_time(state) == engine.CACHED // 3
    assert engine._rows_at_a_time(state[:0]) == engine.CACHED
    many = attrs.evolve(
        state, basis=np.arange(2000), inputs=np.zeros((2000, 2)),
        precision=np.ones(2000), mean=np.ones(2000),
    )  # fmt: skip
    assert engine._rows_at_a_time(many) == engine.LEAST_ROWS
