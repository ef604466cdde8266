"""The log of a fit is enough to make its states again, to the bit."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.engine.fit import fit
from sgpc_framework.engine.log import replay
from sgpc_framework.engine.log_records import Began, RefinerEnded, Tried
from sgpc_framework.engine.slopes import predictive_loss
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.testing.fit_laws import replaying_the_log_makes_the_same_states
from sgpc_framework.testing.strategies import FitToMake, Problem

PROBLEM = Problem(*datasets.waveform(300, seed=4))
BRIEF = {"max_basis": 12, "max_iterations": 2}


def replays(**options):
    design = sgpc.build({**BRIEF, **options})
    replaying_the_log_makes_the_same_states(FitToMake(PROBLEM, design))


@pytest.mark.parametrize("selector", default_registry().names("selector"))
@pytest.mark.parametrize("block_rows", [70, 1000])
@pytest.mark.parametrize("storage", ["float64", "float32"])
def test_any_selector_in_any_blocks_in_any_storage(selector, block_rows, storage):
    replays(selector=selector, block_rows=block_rows, storage=storage)


def test_more_candidates_than_are_kept(monkeypatch):
    monkeypatch.setattr("sgpc_framework.rows.candidates.KEPT_BYTES", 0)
    replays(selector="validation", block_rows=70)


@pytest.mark.parametrize("refiner", default_registry().names("refiner"))
@pytest.mark.parametrize("sizes", [[], [3, 8]])
def test_with_a_refiner_and_sizes(refiner, sizes):
    replays(refiner=refiner, sizes=sizes, block_rows=70)


@pytest.mark.parametrize("objective", ["none", "marginal-likelihood", "predictive-loss"])
def test_any_step_6(objective):
    replays(objective=objective, block_rows=70)


def test_a_step_6_over_some_of_the_rows():
    replays(objective={"name": "nlp", "subset": 150}, block_rows=70)


def test_sites_that_look_at_all_rows():
    replays(sites="predictive-loss", block_rows=70)


def test_stages_that_ended_before_max_basis():
    X = np.zeros((6, 2))
    X[1], X[4] = [1.0, 0.0], [0.0, 2.0]
    design = sgpc.build(kernel="linear", selector="entropy", max_basis=5)
    problem = Problem(X, np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0]))
    replaying_the_log_makes_the_same_states(FitToMake(problem, design))


def logged(**options):
    config = sgpc.build({**BRIEF, "block_rows": 70, **options}).config
    rows = TrainingRows.of(PROBLEM.X, PROBLEM.y, config.block_rows)
    return fit(config, rows, lambda _: None), rows


def test_the_trace_is_a_view_of_the_log():
    end, rows = logged()
    log, trace = end.log, end.trace
    assert len(trace.iterations) == len(log.ended) == len(log.of(Began))
    assert [stage.row for stage in trace.stages] == end.whole.basis.tolist()
    assert trace.iterations[trace.best].loss == min(each.step6.loss for each in log.ended)
    stages = [stage for iteration in trace.iterations for stage in iteration.stages]
    for tried, stage in zip(log.of(Tried), stages, strict=True):
        assert stage.row in tried.rows
        assert len(tried.rows) == 2
    last = trace.iterations[-1].stages[-1].predictive_loss
    (whole,) = replay(log, rows)
    assert predictive_loss(whole, rows) <= last


def test_the_log_knows_what_a_refiner_made():
    end, _ = logged(refiner="corrective", objective="none", sizes=[3])
    assert [each.size for each in end.log.of(RefinerEnded)] == [3, 12]
    assert [each.state for each in end.log.of(RefinerEnded)] == list(end.states)


def test_iterations_take_no_longer_than_the_fit():
    began = perf_counter()
    end, _ = logged()
    took = [each.seconds for each in end.log.ended]
    assert min(took) > 0.0
    assert sum(took) <= perf_counter() - began
