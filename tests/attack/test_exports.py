"""Models in other languages keep labels and names as they are, or are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sgpc_framework as sgpc
from sgpc_framework.adapters.portable.exports import export
from sgpc_framework.errors import ExportError
from sgpc_framework.model.classes import label_text
from sgpc_framework.tables import TableClassifier

X = np.random.default_rng(0).normal(size=(30, 2))
FIRST = X[:, 0] > 0.0


def fitted(one, other):
    y = np.array([one if first else other for first in FIRST], dtype=object)
    return sgpc.build("paper", max_basis=3, max_iterations=1).fit(X, y)


@given(st.floats(allow_nan=False))
def test_a_label_is_shown_with_every_digit(label):
    assert float(label_text(label)) == label


@pytest.mark.parametrize(
    ("labels", "in_c"),
    [
        ((0.12345678, 0.12345679), '"0.12345678", "0.12345679"'),
        ((1700000000.25, 1700000001.25), '"1700000000.25", "1700000001.25"'),
        ((2**60, 2**60 + 1), '"1152921504606846976", "1152921504606846977"'),
        (("*/", 'a"\\b'), r'"*/", "a\042\134b"'),
    ],
)
def test_labels_in_c(tmp_path, labels, in_c):
    export(fitted(*labels), tmp_path / "m.c")
    assert f"{{{in_c}}}" in (tmp_path / "m.c").read_text()


@pytest.mark.parametrize(
    ("labels", "language"), [((2**53, 1), "js"), ((2**63, 1), "onnx"), ((-(10**30), 1), "js")]
)
def test_labels_that_a_language_has_not(tmp_path, labels, language):
    with pytest.raises(ExportError, match=f"as large as the label {labels[0]}: fit with"):
        export(fitted(*labels), tmp_path / f"m.{language}")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("language", ["c", "onnx"])
def test_half_a_character(tmp_path, language):
    if language == "onnx":
        pytest.importorskip("onnx")
    table = {"\ud800": X[:, 0], "y": np.where(FIRST, "a", "b")}
    model = TableClassifier.fit(table, "y", sgpc.build("paper", max_basis=3, max_iterations=1))
    with pytest.raises(ExportError, match=r"'\\ud800' in .* is no character"):
        export(model, tmp_path / f"m.{language}")
