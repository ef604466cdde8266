"""The arithmetic of the quality benchmark, on made-up results: no rival is fitted."""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from time import process_time

import attrs
import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="benchmarks are in the repository, not in a wheel")

from benchmarks import cells, methods, quality
from benchmarks.cells import Cell, Part, Task, parts, tasks
from benchmarks.curves import COLOURS, Curves
from benchmarks.methods import METHODS, RIVALS, Rival, Scores, expected_calibration_error
from benchmarks.problems import divided, friedman, problem, products
from benchmarks.quality import known_cells, read_cells, time_left
from benchmarks.rivals import HERE, Moment, RivalError
from benchmarks.standings import Entrant, Standings
from benchmarks.verdicts import (
    NLP,
    budgets,
    losses_first,
    of_many_rows,
    of_seeds,
    rates_in_words,
    report,
    table,
)
from sgpc_framework.config.presets import PRESETS
from sgpc_framework.errors import InputError


def cell(method, partition, *nlp, cpu=1.0, data="banana", size=20, problem=None, bayes=0.0, **more):
    """A run that was looked at after 100, 200, ... steps, or once."""
    task = Task(data, "made up", 100, partition, method, size, {"of": method, **more})
    steps = [100 * (i + 1) for i in range(len(nlp))] if len(nlp) > 1 else [None]
    scores = tuple(
        Scores(budget, value, 0.1, 0.02, cpu * (i + 1), cpu * (i + 1), 1000)
        for i, (budget, value) in enumerate(zip(steps, nlp, strict=False))
    )
    return Cell(task, scores, problem, took=cpu, commit="abc", bayes=bayes)


def series(method, values, **others):
    return [cell(method, i, value, **others) for i, value in enumerate(values)]


