"""Decisions by costs: their laws, their errors, and where they are kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import sgpc_framework as sgpc
from sgpc_framework.errors import InputError, ModelFileError
from sgpc_framework.files.manifest import manifest_bytes
from sgpc_framework.model.costs import Costs, decisions

PAIR = np.array(["no", "yes"])
TRIPLE = np.array(["a", "b", "c"])


@st.composite
def probabilities(draw: st.DrawFn, classes: int) -> np.ndarray:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([0.1, 1.0, 30.0]))
    logits = spread * rng.normal(size=(20, classes))
    return logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)


@st.composite
def matrices(draw: st.DrawFn, classes: int) -> np.ndarray:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = rng.uniform(0.1, 10.0, size=(classes, classes))
    np.fill_diagonal(matrix, 0.0)
    return matrix


@given(probabilities(3), st.floats(1e-6, 1e6))
def test_equal_costs_decide_for_the_most_probable(log_proba: np.ndarray, cost: float) -> None:
    costs = Costs.of(TRIPLE, cost * (1.0 - np.eye(3)))
    assert_array_equal(costs.decide(log_proba), decisions(log_proba, None))


@given(probabilities(3), matrices(3), st.integers(-20, 20))
def test_the_unit_of_costs_does_not_matter(
    log_proba: np.ndarray, matrix: np.ndarray, power: int
) -> None:
    first = Costs.of(TRIPLE, matrix).decide(log_proba)
    assert_array_equal(Costs.of(TRIPLE, 2.0**power * matrix).decide(log_proba), first)


@given(probabilities(3), matrices(3))
def test_what_a_right_answer_costs_does_not_matter(
    log_proba: np.ndarray, matrix: np.ndarray
) -> None:
    shifted = matrix + np.array([[1.0], [-2.0], [4.0]])
    expected = np.sort(np.exp(log_proba) @ matrix, axis=1)
    assume(np.all(expected[:, 1] - expected[:, 0] > 1e-9))
    decided = Costs.of(TRIPLE, matrix).decide(log_proba)
    assert_array_equal(Costs.of(TRIPLE, shifted).decide(log_proba), decided)
    assert_array_equal(decided, (np.exp(log_proba) @ matrix).argmin(axis=1))


@given(probabilities(3), matrices(3), st.permutations(range(3)))
def test_the_order_of_classes_does_not_matter(
    log_proba: np.ndarray, matrix: np.ndarray, order: list[int]
) -> None:
    expected = np.sort(np.exp(log_proba) @ matrix, axis=1)
    assume(np.all(expected[:, 1] - expected[:, 0] > 1e-9))
    other = Costs.of(TRIPLE, matrix[np.ix_(order, order)]).decide(log_proba[:, order])
    assert_array_equal(np.array(order)[other], Costs.of(TRIPLE, matrix).decide(log_proba))


@given(probabilities(2), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_a_higher_threshold_says_the_second_class_less_often(
    log_proba: np.ndarray, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    often = Costs.of_threshold(PAIR, low).decide(log_proba)
    seldom = Costs.of_threshold(PAIR, high).decide(log_proba)
    assert np.all(seldom <= often)
    assert_array_equal(Costs.of_threshold(PAIR, 0.5).decide(log_proba), log_proba.argmax(axis=1))


def test_ways_to_say_the_same() -> None:
    wanted = [[0.0, 1.0], [5.0, 0.0]]
    for said in (
        {"yes": 5},
        {("yes", "no"): 5.0},
        wanted,
        np.array(wanted),
        Costs.of(PAIR, wanted),
    ):
        assert Costs.of(PAIR, said).matrix.tolist() == wanted
    mixed = Costs.of(TRIPLE, {"c": 3, ("c", "a"): 7}).matrix.tolist()
    assert mixed == [[0, 1, 1], [1, 0, 1], [7, 3, 0]]
    assert Costs.of_threshold(PAIR, 0.2).threshold == pytest.approx(0.2)
    assert Costs.of(TRIPLE, {"c": 3}).threshold is None


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"maybe": 5}, "wanted one of the classes 'no', 'yes', found 'maybe'"),
        ({("yes", "no", "no"): 5}, r"wanted costs of \(true, predicted\)"),
        ({"yes": "five"}, "wanted a number, found 'five'"),
        ({"yes": 0}, "no mistake on rows of class 'yes' costs anything"),
        ({"yes": -1}, "costs less than to be right"),
        ([[0, 1]], r"shape \(2, 2\)"),
        ([[0, np.nan], [1, 0]], "finite"),
        ([[-1e308, 1e308], [1, 0]], "so large"),
        ([[1, 0], [0, 1]], "rows are true classes"),
        ("five", "square matrix of numbers"),
    ],
)
def test_complaints(said: object, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Costs.of(PAIR, said)


# -- models --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 2))
    return X, X[:, 0] + 0.7 * rng.normal(size=150)


@pytest.fixture(scope="module", params=["two", "many", "one-vs-rest"])
def fitted(request: pytest.FixtureRequest, rows: tuple[np.ndarray, np.ndarray]) -> tuple:
    X, score = rows
    if request.param == "two":
        y = np.where(score > 0.8, "yes", "no")
        return sgpc.build(max_basis=5, max_iterations=1).fit(X, y), X, y
    y = np.array(["high", "low", "mid"])[np.digitize(score, [-0.5, 0.8]) - 1]
    strategy = "joint" if request.param == "many" else "one-vs-rest"
    return sgpc.build(max_basis=5, max_iterations=1, strategy=strategy).fit(X, y), X, y


def test_a_target_is_reached(fitted: tuple) -> None:
    model, X, y = fitted
    label = model.classes.tolist()[-1]
    for least in (0.5, 0.9, 1.0):
        found = model.with_target(X, y, label=label, recall=least)
        said = found.predict(X) == label
        recall = said[y == label].mean()
        assert recall >= least
        assert found.costs.target.reached == pytest.approx(recall)
        assert_array_equal(found.predict_proba(X), model.predict_proba(X))
    precise = model.with_target(X, y, label=label, precision=0.8)
    assert (y[precise.predict(X) == label] == label).mean() >= 0.8
    narrow = model.with_target(X, y, label=label, specificity=0.95)
    assert (narrow.predict(X) == label)[y != label].mean() <= 0.05


def test_a_target_says_what_it_lacks(fitted: tuple) -> None:
    model, X, y = fitted
    label = model.classes.tolist()[-1]
    with pytest.raises(InputError, match="wanted one of recall, precision, specificity"):
        model.with_target(X, y, label=label)
    with pytest.raises(InputError, match="wanted a recall above 0"):
        model.with_target(X, y, label=label, recall=90)
    with pytest.raises(InputError, match="wanted rows of class"):
        model.with_target(X[y == label], y[y == label], label=label, recall=0.9)
    with pytest.raises(InputError, match="a label for each of the 150 rows"):
        model.with_target(X, y[:-1], label=label, recall=0.9)
    if len(model.classes) > 2:
        with pytest.raises(InputError, match="of which class"):
            model.with_target(X, y, recall=0.9)
        with pytest.raises(InputError, match="for two classes"):
            model.with_threshold(0.3)


def test_costs_are_kept_in_the_file(fitted: tuple, tmp_path: Path) -> None:
    model, X, y = fitted
    label = model.classes.tolist()[-1]
    model.save(tmp_path / "without.sgpc")
    model.with_costs({label: 7}).with_costs(None).save(tmp_path / "again.sgpc")
    assert (tmp_path / "without.sgpc").read_bytes() == (tmp_path / "again.sgpc").read_bytes()
    decided = model.with_target(X, y, label=label, recall=0.9)
    decided.save(tmp_path / "with.sgpc")
    loaded = sgpc.load(tmp_path / "with.sgpc")
    assert loaded.costs.target == decided.costs.target
    assert_array_equal(loaded.costs.matrix, decided.costs.matrix)
    assert_array_equal(loaded.predict(X), decided.predict(X))
    assert sgpc.inspect(tmp_path / "with.sgpc").costs is not None
    assert sgpc.load(tmp_path / "without.sgpc").costs is None
    smaller = decided.truncated(decided.sizes[0])
    assert smaller.costs is decided.costs


@pytest.mark.parametrize(
    "section",
    [
        5,
        {"matrix": [[0, 1], [1, 0]]},
        {"matrix": [[0, -1], [1, 0]], "target": None},
        {"matrix": [[0]], "target": None},
        {"matrix": {"a": 1}, "target": None},
        {"matrix": [[0, 1], [1, 0]], "target": {"measure": "recall"}},
        {
            "matrix": [[0, 1], [1, 0]],
            "target": {"measure": 5, "least": 2, "label": "no", "reached": 0, "rows": -1},
        },
    ],
)
def test_strange_sections_are_refused(
    section: object,
    rows: tuple[np.ndarray, np.ndarray],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, score = rows
    model = (
        sgpc.build(max_basis=2, max_iterations=1)
        .fit(X, np.where(score > 0, "yes", "no"))
        .with_costs({"yes": 2})
    )
    monkeypatch.setattr(
        "sgpc_framework.files.model_files.manifest_bytes",
        lambda manifest: manifest_bytes({**manifest, "costs": section}),
    )
    model.save(tmp_path / "model.sgpc")
    with pytest.raises(ModelFileError):
        sgpc.load(tmp_path / "model.sgpc")


@settings(max_examples=20)
@given(st.floats(0.05, 1.0), st.integers(0, 1000))
def test_a_recall_is_reached_whatever_the_probabilities(least: float, seed: int) -> None:
    from sgpc_framework.model.decision_targets import targeted_costs

    rng = np.random.default_rng(seed)
    proba = rng.integers(1, 5, size=(30, 3)) / 7.0  # many ties
    log_proba = np.log(proba / proba.sum(axis=1, keepdims=True))
    truth = np.append(rng.integers(0, 3, size=28), [0, 1])
    costs = targeted_costs(TRIPLE, log_proba, truth, "b", {"recall": least})
    assert (costs.decide(log_proba)[truth == 1] == 1).mean() >= least
