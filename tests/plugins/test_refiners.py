"""The corrective refiner: better models, chosen with care, on any kind of data."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.config.config import Config
from sgpc_framework.errors import ConfigError, InputError, NumericalWarning
from sgpc_framework.parts.hyperparameters import Hyperparameter, hyperparameters, values
from sgpc_framework.rows.holding_out import FEWEST, HeldOut
from sgpc_framework.rows.state import State
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing import run_checks
from sgpc_plugins.kernels import Constant, Linear, Matern32, SquaredExponential, Sum, Warped
from sgpc_plugins.likelihoods import NoisyProbit, Probit
from sgpc_plugins.refiners import Corrective
from sgpc_plugins.refiners.corrective import challengers, choosing
from sgpc_plugins.refiners.corrective.choosing import SAMPLE, SKETCH, choose
from sgpc_plugins.refiners.corrective.corrective import ITERATIONS
from sgpc_plugins.refiners.corrective.many_rows import refine_by_batches
from sgpc_plugins.refiners.corrective.relevance_prior import RelevancePrior
from sgpc_plugins.refiners.corrective.search import Effort, Search

ARD = {"name": "squared-exponential", "lengthscale": "median-per-feature"}


def nlp(model, X, y):
    own = model.predict_proba(X)[np.arange(len(y)), (y > 0).astype(int)]
    return -np.mean(np.log(own))


def fitted_to(X, y, d=6, kernel=None):
    kernel = kernel or SquaredExponential(lengthscale=2.0)
    state = State(kernel, Probit(), np.arange(d), X[:d], np.full(d, 0.5), y[:d])
    return state, TrainingRows.of(X, y, 1000)


def refined(refiner, start, rows, seed=0):
    return refiner.refine(start, rows, np.random.default_rng(seed), lambda _: True)


@pytest.mark.parametrize(
    "refiner",  # with the defaults it is checked where all built-in parts are
    [
        Corrective(move_basis=False, penalty=0.1),
        Corrective(move_basis=True, penalty=100.0, iterations=3),
    ],
)
def test_conforms(refiner):
    failed = [result for result in run_checks(refiner) if not result.ok]
    assert not failed


@pytest.mark.parametrize("name", ["waveform", "twonorm", "ringnorm"])
def test_is_much_better_than_the_stages_alone(name):
    X, y = getattr(datasets, name)(2600, seed=2)
    options = {"kernel": ARD, "objective": "none", "max_basis": 15}
    plain = sgpc.build(options).fit(X[:600], y[:600])
    refined = sgpc.build(options, refiner="corrective").fit(X[:600], y[:600])
    assert nlp(refined, X[600:], y[600:]) < 0.75 * nlp(plain, X[600:], y[600:])


@pytest.mark.parametrize(("rows", "most"), [(30, 0.85), (120, 0.75)])
def test_does_not_learn_noise_by_heart(rows, most):
    """Labels that nothing predicts. A coin has 0.69; without a penalty it is above 2."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(rows + 1000, 5)), np.sign(rng.normal(size=rows + 1000))
    model = sgpc.build(kernel=ARD, objective="none", refiner="corrective", max_basis=20).fit(
        X[:rows], y[:rows]
    )
    assert nlp(model, X[rows:], y[rows:]) < most


@pytest.mark.parametrize(
    "spoil",
    {
        "one row twice": lambda X: np.repeat(X[:1], len(X), axis=0),
        "few kinds of rows": lambda X: np.round(X / 3.0),
        "a constant feature": lambda X: np.column_stack([X, np.full(len(X), 7.0)]),
        "huge numbers": lambda X: 1e6 * X + 1e8,
        "many features": lambda X: np.tile(X, (1, 10)),
    }.values(),
)
def test_awkward_data(spoil):
    X, y = datasets.waveform(80, seed=3)
    X = spoil(X)
    model = sgpc.build(kernel=ARD, objective="none", refiner="corrective", max_basis=10).fit(X, y)
    assert np.all(np.isfinite(model.predict_proba(X)))
    assert nlp(model, X, y) < 0.75


def test_basis_vectors_stay_unless_they_may_move():
    X, y = datasets.waveform(150, seed=4)
    start, rows = fitted_to(X, y)
    for refiner in (Corrective(move_basis=False), Corrective()):
        end = refined(refiner, start, rows).state
        moved = not np.array_equal(end.inputs, X[:6])
        assert moved == (refiner.move_basis == "auto")
        assert not np.array_equal(values(end.kernel), values(start.kernel))
        np.testing.assert_array_equal(rows.inputs(np.arange(150)), X)
        np.testing.assert_array_equal(end.basis, start.basis)


