"""Why this row: contributions are additive, and a table's are in its own words."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import sgpc_framework as sgpc
from sgpc_framework.cli import main
from sgpc_framework.errors import InputError
from sgpc_framework.model.classes import models_of
from sgpc_framework.tables import TableClassifier
from sgpc_framework.tables.table_explanations import row_in_words

rng = np.random.default_rng(4)
X = rng.normal(size=(80, 2))
TWO = np.where(X[:, 0] > 0.3, "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
DESIGN = {"max_basis": 6, "max_iterations": 1}


@pytest.fixture(scope="module", params=["two", "joint", "one-vs-rest"])
def model(request: pytest.FixtureRequest):  # type: ignore[no-untyped-def]
    if request.param == "two":
        return sgpc.build(**DESIGN).fit(X, TWO)
    return sgpc.build(**DESIGN, strategy=request.param).fit(X, THREE)


def test_contributions_sum_to_the_lead(model) -> None:  # type: ignore[no-untyped-def]
    mean, _ = model.predict_latent(X)
    names = model.classes.tolist()
    for row, one in enumerate(model.explain(X, most=2)):
        assert one.label == model.predict(X[[row]])[0]
        assert one.probability == pytest.approx(model.predict_proba(X[[row]]).max())
        assert one.lead == pytest.approx(sum(c.amount for c in one.largest) + one.rest)
        assert len(one.largest) == 2
        assert one.others == 4
        if mean.ndim == 1:
            lead = mean[row] if one.label == "yes" else -mean[row]
        elif one.rival is None:
            lead = mean[row, names.index(one.label)]
        else:
            lead = mean[row, names.index(one.label)] - mean[row, names.index(one.rival)]
        assert one.lead == pytest.approx(lead, abs=1e-9)
        assert "basis vector" in str(one)


def test_neighbours_do_not_cancel_each_other() -> None:
    """What basis vectors say is of the size of what they come to together, also where they are so
    close to each other that the terms of Σ c k(x, b) are not."""
    close = sgpc.build(max_basis=30, max_iterations=3).fit(X, TWO)
    kernel, _ = close.kernel_to_basis(X)
    told = []
    for one in close.explain(X, most=30):
        own = [c.amount for c in one.largest]
        assert sum(own) == pytest.approx(one.lead, abs=1e-9)
        assert np.abs([c.weight for c in one.largest]).max() < 1.5
        assert sum(c.weight for c in one.largest) == pytest.approx(1.0, abs=0.5)
        told.append(np.abs(own).sum())
    terms = np.abs(close.state.form().weights * kernel).sum(axis=1)
    assert np.median(terms / told) > 10.0


def test_without_a_basis_vector_there_is_nothing_to_tell() -> None:
    whole = sgpc.build(**DESIGN).fit(X, TWO)
    empty = sgpc.Model(whole.classes, whole.state[:0], whole.trace)
    one = empty.explain(X)[0]
    assert (one.lead, one.largest, one.nearest, one.others) == (0.0, (), (), 0)


def test_costs_are_named_where_they_have_decided() -> None:
    plain = sgpc.build(**DESIGN).fit(X, TWO)
    careful = plain.with_costs({"yes": 50})
    changed = plain.predict(X) != careful.predict(X)
    assert changed.any()
    for by_costs, one in zip(changed, careful.explain(X), strict=True):
        assert one.most_probable != by_costs
        assert ("by its costs" in str(one)) == by_costs


def test_a_basis_vector_is_nearest_to_itself(model) -> None:  # type: ignore[no-untyped-def]
    own = next(iter(models_of(model).values()))
    for number, one in enumerate(own.explain(own.inputs)):
        assert one.nearest[0].number == number
        assert one.nearest[0].similarity == pytest.approx(1.0)
        assert one.nearest[0].probability == pytest.approx(one.probability)
    with pytest.raises(InputError, match="wanted most"):
        model.explain(X, most=0)


TABLE = {
    "Seniority": np.round(10 + 5 * X[:, 0]),
    "Job": np.where(X[:, 1] > 0, "fixed", "none"),
    "loan": TWO,
}


@pytest.fixture(scope="module")
def classifier() -> TableClassifier:
    return TableClassifier.fit(TABLE, "loan", sgpc.build(**DESIGN))


def test_a_table_is_told_in_its_words(classifier: TableClassifier) -> None:
    one = classifier.explain(TABLE)[0]
    assert one.values == {"Seniority": TABLE["Seniority"][0], "Job": TABLE["Job"][0]}
    for contribution in one.largest:
        assert contribution.values is not None
        row = contribution.row  # not refined: a training row as it is
        assert contribution.values["Seniority"] == TABLE["Seniority"][row]
        assert contribution.values["Job"] == TABLE["Job"][row]
        assert "(here" in str(one)
    assert next(iter(one.effects)) == "Seniority"  # which the labels depend on


def test_words_that_a_refiner_has_moved(classifier: TableClassifier) -> None:
    def job(*features: float) -> str:
        return str(row_in_words(classifier.encoding, np.array([0.0, *features]))["Job"])

    assert job(0.98, 0.01) == "fixed"
    assert job(0.3, 0.7) == "mostly none"
    assert job(0.0, 0.0) == "no known word"


def test_on_the_command_line(classifier: TableClassifier, tmp_path: Path) -> None:
    classifier.save(tmp_path / "loans.sgpc")
    with open(tmp_path / "loans.csv", "w", newline="") as file:
        csv.writer(file).writerows([["Seniority", "Job"], [3, "fixed"], [15, "none"]])
    words = ["predict", str(tmp_path / "loans.sgpc"), str(tmp_path / "loans.csv"), "--explain"]
    rows = list(csv.DictReader(CliRunner().invoke(main, words).output.splitlines()))
    assert "Seniority 3 " in rows[0]["explanation"]
    assert "most like basis vector" in rows[0]["explanation"]
    told = json.loads(CliRunner().invoke(main, [*words, "--json"]).output)
    assert told[1]["explanation"]["label"] == told[1]["predicted"]
