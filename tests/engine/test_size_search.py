"""``max_basis = "auto"``: a size that held-out rows chose, and the reasons in the trace."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.engine.size_search import (
    BETTER,
    LEAST,
    MOST,
    SHARE,
    USUAL,
    _Trials,
    sizes_to_try,
    sketch_of,
)
from sgpc_framework.rows.holding_out import FEWEST
from sgpc_framework.testing.strategies import problems

REFINED = {"refiner": "corrective", "objective": "none", "max_basis": "auto"}


def linear(rows, seed=0):
    """One straight boundary, with noise around it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    return X, np.where(X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=rows) > 0.0, 1, 0)


def waves(rows, seed=0):
    """Several islands of each class, about as hard as Banana."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(rows, 2))
    latent = np.sin(3.0 * X[:, 0]) + np.sin(2.0 * X[:, 1]) + 0.3 * rng.normal(size=rows)
    return X, np.where(latent > 0.0, 1, 0)


def noise(rows, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 3)), rng.integers(0, 2, size=rows)


@pytest.fixture(scope="module")
def hard():
    return sgpc.build(REFINED).fit(*waves(400))


def test_an_easy_problem_takes_few_and_a_hard_one_more(hard):
    easy = [len(sgpc.build(REFINED).fit(*linear(300, seed))) for seed in range(3)]
    assert np.median(easy) <= 20, easy  # 180 rows judge, and are sometimes misled
    assert len(hard) >= 40


@pytest.mark.parametrize("seed", range(3))
def test_labels_that_nothing_predicts_take_no_more_than_usual(seed):
    design = sgpc.build(max_basis="auto", max_iterations=2, objective="nlp", seed=seed)
    assert len(design.fit(*noise(400, seed))) <= USUAL


def test_the_trace_tells_why(hard):
    records = {record.size: record for record in hard.trace.sizes}
    assert list(records) == sorted(records)
    assert {*records} <= {*sizes_to_try(400)}
    best = min(record.held_out_loss for record in records.values())
    chosen = records[len(hard)]
    assert chosen.held_out_loss - best <= BETTER * chosen.noise
    assert all((r.noise == 0.0) == (r.held_out_loss == best) for r in records.values())
    note = hard.trace.notes[-1]
    assert note.startswith(f'max_basis "auto" chose {len(hard)}: 240 of 400 rows were held out')


def test_trials_are_sketches(hard):
    refiner = sgpc.build(REFINED).config.refiner
    sketch = refiner.sketch()
    assert (sketch.penalty, sketch.kernels, sketch.batches) == (1.0, (), 0)
    assert attrs.evolve(refiner, penalty=0.5).sketch().penalty == 0.5
    config = sketch_of(sgpc.build(REFINED, max_iterations=7, sizes=[3]).config)
    assert (config.refiner, config.max_iterations, config.sizes) == (sketch, 2, ())
    unable = sgpc.build(REFINED, refiner="prune").config
    assert sketch_of(unable).refiner is unable.refiner


def test_the_chosen_size_is_then_fitted_to_all_rows(hard):
    X, y = waves(400)
    fixed = sgpc.build(REFINED, max_basis=len(hard)).fit(X, y)
    np.testing.assert_array_equal(hard.predict_proba(X), fixed.predict_proba(X))
    (known,) = fixed.trace.sizes
    (record,) = (record for record in hard.trace.sizes if record.size == len(hard))
    assert record.predictive_loss == known.predictive_loss


def test_it_goes_together_with_sizes():
    quick = {"name": "corrective", "penalty": 1.0, "iterations": 5}
    model = sgpc.build(REFINED, refiner=quick, sizes=[2, 300]).fit(*linear(100))
    assert model.sizes == (2, len(model))
    small, *tried = model.trace.sizes
    assert (small.size, small.held_out_loss, small.noise) == (2, None, None)
    assert all(record.held_out_loss is not None for record in tried)


def test_few_rows_take_the_least_with_a_note():
    X, y = linear(FEWEST - 1)
    model = sgpc.build(max_basis="auto", max_iterations=1).fit(X, y)
    assert len(model) == LEAST
    assert model.trace.sizes == ()
    assert model.trace.notes[-1] == (
        'max_basis "auto" chose 5: with fewer than 20 different rows none can be held out to judge'
    )
    assert len(sgpc.build(max_basis="auto", max_iterations=1).fit(X[:3], [0, 1, 1])) == 3


@attrs.frozen
class FirstFeature:
    """Linear in the first feature: where that is zero, nothing varies."""

    name: ClassVar[str] = "first-feature"

    def __call__(self, X, Z):
        return np.outer(X[:, 0], Z[:, 0])

    def diag(self, X):
        return X[:, 0] ** 2


def test_stages_that_end_early_end_the_search():
    X, y = linear(200)
    X[4:, 0] = 0.0
    model = sgpc.build(kernel=FirstFeature(), max_basis="auto", objective="none").fit(X, y)
    assert 1 <= len(model) <= 4
    assert all(tried.size <= 4 for tried in model.trace.sizes)


@attrs.frozen
class Overlap:
    """k(s, t) = how many letters are equal, place by place, out of eight."""

    name: ClassVar[str] = "overlap"

    def __call__(self, X, Z):
        return np.array([[sum(map(str.__eq__, s, t)) / 8 for t in Z] for s in X], float)

    def diag(self, X):
        return np.ones(len(X))


def test_strings():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab"), 8)) for _ in range(60)]
    labels = [word.count("a") > 4 for word in words]
    design = sgpc.build(kernel=Overlap(), max_basis="auto", objective="none")
    model = design.fit(words, labels)
    assert model.trace.sizes
    assert np.mean(model.predict(words) == labels) > 0.7


def test_progress_has_a_number_to_go_to():
    seen = []
    X, y = datasets.twonorm(60, seed=1)
    model = sgpc.build(max_basis="auto", max_iterations=1).fit(X, y, progress=seen.append)
    assert all(1 <= at.basis <= at.max_basis for at in seen)
    tried = {record.size for record in model.trace.sizes}
    ends = [at.max_basis for at in seen if at.basis == at.max_basis]
    assert {*ends} == tried
    assert ends[-1] == len(model)


@given(problems(min_rows=15, max_rows=40), st.integers(0, 5))
def test_same_seed_same_size_and_never_above_the_ladder(problem, seed):
    design = sgpc.build(max_basis="auto", objective="none", seed=seed)
    first, second = (design.fit(problem.X, problem.y) for _ in range(2))
    assert first.trace.sizes == second.trace.sizes
    np.testing.assert_array_equal(first.predict_proba(problem.X), second.predict_proba(problem.X))
    assert len(first) <= max(sizes_to_try(len(problem.y)))
    sizes = [record.size for record in first.trace.sizes]
    assert sizes == sorted(set(sizes))


@given(st.integers(1, 10**6))
def test_sizes_double_up_to_a_share_of_the_rows(rows):
    sizes, most = sizes_to_try(rows), min(MOST, rows // SHARE)
    assert sizes == [LEAST * 2**i for i in range(len(sizes))]
    assert len(sizes) == 1 or sizes[-1] <= most
    assert 2 * sizes[-1] > most


class Scripted(_Trials):
    """Sizes whose losses are known; a size is better, or no worse, by these alone."""

    def __init__(self, losses, spent=()):
        self.losses, self.spent = losses, spent
        self.asked = []
        self.stopped = False

    def _try(self, size):
        self.asked.append(size)

    def _no_worse(self, small, large):
        return self.losses[small] <= self.losses[large]

    def _better(self, large, small):
        return self.losses[large] < self.losses[small]

    def _out_of_variance(self, size):
        return size in self.spent


@pytest.mark.parametrize(
    ("losses", "best", "asked"),
    [
        ({5: 9, 10: 8, 20: 7, 40: 6, 80: 5, 160: 4, 320: 3}, 320, [80, 40, 160, 320]),
        ({5: 9, 10: 8, 20: 7, 40: 6, 80: 5, 160: 6, 320: 3}, 80, [80, 40, 160]),
        ({5: 9, 10: 8, 20: 5, 40: 5, 80: 5, 160: 4, 320: 3}, 20, [80, 40, 20, 10]),
        ({5: 5, 10: 5, 20: 5, 40: 5}, 5, [40, 20, 10, 5]),
        ({5: 5, 10: 4}, 10, [10, 5]),
        ({5: 5}, 5, [5]),
    ],
)
def test_the_usual_size_first_then_up_or_down(losses, best, asked):
    trials = Scripted(losses)
    assert trials.best_of([*losses]) == best
    assert trials.asked == asked


def test_no_larger_size_where_nothing_is_left_to_explain():
    trials = Scripted({40: 6, 80: 5, 160: 4}, spent=(80,))
    assert trials.best_of([40, 80, 160]) == 80
    assert trials.asked == [80, 40]
