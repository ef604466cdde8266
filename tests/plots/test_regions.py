"""Decision regions."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.datasets import twonorm
from sgpc_framework.plots import decision_regions


def numbers(ax):
    return {text.get_text(): text.xy for text in ax.texts}


def test_basis_vectors_are_numbered_in_the_order_they_came(model, waves):
    ax = decision_regions(model, waves.X, waves.y, feature_names=["east", "north"])
    drawn = numbers(ax)
    assert drawn.keys() == {str(number) for number in range(1, 9)}
    for number, place in enumerate(model.inputs, start=1):
        np.testing.assert_array_equal(drawn[str(number)], place)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("east", "north")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["crest", "trough"]
    ax.figure.canvas.draw()


def test_the_colour_is_that_of_the_predicted_class(model):
    ax = decision_regions(model, resolution=40)
    (image,) = ax.get_images()
    left, right, bottom, top = image.get_extent()
    x, y = np.meshgrid(np.linspace(left, right, 40), np.linspace(bottom, top, 40))
    labels = model.predict(np.c_[x.ravel(), y.ravel()]).reshape(40, 40)
    red, _, blue = np.moveaxis(np.asarray(image.get_array(), dtype=float)[..., :3], -1, 0)
    assert np.all((blue >= red)[labels == "crest"])
    assert np.all((red >= blue)[labels == "trough"])


def test_many_classes_have_a_basis_each(trees, waves):
    ax = decision_regions(trees.model, waves.X, trees.y)
    texts = [text.get_text() for text in ax.texts]
    assert sorted(texts) == sorted([str(number) for number in range(1, 6)] * 3)
    assert len({text.get_color() for text in ax.texts}) == 3


def test_or_one_for_all(trees, waves):
    ax = decision_regions(trees.joint, waves.X, trees.y)
    assert sorted(text.get_text() for text in ax.texts) == ["1", "2", "3", "4", "5"]
    assert len(ax.get_legend().get_texts()) == 3


def test_a_basis_vector_far_away_does_not_shrink_the_picture(model, waves):
    inputs = model.inputs.copy()
    inputs[0] = [1e4, 0.0]
    moved = sgpc.Model(model.classes, attrs.evolve(model.state, inputs=inputs), model.trace)
    ax = decision_regions(moved, waves.X, waves.y)
    assert ax.get_xlim()[1] < 5.0
    assert ax.get_title(loc="left") == "1 basis vector is outside the frame"


def test_a_name_is_no_formula(model, waves):
    y = np.where(waves.y == "crest", "_US$ a$", "b")
    renamed = attrs.evolve(model, classes=np.array(["_US$ a$", "b"]))
    ax = decision_regions(renamed, waves.X, y, feature_names=["$", "$x$"])
    assert len(ax.get_legend().get_texts()) == 2
    assert ax.get_ylabel() == r"\$x\$"
    ax.figure.canvas.draw()


def test_other_numbers_of_features_are_refused():
    model = sgpc.build(max_basis=2, max_iterations=1).fit(*twonorm(30))
    with pytest.raises(sgpc.InputError, match="drawn of two features, this model has 20"):
        decision_regions(model)


def test_what_is_no_model_is_refused():
    with pytest.raises(
        sgpc.InputError, match="wanted a Model or a OneVsRest, as fit returns them, found Design"
    ):
        decision_regions(sgpc.build())


def test_there_is_room_for_sixty_numbers(waves):
    model = sgpc.build(max_basis=70, max_iterations=1).fit(waves.X, waves.y)
    ax = decision_regions(model, resolution=20)
    assert len(ax.texts) == 60
    (dots,) = ax.get_lines()
    np.testing.assert_array_equal(dots.get_xydata(), model.inputs[60:])


def test_a_model_without_a_basis_vector_needs_rows(model, waves):
    empty = sgpc.Model(model.classes, model.state[:0], model.trace)
    decision_regions(empty, waves.X, waves.y, resolution=10)
    with pytest.raises(sgpc.InputError, match="give X and y"):
        decision_regions(empty)