def test_basis_vectors_stay_where_there_are_more_features_than_rows():
    X, y = datasets.waveform(30, seed=4)
    wide = np.tile(X, (1, 2))  # 42 features
    start, rows = fitted_to(wide, y)
    for refiner in (Corrective(iterations=3), Corrective(move_basis=True, iterations=3)):
        end = refined(refiner, start, rows).state
        moved = not np.array_equal(end.inputs, wide[:6])
        assert moved == (refiner.move_basis is True)


@attrs.frozen
class Bare:
    """A kernel on vectors with nothing but values."""

    name = "bare"

    def __call__(self, X, Z):
        return SquaredExponential(lengthscale=3.0)(X, Z)

    def diag(self, X):
        return np.ones(len(X))


@pytest.mark.parametrize("kernel", [Bare(), Sum(terms=(Bare(), Constant()))])
def test_a_kernel_that_cannot_move_its_inputs(kernel):
    X, y = datasets.waveform(60, seed=4)
    start, rows = fitted_to(X, y, kernel=kernel)
    with pytest.raises(
        InputError, match=f"move_basis = true wants .* found kernel '{kernel.name}'"
    ):
        refined(Corrective(move_basis=True), start, rows)
    refiner = Corrective(penalty=1.0)
    end = refined(refiner, start, rows).state
    np.testing.assert_array_equal(end.inputs, X[:6])
    assert refiner.loss(end, rows) < refiner.loss(start, rows)


@attrs.frozen
class Indefinite(Bare):
    """Not a covariance."""

    name = "indefinite"

    def __call__(self, X, Z):
        return 1.0 - np.sum((X[:, None] - Z) ** 2, axis=2)


def test_a_kernel_that_is_none_leaves_the_model_of_the_stages():
    X, y = datasets.waveform(60, seed=4)
    start, rows = fitted_to(X, y, kernel=Indefinite())
    with pytest.warns(NumericalWarning, match="was not refined: .*not positive semidefinite"):
        left = refined(Corrective(), start, rows)
    assert left.state is start
    assert "was not refined" in left.notes[0]


def test_options_are_checked():
    for options in (
        {"penalty": 0.0},
        {"penalty": "none"},
        {"elbo_share": 1.5},
        {"elbo_share": -0.1},
        {"caution": 1.5},
        {"move_basis": 1},
        {"iterations": 0},
    ):
        with pytest.raises(ConfigError, match=next(iter(options))):
            Config.from_mapping({"refiner": {"name": "corrective", **options}})
        with pytest.raises((TypeError, ValueError), match=next(iter(options))):
            Corrective(**options)


def test_the_old_name_of_elbo_share_still_works_and_warns():
    with pytest.warns(DeprecationWarning, match="is called 'elbo_share' now"):
        old = Corrective(caution=0.7, penalty=1.0, iterations=3)
    X, y = datasets.waveform(60, seed=4)
    start, rows = fitted_to(X, y)
    new = Corrective(elbo_share=0.7, penalty=1.0, iterations=3)
    assert old.loss(start, rows) == new.loss(start, rows)
    ends = [refined(refiner, start, rows).state for refiner in (old, new)]
    np.testing.assert_array_equal(*(end.mean for end in ends))


def test_equal_rows_stay_on_one_side():
    X = np.repeat(np.random.default_rng(0).normal(size=(100, 2)), 3, axis=0)
    held_out = HeldOut(TrainingRows.of(X, np.ones(300)), np.random.default_rng(1))
    for turn in range(held_out.turns):
        trial, judges = held_out.split(turn)
        assert len(np.intersect1d(trial, judges)) == 0
        assert len(trial) + len(judges) == len(X)
        assert not set(map(bytes, X[trial])) & set(map(bytes, X[judges]))


def test_how_many_rows_try_and_judge():
    def sizes(X, judges=100):
        rows = TrainingRows.of(X, np.resize([-1.0, 1.0], len(X)))
        splits = HeldOut(rows, np.random.default_rng(0), SAMPLE, SKETCH).splits(judges)
        return [(len(split.rows), len(split.judges)) for split in splits]

    def numbers(n):
        return np.arange(float(n))[:, None]

    assert sizes(numbers(FEWEST - 1)) == []
    assert sizes(numbers(100)) == [(80, 20)] * 5
    assert sizes(numbers(4000)) == [(3200, 800)]
    assert sizes(numbers(4000), judges=2000) == [(3200, 800)] * 3
    assert sizes(numbers(50_000)) == [(SKETCH, SKETCH)]
    assert len(sizes(np.array([f"row {i}" for i in range(40)]))) == 5


