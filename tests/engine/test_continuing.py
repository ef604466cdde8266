"""Going on from an earlier model: from its basis and its hyperparameters, in less time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.datasets import waveform
from sgpc_framework.engine.fit import fit
from sgpc_framework.engine.log import replay
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.fit_laws import require_same_bits

X, y = waveform(240, seed=4)
OLD = slice(0, 200)
REFINER = {"name": "corrective", "kernels": ["matern-32"], "penalty": 1.0, "iterations": 20}
REFINED = {"refiner": REFINER, "objective": "none", "max_basis": 6}


def test_basis_vectors_that_are_rows_are_included_first():
    design = sgpc.build(max_basis=10)
    first = design.fit(X[OLD], y[OLD])
    second = design.fit(X, y, start=first)
    begun = second.trace.iterations[0]
    assert [stage.row for stage in begun.stages] == first.basis.tolist()
    assert begun.hyperparameters["kernel.lengthscale"] == first.kernel.lengthscale
    assert len(second.trace.iterations) < len(first.trace.iterations)
    losses = [each.loss for each in second.trace.iterations]
    assert losses[-1] >= min(losses)
    assert all(after < before for before, after in pairwise(losses[:-1]))


def test_a_selector_adds_what_more_there_is_room_for():
    first = sgpc.build(max_basis=5).fit(X[OLD], y[OLD])
    second = sgpc.build(max_basis=9).fit(X, y, start=first)
    rows = [stage.row for stage in second.trace.iterations[0].stages]
    assert rows[:5] == first.basis.tolist()
    assert len(set(rows)) == 9


def test_rows_that_are_gone_are_made_up_for():
    first = sgpc.build(max_basis=8).fit(X[OLD], y[OLD])
    gone = np.delete(np.arange(240), first.basis[:3])
    second = sgpc.build(max_basis=8).fit(X[gone], y[gone], start=first)
    kept = np.flatnonzero(gone[:200] == np.arange(len(gone[:200])))
    rows = [stage.row for stage in second.trace.iterations[0].stages]
    expected = [row for row in first.basis.tolist() if row in kept]
    assert rows[: len(expected)] == expected
    assert len(rows) == 8


def test_rows_of_weight_zero_are_known_by_their_numbers():
    design = sgpc.build(max_basis=6, max_iterations=2)
    weight = np.ones(240)
    weight[:20] = 0.0
    first = design.fit(X, y, sample_weight=weight)
    second = design.fit(X, y, sample_weight=weight, start=first)
    assert [stage.row for stage in second.trace.iterations[0].stages] == first.basis.tolist()


def test_a_refined_model_is_refined_further_and_chooses_nothing_again():
    design = sgpc.build(REFINED)
    first = design.fit(X[OLD], y[OLD])
    assert any("held-out rows were asked" in note for note in first.trace.notes)
    told = []
    second = design.fit(X, y, start=first, progress=told.append)
    assert not any("held-out rows were asked" in note for note in second.trace.notes)
    assert second.trace.stages == ()
    assert second.kernel.name == first.kernel.name
    assert told[0].basis == 6  # somebody can stop it
    assert any(at.refining is not None for at in told)
    refiner = design.config.refiner
    rows = TrainingRows.of(X, y)
    assert refiner.loss(second.state, rows) < refiner.loss(first.state, rows)


def test_it_can_be_saved_before(tmp_path):
    design = sgpc.build(REFINED)
    first = design.fit(X[OLD], y[OLD])
    first.save(tmp_path / "first")
    ours = design.fit(X, y, start=first)
    theirs = design.fit(X, y, start=sgpc.load(tmp_path / "first"))
    require_same_bits(ours.state, theirs.state)


def test_what_a_refiner_made_stays_refined_where_nothing_is_gained():
    design = sgpc.build(REFINED, refiner={**REFINER, "kernels": []})
    model = design.fit(X, y)
    for _ in range(3):
        model = design.fit(X, y, start=model)
    assert model.smaller == ()
    assert model.sizes == (6,)


def test_a_refined_model_that_is_too_small_gives_hyperparameters_only():
    first = sgpc.build(REFINED, max_basis=4).fit(X[OLD], y[OLD])
    second = sgpc.build(REFINED).fit(X, y, start=first)
    assert len(second) == 6
    assert len(second.trace.stages) == 6


@pytest.mark.parametrize("refiner", ["none", {**REFINER, "kernels": []}])
def test_its_log_makes_its_states_again(refiner):
    from sgpc_framework.engine.algorithm1 import initial
    from sgpc_framework.engine.continuing import Continuing

    design = sgpc.build(refiner=refiner, max_basis=6, max_iterations=2)
    first = design.fit(X[OLD], y[OLD])
    rows = TrainingRows.of(X, y)
    here = Continuing(
        design.config, first.provenance, initial(design.config, rows), rows, first.classes
    )
    config, earlier = here.after(first)
    end = fit(config, rows, lambda _: None, earlier=earlier)
    for ours, theirs in zip(replay(end.log, rows), end.states, strict=True):
        require_same_bits(ours, theirs)


@pytest.mark.parametrize("options", [{"max_basis": 6}, REFINED], ids=["stages", "refined"])
def test_with_a_checkpoint(tmp_path, options):
    design = sgpc.build(options)
    first = design.fit(X[OLD], y[OLD])
    design.fit(X, y, start=first).save(tmp_path / "unbroken")
    log = tmp_path / "fit.log"
    design.fit(X, y, start=first, checkpoint=log)
    written = log.read_bytes()
    for share in (0.5, 0.8):
        log.write_bytes(written[: int(share * len(written))])
        with pytest.warns(sgpc.CheckpointWarning):
            design.fit(X, y, start=first, checkpoint=log).save(tmp_path / "resumed")
        assert (tmp_path / "resumed").read_bytes() == (tmp_path / "unbroken").read_bytes()
