"""What a refiner may do wrong without spoiling the fit."""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.authors import NumericalError, Refined, predictive_loss
from sgpc_framework.datasets import waveform

X, y = waveform(100, seed=3)


@attrs.frozen
class Unlucky:
    """A refiner whose arithmetic fails, or whose state has no arithmetic."""

    name: ClassVar[str] = "unlucky"
    raises: bool = True

    def loss(self, state, rows):
        return predictive_loss(state, rows)

    def refine(self, state, rows, rng, tell):
        if self.raises:
            raise NumericalError("it went wrong")
        return Refined(attrs.evolve(state, inputs=np.full_like(state.inputs, np.nan)))


@pytest.mark.parametrize(
    ("raises", "why"), [(True, "it went wrong"), (False, "the Gram matrix .* is not finite")]
)
def test_where_the_algebra_fails_the_model_of_the_stages_is_returned(raises, why):
    options = {"objective": "none", "max_basis": 6}
    plain = sgpc.build(options).fit(X, y)
    with pytest.warns(sgpc.NumericalWarning, match=f"the model was not refined: {why}"):
        model = sgpc.build(options, refiner=Unlucky(raises)).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.trace.notes[-1].startswith("refiner unlucky: the model was not refined: ")


@attrs.frozen
class Liar:
    """A refiner that turns the model round, and calls that better."""

    name: ClassVar[str] = "liar"
    factor: float = -1.0

    def loss(self, state, rows):
        return float(state.mean @ state.mean)

    def refine(self, state, rows, rng, tell):
        return Refined(attrs.evolve(state, mean=self.factor * state.mean))


def test_sizes_beyond_the_stages_are_told_of():
    sizes = {"sizes": [2, 6, 9, 40], "max_basis": 6, "objective": "none"}
    model = sgpc.build(sizes, refiner=Liar(0.9)).fit(X, y)
    assert model.sizes == (2, 6)
    assert model.trace.notes[-1] == "sizes [9, 40] were left out: there are 6 basis vectors"


def test_a_refiner_that_makes_the_model_clearly_worse_is_found_out_whatever_its_loss_says():
    options = {"objective": "none", "max_basis": 6}
    with pytest.warns(sgpc.NumericalWarning, match="the refiner 'liar' made the model worse: NLP"):
        model = sgpc.build(options, refiner=Liar()).fit(X, y)
    assert any("made the model worse" in note for note in model.trace.notes)


def test_a_model_that_is_a_little_less_sure_of_itself_is_nobodys_business():
    model = sgpc.build(objective="none", max_basis=6, refiner=Liar(0.95)).fit(X, y)
    assert model.trace.notes == ()
