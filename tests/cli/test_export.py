"""``sgpc export``: a model file in, a file of another language out."""

from __future__ import annotations

import numpy as np
import pytest

import sgpc_framework


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    design = sgpc_framework.build({"max_basis": 3})
    path = tmp_path_factory.mktemp("model") / "waves.sgpc"
    design.fit(X, X[:, 0] > 0.0).save(path)
    return path


def test_it_writes_beside_the_model(sgpc, saved):
    result = sgpc("export", saved, "--to", "numpy")
    assert result.exit_code == 0, result.output
    assert "verified on 64 random rows" in result.stderr
    assert "def predict_proba" in saved.with_suffix(".py").read_text(encoding="utf-8")


def test_the_name_says_the_language_and_a_size_can_be_had(sgpc, saved, tmp_path):
    result = sgpc("export", saved, "-o", tmp_path / "small.py", "--size", 1, "--rows", 5)
    assert result.exit_code == 0, result.output
    assert "verified on 5 random rows" in result.stderr
    assert "1 basis vectors" in (tmp_path / "small.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ((), 2, "say which language"),
        (("-o", "model.rs"), 1, "ends with one of .onnx"),
        (("--to", "numpy", "--size", "9"), 1, "ask for 1 to"),
    ],
)
def test_what_cannot_be_done(sgpc, saved, arguments, code, text):
    result = sgpc("export", saved, *arguments)
    assert result.exit_code == code
    assert text in result.stderr
