"""``sgpc compare``, and the cross-validation behind it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import t

import sgpc_framework as sgpc_package
from sgpc_framework import InputError
from sgpc_framework.cli.config_options import DEFAULT
from sgpc_framework.config.presets import DEFAULT_PRESET
from sgpc_framework.datasets import waveform
from sgpc_framework.lab.baselines import Baseline
from sgpc_framework.lab.cross_validation import cross_validate, folds
from sgpc_framework.metrics.figures_of_merit import Merits
from sgpc_framework.tables import TableClassifier
from sgpc_framework.tables.data_frames import as_table


def table(rows=90):
    X, y = waveform(rows, seed=2)
    return as_table({**{f"x{i}": X[:, i] for i in range(5, 12)}, "y": y})


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.npz"
    people = table()
    np.savez(path, **{column.name: column.values for column in people.columns})
    return path


def test_folds_are_stratified_and_the_same_for_the_same_seed():
    labels = np.array(["a"] * 50 + ["b"] * 11)
    fold = folds(labels, 5, seed=1)
    for label, least in (("a", 10), ("b", 2)):
        counts = np.bincount(fold[labels == label], minlength=5)
        assert counts.min() == least
        assert counts.max() <= least + 1
    assert np.array_equal(fold, folds(labels, 5, seed=1))
    assert not np.array_equal(fold, folds(labels, 5, seed=2))
    with pytest.raises(InputError, match="found 11 of b: take fewer folds"):
        folds(labels, 12, seed=0)


@pytest.mark.parametrize("preset", ["paper", "fast"])
def test_scores_are_those_of_fits_by_hand(preset):
    everything = table()
    design = sgpc_package.build(preset, max_iterations=2)
    (small, large) = cross_validate(everything, "y", {"mine": design}, [4, 8], 3)
    assert (small.size, large.size, small.design) == (4, 8, "mine")
    fold = folds(everything.column("y").values, 3, seed=0)
    whole = sgpc_package.build(design.config, max_basis=8, sizes=(4,))
    merits = []
    for turn in range(3):
        rest = everything.rows(np.flatnonzero(fold != turn))
        own = everything.rows(np.flatnonzero(fold == turn))
        model = TableClassifier.fit(rest, "y", whole).truncated(4)
        merits.append(Merits.of(model.predict_log_proba(own), model.codes(own)))
    losses = [m.nlp for m in merits]
    assert small.nlp == np.mean(losses)
    assert small.nlp_noise == pytest.approx(np.std(losses, ddof=1) / np.sqrt(3))
    assert small.error == np.mean([m.error for m in merits])


def test_a_fit_that_ends_early_says_so():
    design = sgpc_package.build(max_iterations=1)
    small, large = cross_validate(table(rows=20), "y", {"paper": design}, [5, 15], 2)
    assert (small.size, small.basis) == (5, 5.0)
    assert (large.size, large.basis) == (15, 10.0)  # there are no more rows to train with


def test_the_command(sgpc, data):
    options = ("--target", "y", "--sizes", "6,3", "--folds", 2, "--configs", "paper")
    options = (*options, "--no-baselines")
    result = sgpc("compare", data, *options, "--selectors", "entropy, adaptive-sampling")
    assert result.exit_code == 0, result.output
    rows = [line.split("│")[1:3] for line in result.stdout.splitlines() if line.startswith("│")]
    outcome = [(design.strip(), size.strip()) for design, size in rows]
    names = ("entropy", "adaptive-sampling")
    wanted = [(name, size) for name in names for size in ("3", "6")]
    assert outcome == [*wanted, ("class frequencies", "-")]
    assert "90 rows, 2 folds" in result.stdout
    assert result.stderr == ""


def test_configurations_beside_each_other_as_json(sgpc, data):
    options = ("--target", "y", "--sizes", "4", "--folds", 2, "--json", "--no-baselines")
    both = ("--configs", "paper", "--configs", "fast")
    output = json.loads(sgpc("compare", data, *options, *both).stdout)
    assert [entry["design"] for entry in output] == ["paper", "fast", "class frequencies"]
    assert output == json.loads(json.dumps(output))
    again = json.loads(sgpc("compare", data, *options, "--configs", "fast").stdout)
    assert {**again[0], "seconds": 0} == {**output[1], "seconds": 0}


def test_pairs_are_the_differences_of_folds(sgpc, data):
    pytest.importorskip("sklearn")
    options = ("--target", "y", "--sizes", "3,6", "--folds", 3, "--json", "--baselines")
    output = json.loads(sgpc("compare", data, *options, "--configs", "fast").stdout)
    names = [(entry["design"], entry["size"]) for entry in output]
    others = ("logistic regression", "gradient boosting", "class frequencies")
    assert names == [("fast", 3), ("fast", 6), *((other, 0) for other in others)]
    best = min(output, key=lambda entry: entry["nlp"])
    assert best["pair"] is None
    for entry in output:
        assert entry["nlp"] == pytest.approx(np.mean(entry["fold_nlp"]))
        if entry is not best:
            pair, difference = entry["pair"], np.subtract(entry["fold_nlp"], best["fold_nlp"])
            assert (pair["beside"], pair["beside_size"]) == (best["design"], best["size"])
            assert pair["difference"] == pytest.approx(difference.mean())
            spread = np.sqrt((1 / 3 + 1 / 2) * difference.var(ddof=1))
            assert pair["p"] == pytest.approx(2 * t.sf(abs(difference.mean()) / spread, 2))
            assert pair["p_holm"] >= pair["p"]


def test_the_defaults_are_those_of_fit(sgpc, data):
    """One set of defaults: what ``compare`` compares is what ``fit`` and the estimators fit."""
    options = ("--target", "y", "--folds", 2, "--json")
    output = json.loads(sgpc("compare", data, *options).stdout)
    names = [entry["design"] for entry in output]
    assert names[0] == DEFAULT == DEFAULT_PRESET
    assert names[-1] == "class frequencies"
    assert output[0]["size"] == sgpc_package.build(DEFAULT_PRESET).config.max_basis
    estimator = pytest.importorskip("sgpc_framework.adapters.sklearn").SGPClassifier()
    assert (estimator.preset, estimator.max_basis) == (DEFAULT_PRESET, output[0]["size"])
    assert names == [DEFAULT, "logistic regression", "gradient boosting", "class frequencies"]


def test_the_frequencies_are_those_of_the_training_rows():
    everything, design = table(), Baseline("class frequencies")
    (score,) = cross_validate(everything, "y", {"none": design}, [4], 2)
    y = everything.column("y").values > 0
    fold = folds(everything.column("y").values, 2, seed=0)
    for turn, loss in enumerate(score.fold_nlp):
        share, own = y[fold != turn].mean(), y[fold == turn]
        assert loss == pytest.approx(-np.log(np.where(own, share, 1.0 - share)).mean())
    assert score.figures["auc"].value == 0.5


def test_baselines_are_those_of_scikit_learn():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression

    everything, design = table(), Baseline("logistic regression")
    (score,) = cross_validate(everything, "y", {"linear": design}, [4], 2)
    fold, y = folds(everything.column("y").values, 2, seed=0), everything.column("y").values
    X = np.column_stack([c.values for c in everything.columns if c.name != "y"])
    for turn, loss in enumerate(score.fold_nlp):
        train, test = fold != turn, fold == turn
        mean, deviation = X[train].mean(axis=0), X[train].std(axis=0)
        model = LogisticRegression(max_iter=2000).fit((X[train] - mean) / deviation, y[train])
        proba = model.predict_proba((X[test] - mean) / deviation)
        own = proba[np.arange(test.sum()), (y[test] > 0).astype(int)]
        assert loss == pytest.approx(-np.log(own).mean(), rel=1e-2)


def test_every_selector(sgpc, data):
    from sgpc_framework.plugin.registry import default_registry

    options = ("--target", "y", "--sizes", "2", "--folds", 2, "--json", "--set", "max_iterations=1")
    options = (*options, "--configs", "paper", "--no-baselines")
    output = json.loads(sgpc("compare", data, *options, "--selectors", "all").stdout)
    assert [entry["design"] for entry in output][:-1] == list(default_registry().names("selector"))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--selectors", "entrpy"], 1, "did you mean 'entropy'"),
        (["--sizes", "10,x"], 2, "wanted a whole number of at least 1, found 'x'"),
        (["--sizes", "0"], 2, "found '0'"),
        (["--folds", "50"], 1, "take fewer folds"),
    ],
)
def test_problems(sgpc, data, arguments, code, message):
    result = sgpc("compare", data, "--target", "y", *arguments)
    assert result.exit_code == code
    assert message in result.stderr


def test_what_is_left_out_without_scikit_learn_is_said(sgpc, data, monkeypatch):
    monkeypatch.setattr("sgpc_framework.lab.baselines.has_baselines", lambda: False)
    options = ("--target", "y", "--sizes", "3", "--folds", 2, "--configs", "fast")
    result = sgpc("compare", data, *options)
    assert "left out, because scikit-learn is not installed" in result.stderr
    assert "logistic regression" not in result.stdout
    assert "left out" not in sgpc("compare", data, *options, "--no-baselines").stderr
