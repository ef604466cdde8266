"""The arithmetic of the quality benchmark, on made-up results: no rival is fitted."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import attrs
import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="benchmarks are in the repository, not in a wheel")

from benchmarks import cells, quality
from benchmarks.cells import METHODS, Cell, Plan, Scores, Task, expected_calibration_error, tasks
from benchmarks.quality import read_cells, time_left
from benchmarks.verdicts import MEASURES, duels, report, table, verdict


def cell(method, partition, *, nlp=0.3, error=0.1, cpu=1.0, data="banana", size=20, problem=None):
    task = Task(data, "made up", 100, partition, method, size, {"of": method})
    scores = None if problem else Scores(nlp, error, 0.02, cpu, cpu, 1000)
    return Cell(task, scores, problem, took=cpu, commit="abc")


def series(method, errors, **others):
    return [cell(method, i, error=error, **others) for i, error in enumerate(errors)]


class TestCalibration:
    def test_frequencies_as_predicted_have_none(self):
        probability = np.full(10, 0.8)
        y = np.array([1.0] * 8 + [-1.0] * 2)
        assert expected_calibration_error(probability, y) == pytest.approx(0.0)
        assert expected_calibration_error(1.0 - probability, -y) == pytest.approx(0.0)

    def test_sure_and_always_wrong_is_one(self):
        y = np.array([1.0, -1.0, 1.0])
        assert expected_calibration_error((y < 0.0).astype(float), y) == pytest.approx(1.0)

    def test_bins_are_weighted_by_their_rows(self):
        # 30 rows at 0.9, all right: off by 0.1. 10 rows at 0.6, half right: off by 0.1, too.
        probability = np.repeat([0.9, 0.6], [30, 10])
        y = np.concatenate([np.ones(35), -np.ones(5)])
        assert expected_calibration_error(probability, y) == pytest.approx(0.1)
        # Right is too much in one bin and too little in the other: they must not cancel.
        assert expected_calibration_error(probability, y, bins=1) == pytest.approx(0.05)

    def test_the_ends_belong_to_bins(self):
        y = np.array([1.0, 1.0, -1.0])
        assert expected_calibration_error(np.array([1.0, 0.5, 0.0]), y) == pytest.approx(0.5 / 3)


class TestDuels:
    def test_partitions_are_paired(self):
        """Partitions differ by far more than the methods do, and this must not hide the latter."""
        ours = series("accurate", [0.12, 0.21, 0.32], nlp=0.25, cpu=2.0)
        theirs = series("svgp", [0.10, 0.20, 0.30], nlp=0.30, cpu=10.0)
        (duel,) = duels([*ours, *reversed(theirs)], "accurate", "svgp", 20)
        assert duel.error.value == pytest.approx(0.05 / 3)
        assert duel.error.error == pytest.approx(0.01 / 3)
        assert duel.error_worse
        assert duel.nlp_no_worse
        assert duel.cpu_ratio == pytest.approx(5.0)
        assert "**significantly worse**" in duel.cells()

    @pytest.mark.parametrize(("least", "worse"), [(0.0, True), (-0.0002, False)])
    def test_five_partitions_take_almost_three_standard_errors(self, least, worse):
        apart = [least + step / 1000 for step in range(5)]  # 2.83 or 2.55 standard errors
        ours, theirs = series("accurate", [0.1 + a for a in apart]), series("svgp", [0.1] * 5)
        (duel,) = duels([*ours, *theirs], "accurate", "svgp", 20)
        assert duel.error_worse is worse

    def test_within_two_standard_errors_is_not_worse(self):
        ours, theirs = series("accurate", [0.13, 0.10]), series("svgp", [0.10, 0.11])
        (duel,) = duels([*ours, *theirs], "accurate", "svgp", 20)
        assert duel.error.value > 0.0
        assert not duel.error_worse

    def test_one_partition_proves_nothing(self):
        cells = [*series("accurate", [0.5]), *series("svgp", [0.1])]
        (duel,) = duels(cells, "accurate", "svgp", 20)
        assert not duel.error_worse
        assert "one partition" in duel.cells()

    def test_only_what_both_finished_counts(self):
        cells = [
            *series("accurate", [0.1, 0.1]),
            cell("svgp", 0, nlp=0.2),
            cell("svgp", 1, problem="not positive definite"),
        ]
        (duel,) = duels(cells, "accurate", "svgp", 20)
        assert (duel.nlp.value, duel.nlp.count) == (pytest.approx(0.1), 1)
        assert duels(cells, "accurate", "svgp-pll", 20) == []

    def test_sizes_are_apart(self):
        cells = [*series("accurate", [0.1]), cell("svgp", 0, size=80)]
        assert duels(cells, "accurate", "svgp", 20) == []


class TestReport:
    CELLS = (
        *series("accurate", [0.1, 0.1], nlp=0.2, cpu=1.0),
        *series("svgp", [0.1, 0.1], nlp=0.25, cpu=8.0),
        *series("accurate", [0.2, 0.2], nlp=0.4, cpu=2.0, data="image"),
        *series("svgp", [0.1, 0.1], nlp=0.35, cpu=8.0, data="image"),
        *series("gp", [0.1, 0.1], size=None, problem="gp does not fit: 4000 rows"),
        cell("boosting", 0, size=None, nlp=0.5),
        cell("boosting", 1, size=None, problem="Traceback\nValueError: no"),
    )

    def test_verdict_counts_sets(self):
        lines = verdict(self.CELLS, 20).splitlines()
        assert "| accurate | svgp | 1 of 2 | 1 of 2 | 4.0 | 6.0 | 5 |" in lines
        assert "| image | +0.050 ± 0.000 | **no** | +10.00 ± 0.00 " in "\n".join(lines)

    def test_nothing_to_compare(self):
        assert verdict(series("paper", [0.1]), 20) == "No preset and rival to compare."

    def test_table(self):
        lines = table(self.CELLS, 20, MEASURES[0]).splitlines()
        assert lines[2] == "| method | banana | image |"
        assert lines[4:] == [
            "| accurate | **0.200 ± 0.000** | 0.400 ± 0.000 |",
            "| svgp | 0.250 ± 0.000 | **0.350 ± 0.000** |",
            "| gp | does not fit |  |",
            "| boosting | 0.500 (1 of 2) |  |",
        ]

    def test_failures_are_listed_with_their_text(self):
        text = report(self.CELLS, [20])
        assert "- banana, partition 1: boosting: ValueError: no" in text
        assert "- banana, partition 1: gp" not in text, "too large is no failure"


class TestRun:
    def test_a_file_gives_back_the_cells(self, tmp_path: Path):
        path = tmp_path / "cells.jsonl"
        lines = [json.dumps(attrs.asdict(one)) for one in TestReport.CELLS]
        path.write_text("\n".join(lines) + "\n" + lines[0][:50])
        assert read_cells(path) == list(TestReport.CELLS)
        assert read_cells(tmp_path / "none.jsonl") == []

    def test_resuming_does_what_is_missing_or_failed(self, tmp_path: Path, monkeypatch):
        path = tmp_path / "cells.jsonl"
        finished, failed, other = cell("svgp", 0), cell("svgp", 1, problem="x"), cell("svgp", 2)
        changed = attrs.evolve(other.task, settings={"of": "another"})
        cells = (finished, failed, other)
        path.write_text("\n".join(json.dumps(attrs.asdict(one)) for one in cells)[:-1])
        began = []

        def carry_out(task, data, commit):
            began.append(task)
            return attrs.evolve(finished, task=task)

        monkeypatch.setattr(quality, "carry_out", carry_out)
        monkeypatch.setattr(Plan, "data", lambda *_: None)
        wanted = [finished.task, failed.task, changed]
        results = quality.run(wanted, Plan([]), path)
        assert began == [failed.task, changed]
        assert [one.task for one in results] == wanted
        assert quality.run(wanted, Plan([]), path) == results
        assert began == [failed.task, changed]

    def test_time_left_goes_by_the_most_similar_cells(self):
        cells = [cell("svgp", 0, cpu=10.0), cell("svgp", 0, cpu=2.0, data="image")]
        todo = [cell("svgp", 1, data=data).task for data in ("image", "banana", "splice")]
        assert time_left(todo, cells) == pytest.approx(2.0 + 10.0 + 6.0)
        assert time_left(todo, []) == 0.0

    def test_tasks(self, monkeypatch):
        monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
        plan = Plan(["accurate", "svgp", "svm"], rows=50, steps=7)
        planned = list(tasks([3], ["twonorm"], [5, 9], plan))
        assert [(task.method, task.size) for task in planned] == [
            ("svm", None),
            ("accurate", 5),
            ("svgp", 5),
            ("accurate", 9),
            ("svgp", 9),
        ]
        assert planned[2].settings == {"rival": "svgp", "inducing": 5, "steps": 7}
        assert planned[1].settings["refiner"]["name"] == "corrective"

    def test_a_failure_is_written_down(self, monkeypatch):
        def refuse(*_, **__):
            raise cells.rivals.RivalError("out of memory")

        monkeypatch.setattr(cells.rivals, "run", refuse)
        monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
        (task,) = tasks([0], ["twonorm"], [], Plan(["svm"], rows=50))
        result = cells.carry_out(task, Plan([], rows=50).data("twonorm", 0), "abc")
        assert (result.scores, result.problem, result.final) == (None, "out of memory", False)

    def test_ours_is_measured(self, monkeypatch):
        monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
        plan = Plan(["paper"], rows=120)
        (task,) = tasks([0], ["twonorm"], [4], plan)
        scores = cells.carry_out(task, plan.data("twonorm", 0), "abc").scores
        assert scores is not None
        assert 0.0 < scores.nlp < 0.7
        assert scores.bytes > 1000
        assert scores.cpu_seconds > 0.0


@pytest.mark.parametrize("path", sorted(Path(cells.__file__).parent.glob("*.py")), ids=str)
def test_every_benchmark_can_be_imported(path):
    import_module(f"benchmarks.{path.stem}")


def test_presets_and_rivals_of_the_verdict_are_methods():
    assert {*cells.JUDGED, *cells.AGAINST} <= set(METHODS)