def test_prior_lets_lists_move_together():
    kernel = SquaredExponential(variance=1.0, lengthscale=(1.0, 2.0, 3.0))
    prior = RelevancePrior.over(hyperparameters(kernel), width=0.5)
    together, apart = np.array([0.0, 1.0, 1.0, 1.0]), np.array([0.0, 2.0, -1.0, -1.0])
    assert prior(together)[0] == pytest.approx(0.5 * 1.0 / 1.0**2)
    assert prior(apart)[0] == pytest.approx(0.5 * 6.0 / 0.5**2)
    for point in (together, apart, np.array([0.3, -0.2, 0.9, 0.1])):
        numbers = [(prior(point + h)[0] - prior(point - h)[0]) / 2e-6 for h in 1e-6 * np.eye(4)]
        np.testing.assert_allclose(prior(point)[1], numbers, atol=1e-6)
    assert prior.has_lists
    np.testing.assert_allclose(prior.together(np.array([5.0, 1.0, 2.0, 6.0])), [5.0, 3.0, 3.0, 3.0])
    assert not RelevancePrior.over(hyperparameters(SquaredExponential()), width=0.5).has_lists


@pytest.mark.parametrize(("count", "width"), [(3, 2.0), (36, 2.0), (144, 1.0), (576, 0.5)])
def test_of_many_locations_each_is_expected_to_move_less(count, width):
    locations = [
        Hyperparameter("mixing", 0.0, (-9.0, 9.0), "identity", position)
        for position in range(count)
    ]
    value, slope = RelevancePrior.over((*locations,), width=0.5)(np.full(count, 0.3))
    assert value == pytest.approx(count * 0.5 * (0.3 / (0.5 * width)) ** 2)
    np.testing.assert_allclose(slope, 0.3 / (0.5 * width) ** 2)


def relevances(X, y):
    """The lengthscales of a refined model in units of those it started from."""
    model = sgpc.build("accurate", kernel=ARD, max_basis=8).fit(X, y)
    start = sgpc.build(kernel=ARD, objective="none", max_basis=8).fit(X, y)
    ratios = np.divide(model.kernel.lengthscale, start.kernel.lengthscale)
    return ratios, model.trace.notes[-1]


def test_features_are_tied_where_nothing_is_learnt():
    rng = np.random.default_rng(0)
    ratios, note = relevances(rng.normal(size=(200, 6)), np.sign(rng.normal(size=200)))
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)
    assert "features tied" in note


def test_features_differ_where_some_are_irrelevant():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = np.where(np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=400) > 0.0, 1.0, -1.0)
    ratios, note = relevances(X, y)
    assert np.min(ratios[1:]) > 3.0 * ratios[0]
    assert "features tied" not in note


def friedman(rows, seed):
    """Five relevant features of ten; the third acts by its square alone."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 10))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    f += 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=rows)
    return X, np.where(f > np.median(f), 1.0, -1.0)


def test_no_lengthscale_of_a_relevant_feature_runs_away():
    X, y = friedman(5000, seed=3)
    model = sgpc.build("accurate", max_basis=20).fit(X[:2500], y[:2500])
    assert nlp(model, X[2500:], y[2500:]) < 0.17  # without the third feature 0.26


def around(start, rows, moves=True, **weights):
    search = Search.around(start, rows, moves, 1.0, 0.3, lambda _: True, lambda _, run: run())
    return attrs.evolve(search, **{"elbo_share": 0.25, **weights})


def chosen(X, y, ways, rng, d=6, further=0):
    start, rows = fitted_to(X, y, d)
    return choose(around(start, rows), start, ways, rows, 100, further, rng)


WAYS = [
    challengers.safest(),
    challengers.other_elbo_share(0.0),
    challengers.half_the_penalty(1.0),
    challengers.half_the_penalty(0.5),
]


def test_noise_earns_no_boldness():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), np.sign(rng.normal(size=200))
    choice = chosen(X, y, WAYS, rng)
    assert (choice.search.penalty, choice.search.elbo_share, choice.search.tied) == (1.0, 1.0, True)
    assert [trial.name for trial in choice.trials if trial.won] == ["the safest way"]


def test_clean_data_earn_it():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 2))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1.0, -1.0)
    choice = chosen(X, y, WAYS[1:], rng, d=12)
    assert choice.search.penalty * choice.search.elbo_share < 0.25


def test_going_on_is_given_up_where_it_learns_noise_by_heart():
    """With next to no penalty, many basis vectors that move follow every label."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 8))
    y = np.where(X[:, 0] + 1.5 * rng.normal(size=300) > 0.0, 1.0, -1.0)
    start, rows = fitted_to(X, y, 30)
    search = around(start, rows, penalty=0.01, elbo_share=0.0)
    choice = choose(search, start, [], rows, 100, 100, rng)
    assert [(trial.name, trial.won) for trial in choice.trials] == [("going on", False)]
    assert not choice.goes_on


