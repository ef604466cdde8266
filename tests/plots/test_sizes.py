"""Loss against size, and what is said where matplotlib is missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.plots import loss_by_size

X, Y = datasets.twonorm(80, seed=4)
REFINED = {"refiner": {"name": "corrective", "penalty": 1.0, "iterations": 5}, "objective": "none"}


def lines(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


def test_the_stages_of_a_model():
    model = sgpc.build(max_basis=6, max_iterations=1).fit(X, Y)
    ax = loss_by_size(model)
    drawn = lines(ax)
    np.testing.assert_array_equal(
        drawn["training, after each stage"][:, 1], model.trace.column("predictive_loss")
    )
    assert drawn.keys() == {"training, after each stage", "the model, size 6"}
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of basis vectors", "log loss (nats)")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "2", "4", "6"]
    assert not ax.spines["top"].get_visible()
    ax.figure.canvas.draw()


def test_refined_sizes_on_axes_of_ones_own():
    from matplotlib.figure import Figure

    model = sgpc.build(REFINED, max_basis=6, sizes=[2, 4]).fit(X, Y)
    own = Figure().subplots()
    assert loss_by_size(model.truncated(4), ax=own) is own
    drawn = lines(own)
    assert drawn["training, at each size"][:, 0].tolist() == [2, 4, 6]
    assert drawn["the model, size 4"][0, 0] == 4
    assert "held out, with its noise" not in drawn


def test_held_out_losses_with_their_noise_from_a_trace():
    trace = sgpc.build(max_basis="auto", max_iterations=1).fit(X, Y).trace
    ax = loss_by_size(trace)
    wanted = [(record.size, record.held_out_loss) for record in trace.sizes]
    np.testing.assert_array_equal(lines(ax)["held out, with its noise"], wanted)
    assert len(ax.collections) == 1  # the band


def test_without_a_basis_there_is_still_a_picture():
    kernel = {"name": "constant", "variance": 1.0}
    model = sgpc.build(kernel=kernel, max_basis=3, max_iterations=1).fit(X, Y)
    assert loss_by_size(model) is not None


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    model = sgpc.build(max_basis=3, max_iterations=1).fit(X, Y)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'sgpc-framework\[plots\]'"):
        loss_by_size(model)
