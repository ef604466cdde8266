"""Selectors over basis sizes."""

from __future__ import annotations

import numpy as np
import pytest

from sgpc_framework import InputError
from sgpc_framework.plots import selector_comparison

SCORES = [
    ("entropy", 20, 0.30, 0.01),
    ("entropy", 5, 0.40, 0.02),
    ("validation", 5, 0.35, 0.03),
    ("validation", 20, 0.25, 0.01),
]


def test_one_line_a_selector_in_order_of_size():
    ax = selector_comparison(SCORES, quantity="error")
    means = {c.get_label(): c.lines[0].get_ydata().tolist() for c in ax.containers}
    assert means == {"entropy": [0.40, 0.30], "validation": [0.35, 0.25]}
    whiskers = ax.containers[0].lines[2][0].get_segments()
    np.testing.assert_allclose([np.ptp(part[:, 1]) for part in whiskers], [0.04, 0.02])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["5", "20"]
    assert ax.get_ylabel() == "error"
    ax.figure.canvas.draw()


def test_lines_differ_in_colour_and_marker():
    ax = selector_comparison([(f"selector {i}", 5, 0.1 * i, 0.01) for i in range(8)])
    lines = [container.lines[0] for container in ax.containers]
    assert len({line.get_color() for line in lines}) == 8
    assert len({line.get_marker() for line in lines}) == 8


def test_nothing_to_compare():
    with pytest.raises(InputError, match="wanted scores to compare, found none"):
        selector_comparison([])