def test_going_on_pays_where_there_is_more_to_learn():
    X, y = friedman(1200, seed=0)
    choice = chosen(X, y, [], np.random.default_rng(0), d=20, further=100)
    assert choice.goes_on
    assert choice.trials[-1].gain > 0.0


@pytest.mark.parametrize("pays", [True, False])
def test_a_run_that_does_not_pay_is_short(monkeypatch, pays):
    start, rows = fitted_to(*datasets.waveform(300, seed=1), 6)
    monkeypatch.setattr(choosing, "CONTRADICTED", -np.inf if pays else np.inf)
    last_run = set()

    def tell(event):
        if event.doing.startswith("penalty"):
            last_run.add(event.steps)
        return True

    Corrective().refine(start, rows, np.random.default_rng(0), tell)
    assert last_run == {ITERATIONS if pays else choosing.SHORT}


def test_labels_that_were_flipped_are_seen_to_be():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 2))
    flipped = rng.random(1500) < 0.15
    y = np.where((X[:, 0] > 0.0) ^ flipped, 1.0, -1.0)
    ways = challengers.other_likelihoods([NoisyProbit()], X)
    assert chosen(X, y, ways, rng).search.start.likelihood.name == "noisy-probit"


def test_a_challenger_keeps_what_the_champion_has_learnt():
    X, y = datasets.waveform(60, seed=4)
    kernel = SquaredExponential(variance=3.0, lengthscale=tuple(range(1, 22)))
    state, rows = fitted_to(X, y, kernel=kernel)
    search = around(state, rows)
    (other,) = challengers.other_kernels([Matern32(lengthscale="median-per-feature")], X)
    (more,) = challengers.more_terms([Linear(variance=0.25)], X)
    taken = challengers.adapted(state, other.change(search)).kernel
    assert taken == Matern32(variance=3.0, lengthscale=tuple(range(1, 22)))
    summed = challengers.adapted(state, more.change(search)).kernel
    assert summed == kernel + Linear(variance=0.25)
    (same,) = challengers.other_kernels([SquaredExponential(variance=2.0)], X)
    assert same.change(search) is None