class TestProblems:
    def test_development_sets_are_prepared_by_their_training_rows(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((100, 4)) * [1.0, 5.0, 1.0, 1.0] + [0.0, 9.0, 0.0, 0.0]
        X[::3, 0], X[:, 2], X[:, 3] = np.nan, 7.0, np.nan
        y = np.arange(100) % 3
        data = divided("made-up", X, y, partition=4)
        assert data.X.shape == (70, 2)
        assert data.X_test.shape == (30, 2)
        assert data.X.mean(axis=0) == pytest.approx([0.0, 0.0])
        assert data.X.std(axis=0) == pytest.approx([1.0, 1.0])
        train = np.random.default_rng(1004).permutation(100)[:70]
        np.testing.assert_array_equal(data.y, y[train])
        missing = np.isnan(X[train, 0])
        middle = np.median(data.X[~missing, 0])
        np.testing.assert_allclose(data.X[missing, 0], middle)

    def test_sets_are_found_below_the_folder(self, tmp_path, monkeypatch):
        (tmp_path / "development").mkdir()
        for name in ("mc_made", "made"):
            path = tmp_path / "development" / f"{name}.npz"
            np.savez(path, X=np.arange(40.0).reshape(20, 2), y=np.arange(20) % 2)
        monkeypatch.setenv("SGPC_DATA_DIR", str(tmp_path))
        two, many, *_ = parts()
        assert "made" in two.sets
        assert list(many.sets) == ["mc_made"]
        assert len(problem("made", 0).y) == 14
        with pytest.raises(InputError, match=r"development/other\.npz.*found none.*made"):
            problem("other", 0)

    def test_without_a_folder_there_is_what_can_be_generated(self, monkeypatch):
        monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
        assert [list(part.sets) for part in parts()][:3] == [
            ["waveform", "twonorm", "ringnorm"],
            [],
            ["friedman"],
        ]
        data = problem("twonorm", 0)
        assert {*data.y_test} == {0, 1}
        assert "generated" in data.source

    def test_friedman(self):
        data = friedman(3)
        assert data.X.shape == (2500, 10)
        assert np.mean(np.concatenate([data.y, data.y_test])) == 0.5
        assert data.X.std(axis=0) == pytest.approx(np.ones(10), abs=0.05)
        slopes = np.abs([np.corrcoef(column, data.y)[0, 1] for column in data.X.T])
        assert slopes[[3, 4]].min() > 5.0 * slopes[5:].max(), "x4 and x5 are relevant, x6 ... not"

    def test_the_true_probabilities_of_products_are_known(self):
        small, large = products("small", 100, seed=1), products("large", 200, seed=1)
        np.testing.assert_array_equal(small.X_test, large.X_test)
        x = small.X_test
        logit = (
            2 * x[:, 0] * x[:, 1] + 2 * np.sin(1.5 * x[:, 2]) * x[:, 3] + 1.5 * x[:, 4] * x[:, 5]
        )
        p = 1.0 / (1.0 + np.exp(-logit))
        entropy = -np.mean(p * np.log(p) + (1.0 - p) * np.log1p(-p))
        own = np.where(small.y_test == 1, p, 1.0 - p)
        assert small.bayes == pytest.approx(-np.mean(np.log(own)))
        assert small.bayes == pytest.approx(entropy, abs=0.01), "labels are drawn from p"
        assert small.bayes == pytest.approx(0.4059, abs=0.01)


class TestMethods:
    def test_every_preset_takes_part(self):
        assert {*PRESETS} <= {*METHODS}
        assert all({*PRESETS} <= {*part.methods} <= {*METHODS} for part in parts())

    def test_a_run_for_each_rate_or_also_for_each_budget(self):
        rival = Rival("svgp", True, {"loss": "x"}, rates={0.1: (5, 9), 0.2: (5,)})
        assert list(rival.runs(20, quick=False)) == [
            {"rival": "svgp", "loss": "x", "inducing": 20, "rate": 0.1, "steps": [5, 9]},
            {"rival": "svgp", "loss": "x", "inducing": 20, "rate": 0.2, "steps": [5]},
        ]
        apart = list(attrs.evolve(rival, apart=True).runs(20, quick=False))
        assert [(run["rate"], run["steps"]) for run in apart] == [
            (0.1, [5]),
            (0.1, [9]),
            (0.2, [5]),
        ]
        assert list(Rival("svm").runs(None, quick=False)) == [{"rival": "svm"}]

    def test_every_number_of_steps_has_two_rates(self):
        for rates in (methods.RATES, methods.BATCH_RATES):
            numbers = Counter(steps for some in rates.values() for steps in some)
            assert {*numbers.values()} == {2}

    def test_scores_of_many_classes(self):
        data = attrs.evolve(friedman(0, rows=3), y_test=np.array([0, 2, 1]))
        probability = np.array([[0.5, 0.25, 0.25], [0.5, 0.0, 0.5], [0.25, 0.25, 0.5]])
        scores = Scores.of(probability, data, Moment(7, 1.0, 2.0, 3))
        assert scores.nlp == pytest.approx((2 * np.log(2.0) + np.log(4.0)) / 3)
        assert scores.error == pytest.approx(2 / 3), "a tie goes to the first class"
        assert (scores.budget, scores.cpu_seconds, scores.bytes) == (7, 2.0, 3)
        with pytest.raises(ArithmeticError, match="not finite"):
            Scores.of(np.full((3, 3), np.nan), data, Moment(None, 1.0, 1.0, 1))

    def test_ours_is_measured_with_two_and_with_three_classes(self):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((120, 2))
        for y in ((X[:, 0] > 0.0).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])):
            data = attrs.evolve(friedman(0, rows=1), X=X, y=y, X_test=X, y_test=y)
            ours = METHODS["fast"]
            (settings,) = ours.runs(4, quick=False)
            (scores,) = ours.fit(data, settings)
            assert 0.0 < scores.nlp < 0.5
            assert scores.bytes > 1000
            assert scores.cpu_seconds > 0.0


class TestCalibration:
    def ece(self, probability, y, **options):
        both = np.stack([1.0 - np.asarray(probability), probability], axis=1)
        return expected_calibration_error(both, np.asarray(y), **options)

    def test_frequencies_as_predicted_have_none(self):
        probability, y = np.full(10, 0.8), np.array([1] * 8 + [0] * 2)
        assert self.ece(probability, y) == pytest.approx(0.0)
        assert self.ece(1.0 - probability, 1 - y) == pytest.approx(0.0)

    def test_sure_and_always_wrong_is_one(self):
        assert self.ece([0.0, 1.0, 0.0], [1, 0, 1]) == pytest.approx(1.0)

    def test_bins_are_weighted_by_their_rows(self):
        # 30 rows at 0.9, all right: off by 0.1. 10 rows at 0.6, half right: off by 0.1, too.
        probability, y = np.repeat([0.9, 0.6], [30, 10]), np.repeat([1, 0], [35, 5])
        assert self.ece(probability, y) == pytest.approx(0.1)
        # Right is too much in one bin and too little in the other: they must not cancel.
        assert self.ece(probability, y, bins=1) == pytest.approx(0.05)


