"""Loss and error along the stages."""

from __future__ import annotations

import numpy as np
import pytest

from sgpc_framework import InputError
from sgpc_framework.plots import along_stages


def lines(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


def test_the_error_stays_below_the_bound(model):
    drawn = lines(along_stages(model))
    error, bound = drawn["training: error"], drawn["training: loss, the bound"]
    np.testing.assert_array_equal(error[:, 0], np.arange(1, 9))
    np.testing.assert_array_equal(error[:, 1], model.trace.column("training_error"))
    np.testing.assert_allclose(
        bound[:, 1], model.trace.column("predictive_loss") / np.log(2.0), rtol=1e-14
    )
    assert np.all(error[:, 1] <= bound[:, 1])


def test_a_trace_is_enough_and_a_part_of_a_model_has_a_part_of_it(model):
    assert lines(along_stages(model.trace)).keys() == lines(along_stages(model)).keys()
    assert len(lines(along_stages(model.truncated(3)))["training: error"]) == 3


def test_rows_of_ones_own_at_every_size(model, waves):
    drawn = lines(along_stages(model, waves.X, waves.y))
    wrong = [np.mean(model.truncated(t).predict(waves.X) != waves.y) for t in model.sizes]
    np.testing.assert_array_equal(drawn["held out: error"][:, 1], wrong)
    np.testing.assert_array_equal(drawn["held out: loss"][:, 0], model.sizes)


def test_a_refined_model_has_its_own_sizes_beside_the_path_before(refined, waves):
    drawn = lines(along_stages(refined, waves.X, waves.y))
    assert drawn["held out: loss"][:, 0].tolist() == [2, 4, 8]
    assert len(drawn["training, before refining: error"]) == 8
    losses = [record.predictive_loss for record in refined.trace.sizes]
    np.testing.assert_allclose(drawn["held out: loss"][:, 1] * np.log(2.0), losses, rtol=1e-9)


def test_many_classes(trees, waves):
    ax = along_stages(trees.model, waves.X, trees.y)
    drawn = lines(ax)
    assert {"training: loss of ash", "held out: loss", "held out: error"} <= drawn.keys()
    ax.figure.canvas.draw()


def test_many_classes_in_one_model(trees, waves):
    drawn = lines(along_stages(trees.joint, waves.X, trees.y))
    assert len(drawn["training: error"]) == len(drawn["held out: error"]) == 5
    assert drawn["held out: loss"][:, 0].tolist() == [1, 2, 3, 4, 5]


def test_a_trace_cannot_predict(model, waves):
    with pytest.raises(InputError, match="wanted a model beside X and y, found a trace"):
        along_stages(model.trace, waves.X, waves.y)
