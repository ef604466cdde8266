"""Critical-difference diagrams, and quality over cost."""

from __future__ import annotations

import pytest

from sgpc_framework import InputError
from sgpc_framework.plots import quality_by_cost, rank_diagram
from sgpc_framework.plots.style import BLUE, RED


@pytest.mark.parametrize("count", [2, 3, 9])
def test_every_method_is_named_once_and_starred_where_it_is_apart(count):
    ranks = {f"method {i}": 1.0 + i for i in range(count)}
    ax = rank_diagram(ranks, control="method 0", reach=1.5, groups=[("method 0", "method 1")])
    texts = [text.get_text() for text in ax.texts]
    named = [text for text in texts if text.startswith("method")]
    assert len(named) == count
    assert sum(text.endswith("*") for text in named) == count - 2
    bars = [line for line in ax.lines if line.get_color() == RED]
    assert [list(bar.get_xdata()) for bar in bars] == [[1.0, min(2.5, count)]]
    assert sum(line.get_color() == BLUE for line in ax.lines) == 1
    ax.figure.canvas.draw()
    lowest = min(text.get_position()[1] for text in ax.texts)
    assert ax.get_ylim()[0] < lowest


def test_one_method_has_no_rank():
    with pytest.raises(InputError, match="two methods or more, found 1"):
        rank_diagram({"alone": 1.0})


def test_points_of_a_method_are_joined():
    points = [("a", 0.1, 0.4, 0.01), ("b", 1.0, 0.3, 0.01), ("a", 0.2, 0.2, 0.01)]
    ax = quality_by_cost(points, cost="seconds")
    lines = {c.get_label(): c.lines[0].get_xdata().tolist() for c in ax.containers}
    assert lines == {"a": [0.1, 0.2], "b": [1.0]}
    assert ax.get_xscale() == "log"
    ax.figure.canvas.draw()
    with pytest.raises(InputError, match="found none"):
        quality_by_cost([])
