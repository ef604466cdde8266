"""Which probabilities are predicted."""

from __future__ import annotations

import numpy as np

import sgpc_framework as sgpc
from sgpc_framework.plots import along_stages, feature_relevance, probability_histogram


def counts(ax):
    return {
        container.get_label(): [bar.get_height() for bar in container.patches]
        for container in ax.containers
    }


def test_every_row_is_in_a_bar_of_its_class(model, waves):
    ax = probability_histogram(model, waves.X, waves.y, bins=10)
    drawn = counts(ax)
    second = model.predict_proba(waves.X)[:, 1]
    for label in ("crest", "trough"):
        wanted = np.histogram(second[waves.y == label], 10, (0.0, 1.0))[0]
        assert drawn[label] == wanted.tolist()
    bottoms = [bar.get_y() for bar in ax.containers[1].patches]
    assert bottoms == drawn["crest"]  # stacked
    ax.figure.canvas.draw()


def test_of_many_classes_it_is_the_own_one(trees, waves):
    drawn = counts(probability_histogram(trees.model, waves.X, trees.y, bins=4))
    own = trees.model.predict_proba(waves.X)[
        np.arange(160), np.searchsorted(["ash", "birch", "cedar"], trees.y)
    ]
    wanted = np.histogram(own, 4, (0.0, 1.0))[0]
    assert np.sum(list(drawn.values()), axis=0).tolist() == wanted.tolist()


def test_more_classes_than_colours(waves):
    """What would need a colour for each class does without."""
    y = np.digitize(waves.X[:, 0], np.linspace(-1.6, 1.6, 10))
    kernel = {"name": "squared-exponential", "lengthscale": [1.0, 1.0]}
    design = sgpc.build(kernel=kernel, strategy="one-vs-rest", max_basis=2, max_iterations=1)
    model = design.fit(waves.X, y)
    assert len(model.classes) == 11
    ax = probability_histogram(model, waves.X, y)
    assert ax.get_legend() is None
    assert sum(bar.get_height() for bar in ax.patches) == len(y)
    labels = along_stages(model, waves.X, y).get_legend_handles_labels()[1]
    assert labels[0] == "training: loss of each of 11 classes"
    assert labels[1:] == ["held out: loss", "held out: error"]
    ax = feature_relevance(model)
    assert ax.get_legend() is None
    assert len(ax.patches) == 2
