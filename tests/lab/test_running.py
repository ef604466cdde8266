"""Running the experiments: what is done, in which order, and what an interruption costs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.errors import InputError
from sgpc_framework.lab import cells, plan, running
from sgpc_framework.lab.cells import Cell, Outcome
from sgpc_framework.lab.methods import VALIDATION, adaptive, method, random
from sgpc_framework.lab.plan import COMPARED, EXPERIMENTS, Scale
from sgpc_framework.lab.stage_curves import StageCurves
from sgpc_framework.lab.store import Store
from sgpc_framework.lab.timing import TIMED, InnerLoops, ratio
from sgpc_framework.parts import compilation


@pytest.fixture(autouse=True)
def _generated(monkeypatch):
    """No file, and nothing remembered of one."""
    monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
    for remembering in (cells.data_of, cells.digest_of):
        remembering.cache_clear()
    yield
    for remembering in (cells.data_of, cells.digest_of):
        remembering.cache_clear()


CELL = Cell("twonorm", 1, "entropy", size=5, iterations=2, rows=80)


@attrs.frozen
class Square:
    """A job that counts how often it is computed, in a file."""

    number: int
    log: str = "/dev/null"

    @property
    def identity(self):
        return {"square of": self.number}

    @property
    def cost(self):
        return float(self.number)

    def compute(self):
        if self.number == 13:
            raise InputError("13 brings no luck")
        with open(self.log, "a") as file:
            file.write(f"{self.number}\n")
        return {"square": self.number**2}


# ---------------------------------------------------------------------------------------------
# Cells


class TestCell:
    def test_is_the_fit_that_it_says(self):
        data = datasets.benchmark("twonorm", 1)
        design = sgpc.build(
            selector="entropy",
            max_basis=5,
            max_iterations=2,
            optimizer="conjugate-gradients",
            seed=1,
        )
        model = design.fit(data.X[:80], data.y[:80])
        outcome = Outcome(**CELL.compute())
        wrong = np.mean(model.predict(data.X_test) != data.y_test)
        own = model.predict_proba(data.X_test)[np.arange(3400), (data.y_test > 0).astype(int)]
        assert outcome.test_error == pytest.approx(wrong)
        assert outcome.test_nlp == pytest.approx(-np.mean(np.log(own)))
        assert outcome.training_error == pytest.approx(
            np.mean(model.predict(data.X[:80]) != data.y[:80])
        )
        assert (outcome.basis, outcome.iterations, outcome.source) == (5, 2, "generated")
        assert outcome.best == model.trace.best + 1

    @pytest.mark.parametrize(
        "change",
        [
            {"method": "adaptive 1"},
            {"size": 6},
            {"iterations": 3},
            {"rows": 81},
            {"partition": 2},
            {"data": "ringnorm"},
        ],
    )
    def test_what_it_computes_is_its_key(self, change):
        assert running.key(CELL) == running.key(attrs.evolve(CELL))
        assert running.key(attrs.evolve(CELL, **change)) != running.key(CELL)

    def test_other_rows_are_another_key(self, tmp_path, monkeypatch):
        before = running.key(CELL)
        facts = datasets.BENCHMARKS["twonorm"]
        X = np.random.default_rng(0).normal(size=(facts.rows, facts.features))
        y = np.where(np.arange(facts.rows) < facts.positive, 1, -1)
        np.savez(tmp_path / "twonorm.npz", X=X, y=y)
        monkeypatch.setenv("SGPC_DATA_DIR", str(tmp_path))
        for remembering in (cells.data_of, cells.digest_of):
            remembering.cache_clear()
        assert running.key(attrs.evolve(CELL)) != before

    def test_its_identity_is_plain(self):
        assert json.loads(json.dumps(CELL.identity)) == CELL.identity


def test_every_method_can_be_built():
    scale = Scale(sets=("twonorm",))
    for cell in plan.cells_in_order(scale, EXPERIMENTS):
        assert cell.design.config.max_basis == cell.size
    assert method(random(5)).settings["selector"] == {"name": "random-sampling", "working_set": 5}
    with pytest.raises(KeyError):
        method("adaptive many")


def test_the_curves_of_the_stages_end_with_the_cell():
    curves, whole = StageCurves(CELL).compute(), Outcome(**CELL.compute())
    assert {len(curve) for curve in curves.values()} == {5}
    for name, curve in curves.items():
        assert curve[-1] == pytest.approx(getattr(whole, name), abs=1e-9)


def test_inner_loops_are_timed_in_turns():
    seconds = InnerLoops("twonorm", 4, rows=60, turns=2).compute()
    assert [len(took) for took in seconds.values()] == [2] * len(TIMED)
    assert all(second > 0.0 for took in seconds.values() for second in took)
    assert ratio({"a": [4.0, 6.0, 5.0], "b": [2.0, 1.0, 9.0]}, "a", "b") == 2.5


# ---------------------------------------------------------------------------------------------
# The plan


class TestPlan:
    SCALE = Scale(sets=("twonorm", "waveform"), partitions=(4, 4, 4, 2))

    def test_experiment_3_has_every_method_at_every_size(self):
        counts = Counter(
            (cell.method, cell.size) for cell in plan.cells_in_order(self.SCALE, ["experiment3"])
        )
        wanted = {40: 8, 80: 8, 160: 8, 320: 4}
        assert counts == {(m, size): n for m in COMPARED for size, n in wanted.items()}

    def test_experiment_2_has_both_ways_to_sample_and_validation(self):
        cells = plan.cells_in_order(self.SCALE, ["experiment2"])
        assert {cell.size for cell in cells} == {40, 80}
        named = {named(k) for named in (adaptive, random) for k in (1, 2, 5, 10, 59)}
        assert {cell.method for cell in cells} == {*named, VALIDATION}

    def test_a_cell_of_two_experiments_is_computed_once(self):
        both = plan.cells_in_order(self.SCALE, ["experiment2", "experiment3"])
        assert len(both) == len(set(both))
        assert sum(cell.method == adaptive(1) and cell.size == 40 for cell in both) == 8

    def test_experiment_1_is_on_two_sets(self):
        cells = plan.cells_in_order(Scale(), ["experiment1"])
        assert {cell.data for cell in cells} <= {"waveform", "image"}
        assert {cell.size for cell in cells} == {80}

    def test_stopping_at_any_time_leaves_a_balance(self):
        """Shares of finished partitions never differ by more than one partition."""
        order = plan.cells_in_order(self.SCALE, EXPERIMENTS)
        blocks = Counter((cell.data, cell.method, cell.size) for cell in order)
        done: Counter[tuple[str, str, int]] = Counter()
        for cell in order:
            done[cell.data, cell.method, cell.size] += 1
            shares = [done[block] / blocks[block] for block in blocks]
            assert max(shares) - min(shares) <= 0.5  # one of two partitions, the coarsest block

    def test_partitions_and_iterations_by_size(self):
        scale = attrs.evolve(self.SCALE, iterations=(9, 8, 7, 6))
        sizes = {(c.size, c.iterations) for c in plan.cells_in_order(scale, ["experiment3"])}
        assert sizes == {(40, 9), (80, 8), (160, 7), (320, 6)}


# ---------------------------------------------------------------------------------------------
# Running


class TestRun:
    def test_finished_jobs_are_not_computed_again(self, tmp_path):
        log = tmp_path / "log"
        log.touch()
        store = Store(tmp_path / "cells")
        running.run([Square(2, str(log)), Square(3, str(log))], store, 1)
        jobs = [Square(number, str(log)) for number in (2, 3, 4)]
        assert running.run(jobs, store, 1) == {}
        assert log.read_text().split() == ["2", "3", "4"]
        results = running.stored_results(jobs, store)
        assert list(results.values()) == [{"square": 4}, {"square": 9}, {"square": 16}]

    def test_through_joblib_the_results_are_the_same(self, tmp_path):
        joblib = pytest.importorskip("joblib")
        jobs = [Square(number) for number in range(1, 9)]
        with joblib.parallel_config("threading"):
            running.run(jobs, Store(tmp_path / "many"), 3)
        running.run(jobs, Store(tmp_path / "one"), 1)
        many, one = (
            running.stored_results(jobs, Store(tmp_path / name)) for name in ("many", "one")
        )
        assert many == one
        assert len(one) == 8

    def test_processes_compute_cells(self, tmp_path):
        loky = pytest.importorskip("joblib.externals.loky")
        loky.get_reusable_executor().shutdown(wait=True)  # workers of other tests know other things
        compilation.load_compiled.cache_clear()
        jobs = [CELL, attrs.evolve(CELL, method="adaptive 2")]
        running.run(jobs, Store(tmp_path), 2)
        for job, result in running.stored_results(jobs, Store(tmp_path)).items():
            assert result["test_nlp"] == job.compute()["test_nlp"]

    def test_a_job_that_fails_is_reported_and_tried_again(self, tmp_path):
        jobs, seen = [Square(13), Square(2)], []
        for _ in range(2):
            problems = running.run(jobs, Store(tmp_path), 1, seen.append)
            assert problems == {Square(13): "13 brings no luck"}
        assert [at.problem for at in seen] == ["13 brings no luck", None, "13 brings no luck"]
        assert list(running.stored_results(jobs, Store(tmp_path))) == [Square(2)]

    def test_progress(self, tmp_path):
        running.run([Square(1)], Store(tmp_path), 1)
        seen: list[running.Progress] = []
        running.run([Square(n) for n in (1, 2, 3, 5)], Store(tmp_path), 1, seen.append)
        assert [(at.done, at.of) for at in seen] == [(2, 4), (3, 4), (4, 4)]
        assert [at.share for at in seen] == [0.2, 0.5, 1.0]
        assert seen[0].seconds_left is None
        assert seen[1].seconds_left > 0.0 == seen[2].seconds_left

    def test_an_interruption_keeps_what_is_finished(self, tmp_path):
        def interrupt(at: running.Progress) -> None:
            if at.done == 2:
                raise KeyboardInterrupt

        jobs = [Square(number) for number in (1, 2, 3)]
        with pytest.raises(KeyboardInterrupt):
            running.run(jobs, Store(tmp_path), 1, interrupt)
        assert list(running.stored_results(jobs, Store(tmp_path))) == [Square(1), Square(2)]


class TestStore:
    def test_an_interrupted_write_leaves_what_was_there(self, tmp_path, monkeypatch):
        store = Store(tmp_path)
        store.put("k", {}, {"x": 1})

        def cut(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("os.replace", cut)
        with pytest.raises(KeyboardInterrupt):
            store.put("k", {}, {"x": 2})
        assert store.get("k") == {"x": 1}
        assert [path.name for path in tmp_path.iterdir()] == ["k.json"]

    def test_numbers_come_back_to_the_bit(self, tmp_path):
        store, numbers = Store(tmp_path), [0.1 + 0.2, 1e-300, 2**60]
        store.put("k", {}, {"x": numbers})
        assert store.get("k") == {"x": numbers}
        assert store.get("other") is None

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', "null"])
    def test_a_damaged_file_is_named(self, text, tmp_path):
        (tmp_path / "k.json").write_text(text)
        with pytest.raises(InputError, match=r"k\.json: .*delete the file"):
            Store(tmp_path).get("k")

    def test_another_format_is_not_finished(self, tmp_path):
        (tmp_path / "k.json").write_text('{"format": 0, "result": {}}')
        assert Store(tmp_path).get("k") is None


ORPHANS = """
import os, sys, time
from sgpc_framework.lab.running import run


class Slow:
    identity, cost = {}, 1.0

    def compute(self):
        print(os.getpid(), flush=True)
        time.sleep(60.0)


class Nothing:
    get = put = lambda *_: None


run([Slow(), Slow()], Nothing(), workers=2)
"""


@pytest.mark.skipif(os.name == "nt", reason="needs the signals of POSIX")
def test_workers_end_with_their_parent(tmp_path):
    script = tmp_path / "slow.py"
    script.write_text(ORPHANS)
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    workers = [int(process.stdout.readline()) for _ in range(2)]
    os.kill(process.pid, signal.SIGKILL)
    process.wait(10.0)
    deadline = time.monotonic() + 20.0
    while time.monotonic() < deadline and any(map(_is_running, workers)):
        time.sleep(0.2)
    assert not any(map(_is_running, workers))
    process.stdout.close()


def _is_running(pid):
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