class TestStandings:
    def test_the_best_run_counts_budget_by_budget(self):
        quick, slow = cell("svgp", 0, 0.30, 0.28, rate=0.1), cell("svgp", 0, 0.40, 0.25, rate=0.03)
        found = Standings([quick, slow], 20)
        assert [found.mean("banana", entrant, "nlp").value for entrant in found.entrants] == [
            0.30,
            0.25,
        ]

    def test_a_run_with_fewer_partitions_does_not_compete(self):
        full = [cell("svgp", i, nlp, rate=0.1) for i, nlp in enumerate((0.2, 0.4))]
        lucky = cell("svgp", 0, 0.1, rate=0.03)
        found = Standings([*full, lucky], 20)
        assert found.mean("banana", Entrant("svgp"), "nlp").value == pytest.approx(0.3)

    def test_a_rate_that_was_not_compared_is_told(self):
        both = [cell("svgp", 0, 0.3, 0.2, rate=rate) for rate in (0.1, 0.03)]
        assert Standings(both, 20).choices == (2, 2)
        assert rates_in_words(Standings(both, 20)) == ""
        longer = Standings([*both, cell("svgp", 1, 0.3, 0.2, rate=0.1)], 20)
        assert longer.choices == (0, 2)
        assert "Of 2 figures of rivals with steps, 0 are" in rates_in_words(longer)

    def test_partitions_are_paired(self):
        ours = [*series("accurate", [0.2, 0.4, 9.0])]
        theirs = [*reversed(series("svgp", [0.4, 0.2]))]
        duel = Standings([*ours, *theirs], 20).duel(Entrant("accurate"), Entrant("svgp"))
        assert duel.ratios == {"banana": pytest.approx(1.0)}

    @pytest.mark.parametrize(
        ("nlp", "verdict"),
        [(0.98, (0, 0, 1)), (0.992, (0, 1, 0)), (1.008, (0, 1, 0)), (1.02, (1, 0, 0))],
    )
    def test_within_one_per_cent_is_a_tie(self, nlp, verdict):
        found = Standings([cell("fast", 0, nlp), cell("svgp", 0, 1.0)], 20)
        duel = found.duel(Entrant("fast"), Entrant("svgp"))
        assert (len(duel.losses), duel.ties, duel.wins) == verdict
        assert duel.lower(["banana", "image"]) == f"{int(nlp < 1.0)} of 1"

    def test_sizes_are_apart_and_methods_without_one_are_in_all(self):
        found = [
            cell("fast", 0, 0.3),
            cell("fast", 0, 0.1, size=80),
            cell("svm", 0, 0.2, size=None),
        ]
        at_20, at_80 = (Standings(found, size) for size in (20, 80))
        assert at_20.duel(Entrant("fast"), Entrant("svm")).losses == ["banana"]
        assert at_80.duel(Entrant("fast"), Entrant("svm")).wins == 1

    def test_geometric_means_are_over_what_all_have(self):
        found = Standings(
            [
                *series("fast", [0.1, 0.3]),
                *series("svgp", [0.4]),
                *series("fast", [0.4], data="image"),
                *series("svgp", [0.9], data="image"),
                *series("fast", [0.7], data="splice"),
            ],
            20,
        )
        over = found.shared(found.entrants)
        assert over == {"banana": [0], "image": [0]}
        assert found.geometric_mean(Entrant("fast"), "nlp", over) == pytest.approx(0.2)
        assert found.geometric_mean(Entrant("svgp"), "nlp", over) == pytest.approx(0.6)


