"""Which features matter."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.metrics.column_importance import Importance
from sgpc_framework.metrics.relevance import relevances
from sgpc_framework.plots import feature_importance, feature_relevance
from sgpc_framework.plots.importance_bars import draw_importance


def bars(ax):
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    return dict(zip(names, [bar.get_width() for bar in ax.patches], strict=True))


def with_kernel(model, features=2, **kernel):
    """The same sites on basis vectors of so many features, with another kernel."""
    kernel = sgpc.build(kernel=kernel).config.kernel
    inputs = np.resize(model.inputs, (len(model), features))
    return attrs.evolve(model, state=attrs.evolve(model.state, kernel=kernel, inputs=inputs))


def test_the_shortest_lengthscale_comes_first(model):
    changed = with_kernel(model, name="matern-32", lengthscale=[4.0, 0.5])
    ax = feature_relevance(changed, feature_names=["height", "weight"])
    assert bars(ax) == {"weight": 2.0, "height": 0.25}
    assert list(bars(ax)) == ["weight", "height"]
    ax.figure.canvas.draw()


def test_units_do_not_count_where_there_is_data(model, waves):
    metres = with_kernel(model, name="matern-32", lengthscale=[1.0, 1.0])
    mixed = with_kernel(model, name="matern-32", lengthscale=[1.0, 1000.0])
    in_units = feature_relevance(metres, waves.X)
    in_others = feature_relevance(mixed, waves.X * [1.0, 1000.0])
    assert bars(in_others) == pytest.approx(bars(in_units))


def test_the_terms_of_a_sum_and_the_models_of_many_classes_have_markers(model, trees):
    term = {"name": "squared-exponential", "lengthscale": [1.0, 2.0]}
    other = {"name": "matern-12", "lengthscale": [5.0, 1.0]}
    summed = with_kernel(model, name="sum", terms=[term, other])
    ax = feature_relevance(summed)
    assert [line.get_label() for line in ax.get_lines()] == ["terms[0]", "terms[1]"]
    assert bars(ax) == {"x1": 1.0, "x2": 1.0}
    ax = feature_relevance(trees.model)
    assert [line.get_label() for line in ax.get_lines()] == ["ash", "birch", "cedar"]
    ax = feature_relevance(trees.joint)
    assert bars(ax).keys() == {"x1", "x2"}
    assert ax.get_legend() is None


def test_of_many_features_the_first_are_shown_and_the_others_mentioned(model):
    changed = with_kernel(
        model, features=30, name="matern-32", lengthscale=np.arange(1.0, 31.0).tolist()
    )
    ax = feature_relevance(changed, most=10)
    assert len(bars(ax)) == 10
    assert ax.texts[0].get_text() == " and 20 others, at most 0.091"


@pytest.mark.parametrize(
    "kernel", [{"name": "linear"}, {"name": "squared-exponential", "lengthscale": 2.0}]
)
def test_a_kernel_that_says_nothing_of_single_features(model, kernel):
    silent = with_kernel(model, **kernel)
    with pytest.raises(sgpc.InputError, match="one lengthscale for each feature, found"):
        relevances(silent.kernel)
    with pytest.raises(sgpc.InputError, match="median-per-feature"):
        feature_relevance(silent)


def test_a_wrong_number_of_names(model):
    with pytest.raises(sgpc.InputError, match="wanted 2 names of features, found 1"):
        feature_relevance(model, feature_names=["height"])


def test_importances_are_bars_with_their_noise(model, waves):
    ax = feature_importance(model, waves.X, waves.y, feature_names=["east", "north"])
    assert bars(ax).keys() == {"east", "north"}
    assert list(bars(ax).values()) == sorted(bars(ax).values(), reverse=True)
    many = [Importance(f"c{place}", 1.0 / place, 0.1) for place in range(1, 31)]
    ax = draw_importance(many, most=10)
    assert len(bars(ax)) == 10
    assert ax.texts[0].get_text() == " and 20 others, at most 0.091"
