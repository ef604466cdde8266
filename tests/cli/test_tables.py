"""From a table to a model, predictions and their evaluation, on the command line."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from counting import count_calls

import sgpc_framework as sgpc_package
from sgpc_framework.cli import main
from sgpc_framework.datasets import twonorm
from sgpc_framework.metrics.figures_of_merit import Merits
from sgpc_framework.model.model import Model
from sgpc_framework.tables import read_table

SMALL = ("--config", "fast", "--max-basis", 6)


def shop(rows=80, seed=0, classes=2):
    """Rows of a shop's customers, with a header."""
    rng = np.random.default_rng(seed)
    age, city = rng.integers(18, 80, rows), rng.choice(["Oslo", "Rome"], rows)
    likes = (age > 45).astype(int) + (city == "Rome") + rng.integers(0, 2, rows)
    bought = np.array(["no", "yes", "twice"])[np.digitize(likes, [2, 3][: classes - 1])]
    return [["id", "age", "city", "bought"]] + [
        [f"c{i}", *row] for i, row in enumerate(zip(age, city, bought, strict=True))
    ]


def write(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def train(tmp_path):
    return write(tmp_path / "train.csv", shop())


@pytest.fixture
def model(sgpc, train):
    path = train.with_name("shop.sgpc")
    result = sgpc("fit", train, "--target", "bought", "--drop", "id", "-o", path, *SMALL)
    assert result.exit_code == 0, result.output
    return path


def problem(result) -> str:
    """The one message of a command that met a problem, which is no traceback."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    return result.stderr


def test_fit_says_what_it_did_and_is_quiet_otherwise(sgpc, train):
    path = train.with_name("shop.sgpc")
    result = sgpc("fit", train, "--target", "bought", "--drop", "id", "-o", path, *SMALL)
    assert result.exit_code == 0
    assert "80 rows, 2 columns (3 features), classes no, yes\n6 basis vectors" in result.stdout
    assert result.stdout.endswith(f"written to {path}\n")
    assert result.stderr == ""


def test_rows_may_have_weights(sgpc, tmp_path):
    rows = shop()
    counted = [[*rows[0], "visits"]] + [[*row, i % 4] for i, row in enumerate(rows[1:])]
    train, path = write(tmp_path / "visits.csv", counted), tmp_path / "visits.sgpc"
    fit = ("fit", train, "--target", "bought", "--drop", "id", "-o", path, *SMALL)
    result = sgpc(*fit, "--weight", "visits", "--json")
    assert result.exit_code == 0, result.output
    classifier, table = sgpc_package.load(path), read_table(train)
    assert classifier.encoding.names == ("age", "city")
    weights = np.arange(80) % 4
    own = classifier.predict_log_proba(table)[np.arange(80), classifier.codes(table)]
    summary = json.loads(result.stdout)
    assert summary["rows"] == 80
    assert summary["training_nlp"] == pytest.approx(-weights @ own / weights.sum())
    wrong = classifier.predict(table) != classifier.labels(table)
    assert summary["training_error"] == pytest.approx(weights @ wrong / weights.sum())
    assert "there is no column 'visit'; did you mean 'visits'" in problem(
        sgpc(*fit, "--weight", "visit")
    )


def test_the_model_is_that_of_the_library(sgpc, model, train):
    classifier = sgpc_package.load(model)
    table = read_table(train)
    design = sgpc_package.build("fast", max_basis=6)
    expected = type(classifier).fit(table, "bought", design, drop=["id"])
    assert classifier.encoding == expected.encoding
    assert np.array_equal(classifier.predict_proba(table), expected.predict_proba(table))
    assert classifier.model.provenance.config["max_basis"] == 6


def test_fit_as_json(sgpc, train):
    path = train.with_name("m.sgpc")
    result = sgpc("fit", train, "--target", 4, "--drop", "id", "-o", path, "--json", *SMALL)
    output = json.loads(result.stdout)
    assert (output["rows"], output["basis"], output["classes"]) == (80, 6, ["no", "yes"])
    assert output["stopped"] is False
    table = read_table(train)
    classifier = sgpc_package.load(path)
    merits = Merits.of(classifier.predict_log_proba(table), classifier.codes(table))
    assert output["training_error"] == merits.error
    assert output["training_nlp"] == merits.nlp


def test_changes_to_the_configuration_reach_the_fit(sgpc, train):
    path = train.with_name("m.sgpc")
    changes = ["--set", "selector=entropy", "--set", "kernel.variance=2.5", "--seed", 7]
    result = sgpc("fit", train, "--target", "bought", "--drop", "id", "-o", path, *SMALL, *changes)
    assert result.exit_code == 0, result.output
    config = sgpc_package.load(path).model.provenance.config
    assert config["selector"]["name"] == "entropy"
    assert config["kernel"]["variance"] == 2.5
    assert config["kernel"]["lengthscale"] == "median-per-feature"  # that of the preset stays
    assert config["seed"] == 7


def test_three_classes(sgpc, tmp_path):
    data = write(tmp_path / "train.csv", shop(classes=3))
    path = tmp_path / "shop.sgpc"
    result = sgpc("fit", data, "--target", "bought", "--drop", "id", "-o", path, *SMALL)
    assert "classes no, twice, yes\n6 basis vectors, " in result.stdout
    assert "(the class frequencies alone: 52.5 %, 1.046)" in result.stdout
    apart = ["--set", "strategy=one-vs-rest"]
    result = sgpc("fit", data, "--target", "bought", "--drop", "id", "-o", path, *SMALL, *apart)
    assert "\n6 basis vectors a class, " in result.stdout
    predicted = list(csv.DictReader(sgpc("predict", path, data).stdout.splitlines()))
    assert list(predicted[0]) == [
        "predicted",
        "probability_no",
        "probability_twice",
        "probability_yes",
    ]
    sums = [sum(float(row[key]) for key in list(row)[1:]) for row in predicted]
    assert np.allclose(sums, 1.0)


def test_what_dates_become_is_said(sgpc, tmp_path):
    days = [f"2026-01-{1 + place % 28:02}" for place in range(60)]
    lines = [f"{day},{'yes' if day > '2026-01-14' else 'no'}" for day in days]
    data = tmp_path / "visits.csv"
    data.write_text("\n".join(["day,bought", *lines]))
    fit = ["fit", data, "--target", "bought", "-o", tmp_path / "m.sgpc", *SMALL]
    said = "dates, as features of the calendar: day (as words: --words)"
    assert said in sgpc(*fit).stdout
    assert "1 column (8 features)" in sgpc(*fit).stdout
    assert "28 features" in (words := sgpc(*fit, "--words", "day").stdout)
    assert said not in words


def test_predict_writes_labels_and_probabilities(sgpc, model, tmp_path):
    new = write(tmp_path / "new.csv", [row[:3] for row in shop(rows=20, seed=1)])
    output = tmp_path / "predicted.csv"
    output.write_text("something old")
    result = sgpc("predict", model, new, "-o", output, "--keep", "id")
    assert (result.exit_code, result.output) == (0, "")
    classifier = sgpc_package.load(model)
    table = read_table(new)
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert [row["id"] for row in rows] == [f"c{i}" for i in range(20)]
    assert [row["predicted"] for row in rows] == classifier.predict(table).tolist()
    proba = [[float(row["probability_no"]), float(row["probability_yes"])] for row in rows]
    assert np.array_equal(proba, classifier.predict_proba(table))
    assert sgpc("predict", model, new, "--keep", "id").stdout == output.read_text()
    lines = json.loads(sgpc("predict", model, new, "--json", "--keep", "id").stdout)
    assert [line["predicted"] for line in lines] == [row["predicted"] for row in rows]


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_command_predicts_once(sgpc, model, tmp_path, monkeypatch, command):
    data = write(tmp_path / "new.csv", shop(rows=20, seed=1))
    calls = count_calls(monkeypatch, Model, "predict", "predict_proba", "predict_log_proba")
    assert sgpc(command, model, data).exit_code == 0
    assert calls == ["predict_log_proba"]


def test_evaluate(sgpc, model, tmp_path):
    test = write(tmp_path / "test.csv", shop(rows=50, seed=1))
    output = json.loads(sgpc("evaluate", model, test, "--json").stdout)
    classifier, table = sgpc_package.load(model), read_table(test)
    labels = classifier.labels(table)
    assert output["error"] == np.mean(classifier.predict(table) != labels)
    assert output["rows"] == np.sum(output["confusion"]) == 50
    for i, label in enumerate(("no", "yes")):
        assert sum(output["confusion"][i]) == np.sum(labels == label)
    text = sgpc("evaluate", model, test).stdout
    assert f"{100 * output['error']:.1f} %" in text
    assert f"{output['nlp']:.4f}" in text
    assert f"{output['calibration_error']:.4f}" in text
    shares = np.array(classifier.model.trace.class_shares)
    own = -np.log(shares[classifier.codes(table)]).mean()
    assert output["baseline_log_loss"] == pytest.approx(own)
    assert f"training frequencies: {own:.4f}" in text


def test_smaller_sizes_of_a_model(sgpc, train):
    path = train.with_name("paper.sgpc")
    options = ("--target", "bought", "--drop", "id", "--config", "paper", "--max-basis", 6)
    sgpc("fit", train, "-o", path, *options)
    output = json.loads(sgpc("evaluate", path, train, "--size", 3, "--json").stdout)
    assert output["basis"] == 3
    assert "ask for 1 to 6, found 9" in problem(sgpc("evaluate", path, train, "--size", 9))


def test_words_that_training_has_not_seen(sgpc, model, tmp_path):
    new = write(tmp_path / "new.csv", [["age", "city"], [30, "Oslo"], [40, "Bonn"]])
    text = problem(sgpc("predict", model, new))
    assert "new.csv: row 2 (line 3), column 'city'" in text
    assert "'Bonn'" in text
    assert "--unseen zero" in text
    assert sgpc("predict", model, new, "--unseen", "zero").stdout.count("\n") == 3


def test_words_that_look_like_numbers_keep_their_spelling(sgpc, tmp_path):
    rows = [["zip", "y"], *[["01", "a"], ["02", "b"]] * 12]
    data = write(tmp_path / "zips.csv", rows)
    path = tmp_path / "zips.sgpc"
    assert sgpc("fit", data, "--target", "y", "--words", "zip", "-o", path, *SMALL).exit_code == 0
    lines = sgpc("predict", path, write(tmp_path / "new.csv", [["zip"], ["02"], ["01"]])).stdout
    assert [line.partition(",")[0] for line in lines.splitlines()] == ["predicted", "b", "a"]


def test_missing_values(sgpc, tmp_path):
    rows = shop()
    rows[5][1], rows[9][2] = "", "n/a"
    data, path = write(tmp_path / "train.csv", rows), tmp_path / "shop.sgpc"
    options = ("--target", "bought", "--drop", "id", "-o", path, *SMALL)
    text = problem(sgpc("fit", data, *options))
    assert "train.csv: 2 problems:\n  - row 5 (line 6), column 'age': the value is missing" in text
    assert "\n  - row 9 (line 10), column 'city': the value is missing\n" in text
    assert text.count("--impute") == 1, "the same advice once"
    assert not path.exists()
    assert sgpc("fit", data, *options, "--impute").exit_code == 0
    new = write(tmp_path / "new.csv", [["age", "city"], ["?", "Oslo"]])
    assert sgpc("predict", path, new).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "bougth"], "there is no column 'bougth'; did you mean 'bought'"),
        ([], "which column has the labels? Say --target"),
        (["--target", "bought"], "column 'id' has 80 different words in 80 rows"),
        (["--target", "id"], "wanted labels of at most"),
        (["--target", "bought", "--config", "acurate"], "did you mean 'accurate'"),
        (["--target", "bought", "--set", "kernel.vairance=1"], "did you mean 'variance'"),
        (["--target", "bought", "--config", "no.toml"], "there is no file 'no.toml'"),
        (["--target", "bought", "--format", "libsvm"], "wanted lines 'label index:value ...'"),
    ],
)
def test_problems_are_one_clear_message(sgpc, train, arguments, message):
    if "id" in arguments:
        write(train, shop(rows=150))
    text = problem(sgpc("fit", train, "-o", train.with_name("m.sgpc"), *arguments))
    assert message in text
    assert not train.with_name("m.sgpc").exists()


def test_other_files_are_not_overwritten_by_a_model(sgpc, train, tmp_path):
    other = write(tmp_path / "other.csv", shop())
    options = ("--target", "bought", "--drop", "id", *SMALL)
    assert "not a model file" in problem(sgpc("fit", train, "-o", other, *options))
    assert "would be overwritten" in problem(sgpc("fit", train, "-o", train, *options))
    assert "there is no folder" in problem(sgpc("fit", train, "-o", tmp_path / "a/b", *options))
    assert "is a folder" in problem(sgpc("fit", train, "-o", tmp_path, *options))
    assert len(read_table(other)) == len(read_table(train)) == 80


def test_a_model_is_replaced_by_a_model(sgpc, model, train):
    before = model.read_bytes()
    options = ("--target", "bought", "--drop", "id", "--config", "fast", "--max-basis", 4)
    assert sgpc("fit", train, "-o", model, *options).exit_code == 0
    assert model.read_bytes() != before


def test_what_is_no_model_is_said_to_be_none(sgpc, train):
    assert "this is not a model file" in problem(sgpc("predict", train, train))
    assert "no such file" in problem(sgpc("evaluate", "nowhere.sgpc", train))


def test_a_column_that_numbers_the_rows_is_pointed_out(sgpc, tmp_path):
    rows = [[i, *row[1:]] if i else row for i, row in enumerate(shop())]
    data = write(tmp_path / "train.csv", rows)
    result = sgpc("fit", data, "--target", "bought", "-o", tmp_path / "m.sgpc", *SMALL)
    assert result.exit_code == 0
    assert "Warning: column 'id' looks like a number of the row" in result.stderr
    assert "--drop 'id'" in result.stderr


def test_rows_held_out_judge_the_fit(sgpc, tmp_path):
    data, path = write(tmp_path / "train.csv", shop(rows=100)), tmp_path / "m.sgpc"
    options = ("--target", "bought", "--drop", "id", "-o", path, *SMALL, "--holdout", 0.25)
    text = sgpc("fit", data, *options).stdout
    assert "75 rows, 2 columns" in text
    assert "\non 25 rows held out: error " in text
    summary = json.loads(sgpc("fit", data, *options, "--json").stdout)
    assert (summary["rows"], summary["holdout_rows"]) == (75, 25)
    classifier, table = sgpc_package.load(path), read_table(data)
    held, fitted = 25 * summary["holdout_nlp"], 75 * summary["training_nlp"]
    losses = -classifier.predict_log_proba(table)[np.arange(100), classifier.codes(table)]
    assert held + fitted == pytest.approx(losses.sum()), "each row once, here or there"
    assert summary["holdout_nlp"] < summary["holdout_frequencies_nlp"]


def test_a_share_that_leaves_a_class_without_rows_is_refused(sgpc, tmp_path):
    rows = [["x", "y"], *([i, "a"] for i in range(30)), [50, "b"]]
    data = write(tmp_path / "train.csv", rows)
    fit = ("fit", data, "--target", "y", "-o", tmp_path / "m.sgpc", *SMALL)
    assert (
        "rows of every class on both sides of --holdout 0.9" in sgpc(*fit, "--holdout", 0.9).stderr
    )
    assert sgpc(*fit, "--holdout", 1.5).exit_code == 2


@pytest.mark.parametrize("name", ["data.npz", "data.libsvm"])
def test_formats_with_a_column_for_labels_need_no_target(sgpc, tmp_path, name):
    X, y = twonorm(60)
    path, model = tmp_path / name, tmp_path / "m.sgpc"
    if name.endswith("npz"):
        np.savez(path, X=X, y=y)
    else:
        pairs = (" ".join(f"{i}:{v!r}" for i, v in enumerate(row, 1)) for row in X.tolist())
        path.write_text("\n".join(f"{label:+.0f} {p}" for label, p in zip(y, pairs, strict=True)))
    assert sgpc("fit", path, "-o", model, *SMALL).exit_code == 0
    output = json.loads(sgpc("evaluate", model, path, "--json").stdout)
    assert output["classes"] == [-1, 1]
    assert output["error"] < 0.2


def test_models_that_were_fitted_to_arrays(sgpc, tmp_path):
    X, y = twonorm(60)
    model = sgpc_package.build("fast", max_basis=6).fit(X, y)
    model.save(tmp_path / "m.sgpc")
    data = write(tmp_path / "data.csv", [[f"x{i}" for i in range(20)] + ["y"]])
    with data.open("a", newline="") as file:
        csv.writer(file).writerows([*row, label] for row, label in zip(X.tolist(), y, strict=True))
    evaluate = ("evaluate", tmp_path / "m.sgpc", data)
    output = json.loads(sgpc(*evaluate, "--target", "y", "--json").stdout)
    assert output["error"] == np.mean(model.predict(X) != y)
    assert "takes 20 columns of numbers, found 21" in problem(sgpc(*evaluate))


def test_a_terminal_sees_how_the_fit_is_going(train, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # how rich is told that there is a terminal
    monkeypatch.setenv("COLUMNS", "120")
    path = train.with_name("m.sgpc")
    options = ["--target", "bought", "--drop", "id", "-o", str(path), *map(str, SMALL)]
    result = CliRunner().invoke(main, ["fit", str(train), *options])
    assert result.exit_code == 0, result.output
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", result.stderr)
    assert "reading" in shown
    assert re.search(r"refining, penalty 1.* +\d+/\d+ loss 0\.\d{4}", shown)
    assert "left" in shown
    assert "refining" not in result.stdout