def long_tails(rows, seed=0):
    """What matters is spread over seven powers of ten."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=(rows, 2))
    y = np.where(np.sin(2.0 * size[:, 0]) + size[:, 1] > 0.3 * rng.normal(size=rows), 1.0, -1.0)
    return np.exp(2.0 * size), y


def test_a_term_joins_a_sum():
    """A sum with one term more is of the same class, and has other numbers."""
    X, y = datasets.twonorm(400, seed=3)
    design = {
        "kernel": {"name": "sum", "terms": ["constant", "linear"]},
        "refiner": {"name": "corrective", "terms": ["matern-52"], "penalty": 1.0},
    }
    model = sgpc.build(design, objective="none", max_basis=5).fit(X, y)
    assert "term matern-52" in model.trace.notes[0]


def test_features_with_long_tails_are_warped():
    X, y = long_tails(1500)
    X_new, y_new = long_tails(2000, seed=1)
    model = sgpc.build("accurate", max_basis=20).fit(X, y)
    assert model.kernel.name == "warped"
    assert "inputs warped yes" in model.trace.notes[-2]
    plain = sgpc.build("accurate", max_basis=20, kernel=ARD).fit(X, y)
    assert nlp(model, X_new, y_new) < 0.8 * nlp(plain, X_new, y_new)


def test_a_search_inside_a_warp_is_a_search_on_warped_rows():
    X, y = long_tails(200)
    warp = Warped(SquaredExponential(lengthscale="median-per-feature")).started(X)
    start, rows = fitted_to(X, y, kernel=warp)
    inner, inner_rows = fitted_to(warp.warp(X), y, kernel=warp.inner)
    effort = Effort(settling=5, batches=5, iterations=10)

    def run(start, rows):
        rng = np.random.default_rng(0)
        return around(start, rows).run(start, rows, effort, rng, "searching")

    ends = run(start, rows), run(inner, inner_rows)
    assert ends[0].kernel == warp.around(ends[1].kernel)
    np.testing.assert_allclose(warp.warp(ends[0].inputs), ends[1].inputs, rtol=1e-9)
    np.testing.assert_array_equal(ends[0].mean, ends[1].mean)


def test_a_challenger_in_a_warp_keeps_what_the_champion_has_learnt():
    X, y = long_tails(60)
    kernel = SquaredExponential(variance=3.0, lengthscale=(1.0, 2.0))
    state, rows = fitted_to(X, y, kernel=kernel)
    search = around(state, rows, penalty=0.5)
    (warped,) = challengers.warped_inputs([Warped(Linear())], X, rows)
    inside = warped.change(search)
    assert inside.penalty == 0.5
    taken = challengers.adapted(state, inside)
    assert taken.kernel.inner == kernel
    np.testing.assert_array_equal(taken.inputs, state.inputs)
    (other,) = challengers.other_kernels([Matern32(lengthscale="median-per-feature")], X)
    then = challengers.adapted(taken, other.change(inside))
    assert then.kernel == taken.kernel.around(Matern32(variance=3.0, lengthscale=(1.0, 2.0)))
    assert warped.change(inside) is None


def test_what_is_said_is_not_chosen():
    config = sgpc.build("accurate", kernel=ARD).config
    assert config.refiner.kernels == config.refiner.terms == config.refiner.warps == ()
    assert [likelihood.name for likelihood in config.refiner.likelihoods] == ["noisy-probit"]
    assert sgpc.build("accurate", likelihood="logistic").config.refiner.likelihoods == ()


def test_batches_see_no_judge_and_end_when_they_do_not_pay():
    X, y = datasets.twonorm(3000, seed=1)
    start, rows = fitted_to(X, y)
    seen, rounds = [], []

    class Spying(type(rows)):
        def subset(self, numbers):
            seen.append(numbers)
            return super().subset(numbers)

    spying = Spying(rows.blocks, rows.starts)
    search = attrs.evolve(around(start, rows), tell=lambda told: rounds.append(told.steps) or True)
    end = refine_by_batches(search, start, spying, np.random.default_rng(0))
    judges, *batches = seen
    assert len(judges) == 150
    assert not any(np.isin(judges, batch).any() for batch in batches)
    assert sorted(set(rounds)) == [500 * 2**k for k in range(len(set(rounds)))]
    assert search.start is start
    assert np.isfinite(end.mean).all()


def test_basis_vectors_stay_near_their_rows(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(120, 4)), np.sign(rng.normal(size=120))

    def way():
        start, rows = fitted_to(X, y)
        search = around(start, rows, elbo_share=0.0, penalty=0.1)
        end = search.run(start, rows, Effort(iterations=40), rng, "moving")
        return np.sqrt(np.mean((end.inputs - X[:6]) ** 2))

    near = way()
    monkeypatch.setattr("sgpc_plugins.refiners.corrective.search.BASIS_WIDTH", 1e6)
    assert 0.0 < near < 0.8 * way()


def test_too_few_rows_choose_nothing():
    X, y = datasets.twonorm(FEWEST - 1, seed=0)
    start, rows = fitted_to(X, y)
    search = around(start, rows)
    choice = choose(search, start, WAYS, rows, 100, 0, np.random.default_rng(0))
    assert (choice.search, choice.state, choice.trials) == (search, start, ())


@pytest.mark.parametrize("options", [{"penalty": 0.5}, {"penalty": 2.0, "elbo_share": 1.0}])
def test_never_worse_by_its_own_loss(options):
    refiner = Corrective(**options)
    for seed in range(4):
        X, y = datasets.waveform(60, seed=seed)
        start, rows = fitted_to(X, y)
        assert refiner.loss(refined(refiner, start, rows).state, rows) < refiner.loss(start, rows)


def test_the_trace_tells_what_was_chosen():
    X, y = datasets.twonorm(120, seed=0)
    model = sgpc.build("accurate", max_basis=4).fit(X, y)
    note = model.trace.notes[-1]
    assert note.startswith("refiner corrective: kernel ")
    assert "held-out rows were asked" in model.trace.notes[-2]
    assert "basis vectors moved" in note
    assert "NLP over all rows from" in note
