"""What the log loss loses when a column is permuted."""

from __future__ import annotations

import json

import attrs
import numpy as np
import pytest
from click.testing import CliRunner

import sgpc_framework as sgpc
from sgpc_framework.cli import main
from sgpc_framework.metrics.column_importance import permutation_importance
from sgpc_framework.tables import TableClassifier


@attrs.frozen
class Known:
    """The probability of the second class is a function of the first feature."""

    classes = np.array(["no", "yes"])

    def predict_log_proba(self, X):
        second = 1.0 / (1.0 + np.exp(-2.0 * X[:, 0]))
        return np.log(np.stack([1.0 - second, second], axis=1))


def rows(count=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    chance = 1.0 / (1.0 + np.exp(-2.0 * X[:, 0]))
    return X, np.where(rng.random(count) < chance, "yes", "no")


def test_it_is_the_rise_of_the_log_loss():
    X, y = rows()
    found = permutation_importance(Known(), X, y, ["a", "b", "c"], repeats=2, seed=3)
    assert [each.column for each in found] == ["a", "b", "c"]
    rng, own = np.random.default_rng(3), (y == "yes").astype(int)

    def loss(X):
        return -Known().predict_log_proba(X)[np.arange(len(y)), own].mean()

    rises = []
    for _ in range(2):
        order = rng.permutation(len(X))
        rises.append(loss(np.column_stack([X[order, 0], X[:, 1:]])) - loss(X))
    assert found[0].loss == pytest.approx(np.mean(rises))
    assert found[0].matters
    assert (found[1].loss, found[1].noise) == (0.0, 0.0)  # the model does not look at it


def test_its_noise_is_what_other_rows_would_show():
    found = [permutation_importance(Known(), *rows(200, seed), repeats=3)[0] for seed in range(40)]
    spread = np.std([each.loss for each in found], ddof=1)
    assert np.mean([each.noise for each in found]) == pytest.approx(spread, rel=0.4)


def test_problems():
    X, y = rows(20)
    with pytest.raises(sgpc.InputError, match="wanted rows of features"):
        permutation_importance(Known(), X[:, 0], y)
    with pytest.raises(sgpc.InputError, match="at least one repeat"):
        permutation_importance(Known(), X, y, repeats=0)
    with pytest.raises(sgpc.InputError, match="wanted 3 names of features, found 1"):
        permutation_importance(Known(), X, y, ["a"])


@pytest.fixture(scope="module")
def table():
    """The city decides, the noise does not; the city is three features."""
    rng = np.random.default_rng(1)
    city = rng.choice(["Oslo", "Rome", "Lima"], 300)
    chance = np.select([city == "Rome", city == "Lima"], [0.9, 0.1], 0.5)
    bought = np.where(rng.random(300) < chance, "yes", "no")
    return {"noise": rng.normal(size=300), "city": city, "bought": bought}


@pytest.fixture(scope="module")
def classifier(table):
    some = {name: values[:150] for name, values in table.items()}
    return TableClassifier.fit(some, "bought", sgpc.build("fast", max_basis=8))


def test_the_features_of_a_column_of_words_go_together(classifier, table):
    found = classifier.importance({name: values[150:] for name, values in table.items()})
    assert [each.column for each in found] == ["city", "noise"]
    assert [each.matters for each in found] == [True, False]
    assert classifier.encoding.features_of_columns == {"noise": range(1), "city": range(1, 4)}


def test_the_command(classifier, table, tmp_path):
    classifier.save(tmp_path / "shop.sgpc")
    names = list(table)
    lines = [
        ",".join(names),
        *(",".join(map(str, row)) for row in zip(*table.values(), strict=True)),
    ]
    (tmp_path / "shop.csv").write_text("\n".join(lines))
    arguments = ["importance", str(tmp_path / "shop.sgpc"), str(tmp_path / "shop.csv")]
    result = CliRunner().invoke(main, [*arguments, "--repeats", "2"])
    assert result.exit_code == 0, result.output
    assert result.output.index("city") < result.output.index("noise")
    assert "± " in result.output
    output = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).output)
    found = classifier.importance(table)
    assert output[0] == pytest.approx(
        {"column": "city", "loss": found[0].loss, "noise": found[0].noise}
    )
