"""Costs, thresholds and targets on the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import sgpc_framework as sgpc
from sgpc_framework.cli import main

QUICK = ["--config", "paper", "--max-basis", "5", "--set", "max_iterations=1"]


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decide")
    rng = np.random.default_rng(1)
    x = rng.normal(size=120)
    with open(folder / "loans.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["income", "job", "loan"])
        for value in x:
            loan = "bad" if value + 0.7 * rng.normal() < -0.7 else "good"
            rows.writerow([f"{1000 + 300 * value:.0f}", rng.choice(["fixed", "none"]), loan])
    run("fit", folder / "loans.csv", "--target", "loan", "-o", folder / "loans.sgpc", *QUICK)
    return folder


def said(folder: Path, model: str) -> list[str]:
    run("predict", folder / model, folder / "loans.csv", "-o", folder / "said.csv")
    with open(folder / "said.csv", newline="") as file:
        return [row["predicted"] for row in csv.DictReader(file)]


def test_costs_of_fit_are_those_of_decide(folder: Path) -> None:
    run(
        *("fit", folder / "loans.csv", "--target", "loan", "-o", folder / "fitted.sgpc"),
        *("--cost", "bad=5", *QUICK),
    )
    run("decide", folder / "loans.sgpc", "--cost", "bad=5", "-o", folder / "decided.sgpc")
    assert (folder / "fitted.sgpc").read_bytes() == (folder / "decided.sgpc").read_bytes()
    assert said(folder, "decided.sgpc").count("bad") > said(folder, "loans.sgpc").count("bad")
    assert "good where its probability is above 0.8333" in run("inspect", folder / "decided.sgpc")
    run("decide", folder / "decided.sgpc", "-o", folder / "back.sgpc")
    assert (folder / "back.sgpc").read_bytes() == (folder / "loans.sgpc").read_bytes()


def test_a_target(folder: Path) -> None:
    output = run(
        *("decide", folder / "loans.sgpc", folder / "loans.csv", "-o", folder / "target.sgpc"),
        *("--recall", 0.95, "--label", "bad"),
    )
    assert "recall of bad at least 0.95" in output
    model = sgpc.load(folder / "target.sgpc")
    assert model.model.costs.target.reached >= 0.95


def test_one_mistake_and_a_threshold(folder: Path) -> None:
    run("decide", folder / "loans.sgpc", "--cost", "bad:good=4", "-o", folder / "pair.sgpc")
    run("decide", folder / "loans.sgpc", "--threshold", "0.8", "-o", folder / "threshold.sgpc")
    pair, threshold = (
        sgpc.load(folder / f"{name}.sgpc").model.costs for name in ("pair", "threshold")
    )
    assert pair.threshold == pytest.approx(threshold.threshold)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--cost", "bad"], "wanted LABEL=COST"),
        (["--cost", "bad=much"], "wanted LABEL=COST"),
        (["--cost", "worse=5"], "wanted a class (bad, good)"),
        (["--cost", "bad=5", "--threshold", "0.2"], "give one"),
        (["--recall", "0.9"], "needs DATA"),
        (["--recall", "0.9", "--precision", "0.9"], "wanted one way to decide"),
        (["--threshold", "1.5"], "0.0<x<1.0"),
    ],
)
def test_complaints(folder: Path, words: list[str], complaint: str) -> None:
    result = CliRunner().invoke(
        main, ["decide", str(folder / "loans.sgpc"), "-o", str(folder / "no.sgpc"), *words]
    )
    assert result.exit_code in (1, 2)
    assert complaint in result.output
    assert not (folder / "no.sgpc").exists()


def test_fit_refuses_costs_of_no_class_before_it_fits(folder: Path) -> None:
    output = run(
        *("fit", folder / "loans.csv", "--target", "loan", "-o", folder / "no.sgpc"),
        *("--cost", "worse=5", *QUICK),
        code=1,
    )
    assert "wanted a class (bad, good)" in output


def test_evaluate_judges_the_decisions(folder: Path) -> None:
    run("decide", folder / "loans.sgpc", "--cost", "bad=5", "-o", folder / "judged.sgpc")
    results = json.loads(run("evaluate", folder / "judged.sgpc", folder / "loans.csv", "--json"))
    decided = np.array(said(folder, "judged.sgpc"))
    with open(folder / "loans.csv", newline="") as file:
        truth = np.array([row["loan"] for row in csv.DictReader(file)])
    wanted = [
        [np.sum((truth == t) & (decided == d)) for d in ("bad", "good")] for t in ("bad", "good")
    ]
    assert results["confusion"] == np.array(wanted).tolist()
    assert results["cost"] == pytest.approx((5 * wanted[0][1] + wanted[1][0]) / len(truth))
    assert "cost of a decision" in run("evaluate", folder / "judged.sgpc", folder / "loans.csv")