class TestReport:
    CELLS = (
        *series("accurate", [0.2, 0.2], cpu=2.0),
        *(cell("svgp", i, 0.25, 0.19, cpu=3.0) for i in range(2)),
        *series("accurate", [0.4, 0.4], cpu=2.0, data="image"),
        *(cell("svgp", i, 0.45, 0.3, cpu=3.0, data="image") for i in range(2)),
        *(cell("svm", i, size=None, problem="svm does not fit") for i in range(2)),
        cell("boosting", 0, 0.5, size=None),
        cell("boosting", 1, size=None, problem="Traceback\nValueError: no"),
    )
    PART = Part("two-classes", ("banana", "image"), tuple(METHODS), (20,), 2)

    def standings(self):
        return Standings([c for c in self.CELLS if c.task.method in ("accurate", "svgp")], 20)

    def test_losses_come_first_the_worst_before_others(self):
        lines = losses_first(self.standings()).splitlines()
        assert "| accurate | svgp, 100 steps | 0 | 0 | 2 | 2 of 2 |  |" in lines
        lost = "image +33 %, banana +5 %"
        assert f"| accurate | svgp, 200 steps | 2 | 0 | 0 | 0 of 2 | {lost} |" in lines

    def test_a_rival_is_beside_what_ours_has_in_its_time(self):
        lines = budgets(self.standings()).splitlines()
        assert "| svgp, 100 steps | 3.00 | 0.3354 | 0.2828 (accurate) |" in lines
        assert "| svgp, 200 steps | 6.00 | 0.2387 | **0.2828 (accurate)** |" in lines

    def test_nothing_to_compare(self):
        assert "No preset and rival" in losses_first(Standings(series("paper", [0.1]), 20))

    def test_table(self):
        found = Standings(self.CELLS, 20)
        entrants = [Entrant("accurate"), Entrant("svgp", 200), Entrant("svm"), Entrant("boosting")]
        assert table(found, entrants, NLP).splitlines() == [
            "| set | accurate | svgp, 200 steps | svm | boosting |",
            "|---|---|---|---|---|",
            "| banana | 0.200 ± 0.000 | **0.190 ± 0.000** | does not fit | 0.500 (1 of 2) |",
            "| image | 0.400 ± 0.000 | **0.300 ± 0.000** |  |  |",
        ]

    def test_seeds_below_a_bar(self):
        text = of_seeds("Friedman", self.PART, series("fast", [0.15, 0.17], data="friedman"), 0.16)
        assert "| 1 | 0.170 |" in text
        assert "| at most 0.16 | 1 of 2 |" in text

    def test_excess_over_the_true_probabilities(self):
        found = [
            cell("fast", i, nlp, bayes=0.4, data="products-1e4")
            for i, nlp in enumerate([0.41, 0.43])
        ]
        text = of_many_rows("Many rows", self.PART, found, Curves())
        assert "| fast | 0.0200 @ 1.0 |" in text

    def test_failures_are_listed_with_their_text(self):
        text = report([(self.PART, self.CELLS)], Curves())
        assert "- banana, partition 1: boosting, 20: ValueError: no" not in text
        assert "- banana, partition 1: boosting: ValueError: no" in text
        assert "partition 1: svm" not in text, "too large is no failure"

    def test_seconds_of_different_commits_were_not_measured_in_turns(self):
        assert "in turns" not in report([(self.PART, self.CELLS)], Curves())
        later = [attrs.evolve(c, commit="def") for c in self.CELLS if c.task.method == "accurate"]
        rivals = [c for c in self.CELLS if c.task.method != "accurate"]
        text = report([(self.PART, [*later, *rivals])], Curves())
        assert "Commit of ours: def; of the rivals: abc (so their seconds were not" in text

    def test_pictures_are_beside_the_text(self, tmp_path):
        pytest.importorskip("matplotlib")
        many = attrs.evolve(self.PART, title="many-rows")
        rows = [cell("svgp-batches", 0, 0.45, 0.42, bayes=0.4, data=d) for d in ("a", "b")]
        curves = Curves(tmp_path / "quality.md")
        text = report([(self.PART, self.CELLS), (many, rows)], curves)
        for name in ("quality-two-classes-20.png", "quality-many-rows-20.png"):
            assert f"({name})" in text
            assert (tmp_path / name).stat().st_size > 5000

    def test_every_rival_has_a_colour(self):
        assert {*RIVALS} == {*COLOURS}


