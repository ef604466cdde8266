"""``sgpc report``."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import sgpc_framework
from sgpc_framework.tables import TableClassifier


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model file and a table for it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    columns = {"height": 170.0 + 10.0 * X[:, 0], "weight": 70.0 + 8.0 * X[:, 1]}
    columns["sex"] = np.where(X.sum(axis=1) + 0.3 * rng.normal(size=60) > 0.0, "m", "f")
    design = sgpc_framework.build(max_basis=4, max_iterations=1)
    TableClassifier.fit(columns, "sex", design).save(tmp_path / "model.sgpc")
    lines = [
        ",".join(columns),
        *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)),
    ]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_report_is_written(sgpc, folder):
    result = sgpc("report", "model.sgpc", "data.csv", "-o", "out.html", "--title", "Who is who?")
    assert result.exit_code == 0, result.output
    assert "wrote out.html" in result.stderr
    assert result.stdout == ""
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert "<h1>Who is who?</h1>" in page
    assert "height" in page
    assert 'id="reel"' in page


def test_of_a_smaller_size_and_with_the_usual_name(sgpc, folder):
    assert sgpc("report", "model.sgpc", "data.csv", "--size", 2).exit_code == 0
    assert "with 2 basis vectors" in (folder / "report.html").read_text(encoding="utf-8")


def test_no_model_is_overwritten(sgpc, folder):
    result = sgpc("report", "model.sgpc", "data.csv", "-o", "model.sgpc")
    assert result.exit_code == 1
    assert "would be overwritten" in result.stderr


def test_labels_that_the_model_does_not_know(sgpc, folder):
    data = folder / "data.csv"
    data.write_text(data.read_text().replace(",m", ",x", 1))
    result = sgpc("report", "model.sgpc", "data.csv")
    assert result.exit_code == 1
    assert "wanted one of the classes that the model knows (f, m), found x" in result.stderr
    assert not (folder / "report.html").exists()


def test_without_matplotlib_it_says_what_to_install(sgpc, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = sgpc("report", "model.sgpc", "data.csv")
    assert result.exit_code == 1
    assert "pip install 'sgpc-framework[plots]'" in result.stderr
    assert not (folder / "report.html").exists()


def test_a_model_that_was_fitted_to_arrays(sgpc, folder):
    """Its features are what they are: no units are said to differ."""
    X = np.random.default_rng(1).normal(size=(40, 2))
    y = np.where(X[:, 0] > 0.0, "m", "f")
    sgpc_framework.build(max_basis=3, max_iterations=1).fit(X, y).save(folder / "array.sgpc")
    np.savez(folder / "data.npz", X=X, y=y)
    assert sgpc("report", "array.sgpc", "data.npz").exit_code == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "3; every smaller number is a model too" in page
    assert "standardised" not in page
    result = sgpc("report", "model.sgpc", "data.csv")
    assert result.exit_code == 0
    assert "standardised" in (folder / "report.html").read_text(encoding="utf-8")
