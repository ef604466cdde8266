"""Model files that were written long ago load and predict what they did."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from make import FOLDER, GRID

from sgpc_framework.files.manifest import FORMAT_VERSION
from sgpc_framework.files.model_files import read

VERSIONS = sorted(FOLDER.parent.glob("version-*"))


def test_every_version_is_kept():
    assert [folder.name for folder in VERSIONS] == [
        f"version-{number}" for number in range(1, FORMAT_VERSION + 1)
    ]


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
@pytest.mark.parametrize(
    ("name", "classes", "sizes"),
    [("two", ["other", "same"], (1, 2, 3, 4)), ("three", [0, 1, 2], (2, 4))],
)
def test_a_golden_file_predicts_what_it_did(folder: Path, name, classes, sizes):
    model, table = read(folder / f"{name}.sgpc")
    assert model.classes.tolist() == classes
    assert model.sizes == sizes
    assert table == ({"columns": ["a", "b"]} if name == "two" else None)
    assert model.provenance.config["max_basis"] == 4
    expected = json.loads((folder / "predictions.json").read_text())[name]
    found = list(model.staged_predict_proba(GRID))
    # The file holds sites; a factorisation follows, in which processors may round differently.
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