class TestRun:
    def test_a_file_gives_back_the_cells(self, tmp_path: Path):
        path = tmp_path / "cells.jsonl"
        lines = [json.dumps(attrs.asdict(one)) for one in TestReport.CELLS]
        path.write_text("\n".join(lines) + "\n" + lines[0][:50])
        assert read_cells(path) == list(TestReport.CELLS)
        assert read_cells(tmp_path / "none.jsonl") == []

    def test_resuming_does_what_is_missing_or_failed(self, tmp_path: Path, monkeypatch):
        path = tmp_path / "cells.jsonl"
        finished, failed = cell("svgp", 0, 0.3), cell("svgp", 1, problem="x")
        other = cell("svgp", 2, 0.3)
        changed = attrs.evolve(other.task, settings={"of": "another"})
        stored = (finished, failed, other)
        path.write_text("\n".join(json.dumps(attrs.asdict(one)) for one in stored)[:-1])
        began = []

        def carry_out(task, data, commit):
            began.append(task)
            return attrs.evolve(finished, task=task)

        monkeypatch.setattr(quality, "carry_out", carry_out)
        monkeypatch.setattr(quality, "rows_of", lambda *_: None)
        wanted = [finished.task, failed.task, changed]
        results = quality.run(wanted, path)
        assert began == [failed.task, changed]
        assert list(results) == [task.key for task in wanted]
        assert quality.run(wanted, path) == results
        assert began == [failed.task, changed]

    @pytest.mark.parametrize(("version", "known"), [("abc", 2), ("def", 1), ("abc-dirty", 1)])
    def test_again_is_what_another_commit_has_done(self, tmp_path: Path, version, known):
        path = tmp_path / "cells.jsonl"
        ours, rival = cell("fast", 0, 0.3), cell("svgp", 0, 0.3)
        ours = attrs.evolve(ours, commit="abc-dirty" if "dirty" in version else "abc")
        path.write_text("\n".join(json.dumps(attrs.asdict(one)) for one in (ours, rival)))
        assert len(known_cells(path, ["fast"], version)) == known

    def test_a_long_run_is_known_by_each_of_its_looks(self, tmp_path: Path):
        long = cell("svgp", 0, 0.3, 0.2, rate=0.1, steps=[100, 200])
        falling = cell("svgp", 0, 0.3, 0.2, rate=0.1, steps=[100, 200], decay=True)
        path = tmp_path / "runs.jsonl"
        path.write_text("".join(json.dumps(attrs.asdict(each)) + "\n" for each in (long, falling)))
        known = list(known_cells(path).values())
        assert len(known) == 4  # the rate of the second falls to zero with its last step
        looks = [(each.task.settings["steps"], each.scores[0].nlp) for each in known[:2]]
        assert looks == [([100], 0.3), ([200], 0.2)]

    def test_time_left_goes_by_the_most_similar_cells(self):
        done = [cell("svgp", 0, 0.3, cpu=10.0), cell("svgp", 0, 0.3, cpu=2.0, data="image")]
        todo = [cell("svgp", 1, 0.3, data=data).task for data in ("image", "banana", "splice")]
        assert time_left(todo, done) == pytest.approx(2.0 + 10.0 + 6.0)
        assert time_left(todo, []) == 0.0

    def test_tasks(self, monkeypatch):
        monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
        part = parts()[0].only(["twonorm"], ["accurate", "svgp", "svm"], [5, 9])
        planned = list(tasks(part, [3], quick=True))
        assert [(task.method, task.size, task.settings.get("rate")) for task in planned] == [
            ("svm", None, None),
            ("accurate", 5, None),
            *(("svgp", 5, rate) for rate in methods.RATES),
            ("accurate", 9, None),
            *(("svgp", 9, rate) for rate in methods.RATES),
        ]
        assert planned[0].source == "generated"
        assert parts()[0].only(["two-classes"]).sets == list(parts()[0].sets)
        assert list(tasks(parts()[0].only(["friedman"]), [0])) == []

    def test_a_failure_is_written_down(self, monkeypatch):
        def refuse(*_, **__):
            raise RivalError("out of memory")

        monkeypatch.setattr(cells.rivals, "run", refuse)
        monkeypatch.delenv("SGPC_DATA_DIR", raising=False)
        part = parts()[0].only(["twonorm"], ["svm"])
        (task,) = tasks(part, [0], quick=True)
        result = cells.carry_out(task, cells.rows_of("twonorm", 0, True), "abc")
        assert (result.scores, result.problem, result.final) == ((), "out of memory", False)


class TestWorker:
    def test_predictions_do_not_count(self, tmp_path: Path, monkeypatch):
        """A rival that does nothing, looked at twice, with predictions that take their time."""
        monkeypatch.syspath_prepend(str(HERE))
        worker, fitted = import_module("worker"), import_module("fitted")

        def busy(X):
            began = process_time()
            while process_time() - began < 0.05:
                pass
            return np.full((len(X), 2), 0.5)

        def rival(X, y, *, steps):
            for step in steps:
                yield fitted.Fitted(busy, None, step)

        monkeypatch.setitem(worker.RIVALS, "idle", rival)
        files = {name: str(tmp_path / f"{name}.npz") for name in ("data", "probability")}
        files["report"] = str(tmp_path / "report.json")
        np.savez(files["data"], X=np.zeros((4, 1)), y=[0, 1, 0, 1], X_test=np.zeros((3, 1)))
        task = {"rival": "idle", "options": {"steps": [1, 2]}, **files}
        (tmp_path / "task.json").write_text(json.dumps(task))
        worker.main(str(tmp_path / "task.json"))
        moments = [Moment(**taken) for taken in json.loads(Path(files["report"]).read_text())]
        assert [taken.steps for taken in moments] == [1, 2]
        assert moments[-1].cpu_seconds < 0.04
        assert np.load(files["probability"])["probability"].shape == (2, 3, 2)
        for module in ("worker", "fitted", "estimators"):
            sys.modules.pop(module, None)


@pytest.mark.parametrize("path", sorted(Path(cells.__file__).parent.glob("*.py")), ids=str)
def test_every_benchmark_can_be_imported(path):
    import_module(f"benchmarks.{path.stem}")
