"""Whole recipes by name, with changes."""

from __future__ import annotations

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.config.presets import PRESETS


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_fits_and_can_be_written_down(name, tmp_path):
    X, y = datasets.twonorm(150, seed=0)
    design = sgpc.build(name, max_basis=6, max_iterations=2)
    model = design.fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.8
    file = tmp_path / "written.toml"
    file.write_text(design.config.to_toml())
    assert sgpc.build(str(file)).config == design.config
    assert PRESETS[name].trade_off


def test_the_papers_method_is_the_default():
    assert sgpc.build("paper").config == sgpc.build().config


def test_what_is_said_beside_a_preset_wins():
    config = sgpc.build("accurate", max_basis=7, kernel="matern-32").config
    assert (config.max_basis, config.kernel.name) == (7, "matern-32")
    assert config.refiner.name == "corrective"


def test_a_file_may_start_from_a_preset(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('preset = "fast"\nmax_basis = 9\n')
    assert sgpc.build(file).config == sgpc.build("fast", max_basis=9).config
    assert sgpc.build(str(file), seed=3).config == sgpc.build("fast", max_basis=9, seed=3).config


def test_a_misspelt_preset_is_corrected():
    with pytest.raises(sgpc.ConfigError, match="did you mean 'accurate'"):
        sgpc.build("acurate")
    with pytest.raises(sgpc.ConfigError, match="wanted the name of a preset"):
        sgpc.build({"preset": 3})


def test_a_path_is_not_taken_for_a_preset(tmp_path):
    with pytest.raises(sgpc.ConfigError, match="there is no file"):
        sgpc.build("fast.toml")
    with pytest.raises(sgpc.ConfigError, match=r"ends in \.toml or \.json"):
        sgpc.build(str(tmp_path / "fast"))


def test_a_ready_configuration_takes_no_preset():
    with pytest.raises(sgpc.ConfigError, match="says everything"):
        sgpc.build(sgpc.build().config, preset="fast")
