"""Methods, sources, keys and judgements of the lab, from texts to a page."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import attrs
import numpy as np
import pytest

import sgpc_framework as sgpc
from sgpc_framework.errors import ConfigError, InputError, PluginError
from sgpc_framework.lab import Plan, merge, run_plan
from sgpc_framework.lab.cells import Cell, Outcome
from sgpc_framework.lab.comparison_tables import _turned_if_wide
from sgpc_framework.lab.data_sources import GeneratedSet, PaperSet, TableFile
from sgpc_framework.lab.judgement import judge
from sgpc_framework.lab.kernel_counts import KernelCount
from sgpc_framework.lab.known_results import KnownResults, paper_results
from sgpc_framework.lab.method_texts import method_of, methods_of
from sgpc_framework.lab.methods import Method
from sgpc_framework.lab.pages import Table
from sgpc_framework.lab.part_files import PartFile
from sgpc_framework.lab.picks import order_agreement, overlap
from sgpc_framework.lab.plan import COMPARED
from sgpc_framework.lab.result_files import read_results, write_results
from sgpc_framework.lab.results import Outcomes
from sgpc_framework.lab.running import key
from sgpc_framework.lab.store import Store
from sgpc_framework.lab.suites import sources_of

SELECTOR = """
import numpy as np


class Borderline:
    name = "borderline"

    def __init__(self, width=1.0):
        self.width = width

    def propose(self, posterior, rng):
        return posterior.argmin(lambda rows: np.abs(rows.mean) - self.width * rows.variance)
"""
SMALL = GeneratedSet("twonorm", 60, 100)


@pytest.fixture
def selector(tmp_path):
    path = tmp_path / "borderline.py"
    path.write_text(SELECTOR)
    return path


@pytest.fixture(autouse=True)
def _no_files(monkeypatch):
    monkeypatch.delenv("SGPC_DATA_DIR", raising=False)


def plan(**changes):
    usual = {"methods": methods_of(["entropy", "adaptive 1"]), "sources": (SMALL,)}
    return Plan(**{**usual, "sizes": (4,), "partitions": 2, **changes})


class TestMethods:
    @pytest.mark.parametrize(
        ("text", "settings"),
        [
            ("pool:keep=40,fresh=2", {"selector": {"name": "pool", "keep": 40, "fresh": 2}}),
            ("matern-52", {"kernel": {"name": "matern-52"}}),
            ("refiner=none", {"refiner": {"name": "none"}}),
            ("entropy + max_iterations=3", {"selector": {"name": "entropy"}, "max_iterations": 3}),
            ("adaptive 2", {"selector": {"name": "adaptive-sampling", "working_set": 2}}),
        ],
    )
    def test_what_is_not_said_is_the_papers(self, text, settings):
        assert method_of(text).settings == {"optimizer": "conjugate-gradients", **settings}
        assert method_of(text).name == text

    def test_a_full_name_says_whose_part_is_meant(self):
        chosen = method_of("sgpc-framework:pool:keep=40")
        assert chosen.settings["selector"] == {"name": "sgpc-framework:pool", "keep": 40}
        assert method_of("sgpc-framework:pool").settings["selector"]["name"].endswith(":pool")

    def test_presets_and_files_say_everything(self, tmp_path):
        file = tmp_path / "mine.toml"
        file.write_text('selector = "entropy"\n')
        assert method_of("fast + pool").settings == {"preset": "fast", "selector": {"name": "pool"}}
        assert method_of(str(file)).settings == {"selector": "entropy"}

    def test_a_part_ready_made(self):
        part = sgpc.build(selector="entropy").config.selector
        assert method_of(part).settings["selector"] is part
        assert method_of(part, "mine").name == "mine"

    @pytest.mark.parametrize("suffix", ["", ":Borderline"])
    def test_a_class_in_a_file(self, selector, suffix):
        chosen = method_of(f"{selector}{suffix}:width=2.5")
        assert chosen.name == f"borderline.py{suffix}:width=2.5"
        assert chosen.ready["selector"].width == 2.5

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("polo", "did you mean 'pool'"),
            ("none", "say objective=none or refiner=none"),
            ("pool:40", "wanted OPTION=VALUE"),
            ("missing.py:Class", "cannot be read"),
        ],
    )
    def test_what_is_wrong_is_said(self, text, message):
        with pytest.raises(ConfigError, match=message):
            method_of(text)

    def test_a_script_that_ends_by_itself(self, selector):
        selector.write_text(SELECTOR + "\nraise SystemExit(0)\n")
        with pytest.raises(PluginError, match=r"borderline.py' cannot be imported: SystemExit: 0"):
            method_of(str(selector))

    def test_a_file_without_that_class(self, selector):
        with pytest.raises(ConfigError, match="did you mean 'Borderline'"):
            method_of(f"{selector}:Borderlin")

    def test_names_are_taken_once(self):
        with pytest.raises(InputError, match="'pool' twice"):
            methods_of(["pool", "pool"])


class TestKeys:
    def cell(self, path):
        recipe = method_of(f"{path}:Borderline")
        return Cell("twonorm", 0, recipe.name, 3, 1, recipe=recipe, origin=SMALL)

    def test_an_edited_selector_is_another_cell(self, selector):
        before = self.cell(selector)
        known = key(before)
        selector.write_text(SELECTOR.replace("np.abs(rows.mean) -", "np.abs(rows.mean) +"))
        assert key(self.cell(selector)) != known
        selector.write_text(SELECTOR)
        assert key(self.cell(selector)) == known

    def test_the_same_file_elsewhere_is_the_same_cell(self, selector, tmp_path):
        (tmp_path / "elsewhere").mkdir()
        copy = tmp_path / "elsewhere" / selector.name
        copy.write_text(SELECTOR)
        assert key(self.cell(copy)) == key(self.cell(selector))

    def test_so_is_one_whose_helper_is_edited(self, tmp_path):
        (tmp_path / "helper_of_a_test.py").write_text("WIDTH = 1.0\n")
        path = tmp_path / "mine.py"
        path.write_text(f"from helper_of_a_test import WIDTH\n{SELECTOR}")
        known = key(self.cell(path))
        (tmp_path / "helper_of_a_test.py").write_text("WIDTH = 2.25\n")
        assert key(self.cell(path)) != known
        assert sys.modules[PartFile(path).cls.__module__].WIDTH == 2.25
        sys.modules.pop("helper_of_a_test", None)

    def test_options_and_instances_count(self):
        class Mine:
            name = "mine"

            def __init__(self, width):
                self.width = width

            def propose(self, posterior, rng):
                return posterior.argmin(lambda rows: self.width * rows.variance)

        class Other(Mine):
            def propose(self, posterior, rng):
                return posterior.argmin(lambda rows: -self.width * rows.variance)

        keys = {
            key(Cell("t", 0, "m", 3, 1, recipe=method_of(part, "m"), origin=SMALL))
            for part in (Mine(1.0), Mine(2.0), Other(1.0))
        }
        assert len(keys) == 3
        again = Cell("t", 0, "m", 3, 1, recipe=method_of(Mine(1.0), "m"), origin=SMALL)
        assert key(again) in keys

    def test_versions_are_in_it(self, selector):
        software = self.cell(selector).identity["software"]
        assert any(name.endswith("Borderline") for name in software)
        assert software["sgpc-framework"].startswith("0.")


class TestSources:
    def test_suites_by_name(self):
        assert {type(source) for source in sources_of(["generated"])} == {GeneratedSet}
        assert sources_of(["twonorm"]) == (PaperSet("twonorm"),)
        assert [s.name for s in sources_of(["generated"], sets=["clusters"])] == ["clusters"]
        with pytest.raises(InputError, match="did you mean 'generated'"):
            sources_of(["generate"])

    def test_a_folder_of_tables(self, tmp_path):
        (tmp_path / "a.csv").write_text(
            "x,class,colour\n"
            + "".join(f"{i % 7},{'no' if i % 3 else 'yes'},red\n" for i in range(30))
        )
        (tmp_path / "b.csv").write_text("u,v\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
        (tmp_path / "notes.md").write_text("not a table")
        first, second = sources_of([str(tmp_path)])
        assert (first.name, second.name) == ("a", "b")
        data = first.partition(1)
        assert (len(data.y), len(data.y_test)) == (21, 9)
        assert data.y.mean() == pytest.approx(1 / 3)  # of each class as many in both parts
        assert not np.array_equal(data.X, first.partition(2).X)
        assert TableFile(tmp_path / "b.csv", "u").target == "u"

    def test_wrong_labels_are_those_against_the_odds(self):
        source = GeneratedSet("label-noise", 2000, 10)
        data = source.partition(0)
        assert source.wrong_labels(data).mean() == pytest.approx(0.2, abs=0.03)


def outcome(nlp, **more):
    return Outcome(nlp, nlp, nlp, nlp, 4, 1, 1, 1.0, 1.0, "made up", "", **more)


class TestJudgement:
    def judged(self, gaps):
        """``b`` beside ``a``, worse by a gap on each set, on ten partitions."""
        outcomes = {
            Cell(data, p, method, 4, 1): outcome(0.3 + 0.01 * p + gap * (method == "b") * (1 + p))
            for data, gap in gaps.items()
            for p in range(10)
            for method in "ab"
        }
        return judge(Outcomes(outcomes), "ab", "a", 4, "test_nlp")

    def test_holm_is_over_the_methods_of_a_set(self):
        outcomes = {
            Cell("s", p, method, 4, 1): outcome(0.3 + 0.01 * p + gap * (1 + p))
            for p in range(7)
            for method, gap in {"a": 0.0, "b": 0.1, "c": 0.2, "d": 0.3}.items()
        }
        one = judge(Outcomes(outcomes), "abcd", "a", 4, "test_nlp")
        assert [duel.p_holm for duel in one.duels] == pytest.approx([3 * 2 / 2**7] * 3)
        assert [duel.verdict for duel in one.duels] == ["worse"] * 3
        few = {cell: found for cell, found in outcomes.items() if cell.partition < 6}
        two = judge(Outcomes(few), "abcd", "a", 4, "test_nlp")
        # 2 / 2⁶ is below 0.05, but three times that is not: no outcome could have told.
        assert [duel.verdict for duel in two.duels] == ["too few"] * 3

    def test_each_set_has_a_verdict(self):
        judged = self.judged({"s": 0.1, "t": -0.1, "u": 0.0})
        verdicts = {duel.data: duel.verdict for duel in judged.duels}
        assert verdicts == {"s": "worse", "t": "better", "u": "same"}
        assert judged.duels[0].p_holm == judged.duels[0].comparison.p
        assert str(judged.tally("b")) == "better in 1, same in 1, worse in 1"
        assert judged.wins("b") == (1, 1, 1)
        assert judged.over_sets("b") == "same"

    def test_many_sets_tell(self):
        judged = self.judged({str(i): 0.1 for i in range(9)})
        assert judged.different
        assert judged.over_sets("b") == "worse"
        assert judged.groups == []

    def test_nothing_in_common_is_no_judgement(self):
        outcomes = {Cell("s", 0, "a", 4, 1): outcome(0.1), Cell("s", 1, "b", 4, 1): outcome(0.2)}
        assert judge(Outcomes(outcomes), "ab", "a", 4, "test_nlp") is None


class TestKnownResults:
    def test_those_of_the_paper_come_along(self):
        known = paper_results()
        assert {cell.method for cell in known} == {*COMPARED}
        assert all(outcome.fingerprint for outcome in known.values())
        limits = {size: KnownResults(known).iterations_at(size) for size in (40, 80, 160, 320)}
        assert limits == {40: 20, 80: 20, 160: 5, 320: 5}  # of most fits of that size
        assert len({c.partition for c in known if (c.size, c.iterations) == (80, 20)}) == 20

    def test_they_count_only_for_the_same_rows(self):
        cell = Cell("twonorm", 0, "theirs", 4, 10, origin=SMALL)
        same = KnownResults({cell: outcome(0.1, fingerprint=cell.fingerprint)})
        other = KnownResults({cell: outcome(0.1, fingerprint="other rows")})
        assert list(same.on(SMALL, 2, {4: 10}, None)) == [cell]
        assert same.on(SMALL, 2, {4: 9}, None) == {}
        assert other.on(SMALL, 2, {4: 10}, None) == {}

    def test_what_is_not_known_of_the_papers_is_computed(self):
        chosen = Plan.of(["pool"], "clusters", sizes=[4], partitions=1, against="paper")
        assert {cell.method for cell in chosen.cells} == {"pool", *COMPARED}
        assert chosen.given == {}

    def test_results_are_read_as_they_were_written(self, tmp_path):
        cell = Cell("twonorm", 0, "entropy", 4, 1, 30, origin=SMALL)
        found = {cell: Outcome(**cell.compute())}
        again = read_results(write_results(tmp_path / "results.csv", found))
        (read,) = again.values()
        assert list(again) == [cell]
        assert read.picks.rows == found[cell].picks.rows
        assert read.test_nlp == pytest.approx(found[cell].test_nlp, rel=1e-5)
        assert read.fingerprint == cell.fingerprint

    def test_another_file_is_refused(self, tmp_path):
        (tmp_path / "x.csv").write_text("a,b\n1,2\n")
        with pytest.raises(InputError, match="line 2: wanted a result of the lab"):
            KnownResults.read([str(tmp_path / "x.csv")])


def test_kernel_values_of_a_stage():
    """A selector that proposes one row asks for one column a stage, validation for 59."""
    counted = {
        name: KernelCount("twonorm", 5, None, method_of(name), SMALL).compute()
        for name in ("entropy", "validation 59")
    }
    one, many = (each["values"] / each["stages"] / 60 for each in counted.values())
    assert 1.0 <= one < 2.0
    assert 40 < many / one < 70


def test_overlap_and_order():
    assert overlap([1, 2, 3], [3, 4, 5, 6]) == pytest.approx(1 / 3)
    assert order_agreement([1, 2, 3, 4, 5, 6], [1, 2, 3, 9, 4, 5, 6]) == pytest.approx(1.0)
    assert order_agreement([1, 2, 3, 4, 5], [2, 1, 3, 4, 5]) is None


class TestPlan:
    def test_of_a_file(self, tmp_path):
        path = tmp_path / "plan.toml"
        path.write_text(
            'suite = "clusters"\nsizes = [4, 8]\npartitions = 3\ncontrol = "mine"\n'
            '[methods]\nmine = "pool:keep=2"\ntheirs = {selector = "entropy"}\n'
        )
        chosen = Plan.from_file(path, partitions=2)
        assert (chosen.names, chosen.sizes, chosen.partitions) == (("mine", "theirs"), (4, 8), 2)
        assert len(chosen.cells) == 2 * 2 * 2
        path.write_text('methods = ["pool", "entropy"]\nsuit = "clusters"\n')
        with pytest.raises(InputError, match="no entry 'suit'; did you mean 'suite'"):
            Plan.from_file(path)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"control": "adaptive 3"}, "did you mean 'adaptive 1'"),
            ({"sizes": (0,)}, "wanted sizes of at least 1"),
            ({"partitions": 0}, "at least one partition"),
            ({"methods": ()}, "wanted methods"),
        ],
    )
    def test_what_is_wrong_is_said(self, changes, message):
        with pytest.raises(InputError, match=message):
            attrs.evolve(plan(), **changes)

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            ("methods = 3", "a list or a table of methods for 'methods', found 3"),
            ("sizes = 3", "a list of whole numbers of at least 1 for 'sizes', found 3"),
            ("sizes = [1.5]", "a list of whole numbers"),
            ("suite = 3", "a text or a list of texts for 'suite'"),
            ("against = [3]", "a text or a list of texts for 'against'"),
            ("base = 3", "a text for 'base'"),
            ("rows = -1", "a whole number of at least 1 for 'rows', found -1"),
            ("partitions = true", "a whole number of at least 1 for 'partitions'"),
            ("partitions = 1000000000", "at most 1000000 fits in a plan, found 16000000000"),
            (f'suite = "{"x" * 300}"', "wanted a suite"),
            (f'suite = "openml:{"9" * 300}"', "wanted numbers of data sets"),
            (f'against = "{"x" * 300}"', "wanted 'paper'"),
        ],
    )
    def test_an_entry_of_another_type(self, entry, message, tmp_path):
        path = tmp_path / "plan.toml"
        methods = "" if entry.startswith("methods") else 'methods = ["pool", "entropy"]\n'
        path.write_text(methods + entry)
        with pytest.raises(InputError, match=message):
            Plan.from_file(path)


class TestRunPlan:
    def test_a_page_and_tidy_files(self, tmp_path, monkeypatch):
        chosen = plan(sources=(SMALL, GeneratedSet("clusters", 60, 100)), sizes=(3, 4))
        report = run_plan(chosen, tmp_path, workers=1)
        page = report.markdown.read_text()
        for heading in ("Verdict", "Over the data sets", "Quality against cost", "What is picked"):
            assert f"## {heading}" in page
        assert report.html.read_text().count("data:image/png") == 5
        with report.results.open(newline="") as file:
            assert len(list(csv.DictReader(file))) == 2 * 2 * 2 * 2
        assert "too few partitions" in page
        assert "fewer basis vectors than there was room for" not in page
        # A second time nothing is computed.
        monkeypatch.setattr(Cell, "compute", lambda _: pytest.fail("computed again"))
        run_plan(chosen, tmp_path, workers=1)

    def test_what_fails_is_on_the_page(self, tmp_path, selector):
        selector.write_text(SELECTOR.replace("return posterior", "return 1 / 0 + posterior"))
        chosen = plan(methods=methods_of(["entropy", "adaptive 1", str(selector)]), partitions=1)
        report = run_plan(chosen, tmp_path / "out", workers=1)
        assert "ZeroDivisionError" in report.markdown.read_text()
        assert "**1 fits are missing**" in report.markdown.read_text()

    def test_stores_are_merged(self, tmp_path):
        run_plan(plan(partitions=1), tmp_path / "a", workers=1)
        run_plan(plan(partitions=2), tmp_path / "b", workers=1)
        merged = merge(tmp_path / "a", tmp_path / "b")
        assert (merged.added, merged.differing) == (0, ())
        assert merge(tmp_path / "b", tmp_path / "c").added == len(
            Store(tmp_path / "b/cells").keys()
        )
        one = Store(tmp_path / "c/cells")
        fit = key(plan().cells[0])
        one.put(fit, {}, {**one.get(fit), "test_nlp": 0.0})
        assert merge(tmp_path / "a", tmp_path / "c").differing == (fit,)
        with pytest.raises(InputError, match="wanted a folder of finished cells"):
            merge(tmp_path / "nowhere", tmp_path / "c")


@pytest.mark.skipif(os.name == "nt", reason="needs the signals of POSIX")
def test_killed_and_resumed_on_two_workers(tmp_path, selector):
    """What was finished is kept, and the whole is that of a run that nobody killed."""
    pytest.importorskip("joblib")
    script = tmp_path / "run.py"
    script.write_text(
        textwrap.dedent(f"""
        from sgpc_framework.lab import Plan, run_plan

        plan = Plan.of(
            ["entropy", {str(selector)!r}],
            "clusters",
            sizes=[4],
            partitions=6,
            iterations=1,
            rows=40,
        )
        if __name__ == "__main__":
            run_plan(plan, {str(tmp_path / "out")!r}, workers=2)
        """)
    )
    process = subprocess.Popen([sys.executable, script], start_new_session=True)
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline and len(list(tmp_path.glob("out/cells/*.json"))) < 2:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(10.0)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("out/cells/*.json")}
    assert kept
    subprocess.run([sys.executable, script], check=True, timeout=240)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    results = read_results(tmp_path / "out/results.csv")
    assert len(results) == 12
    for cell, found in results.items():
        if cell.method == "entropy" and cell.partition < 2:
            alone = attrs.evolve(cell, origin=GeneratedSet("clusters")).compute()
            assert found.test_nlp == pytest.approx(alone["test_nlp"], rel=1e-5)


def test_a_part_file_says_what_it_is(selector):
    assert str(PartFile(selector, "Borderline", {"width": 2})) == "borderline.py:Borderline:width=2"


@pytest.mark.parametrize("count", [6, 7])
def test_many_methods_are_rows(count):
    methods = [f"m{number}" for number in range(count)]
    table = Table(("set", "size", "n", *methods), [("a", "4", "2", *methods)])
    turned = _turned_if_wide(table, SimpleNamespace(methods=methods))
    if count == 6:
        assert turned is table
    else:
        assert turned.header == ("", "a, 4")
        assert turned.rows == [("n", "2"), *((name, name) for name in methods)]


def test_a_method_that_ends_early_is_on_the_page(tmp_path):
    early = Method("early", {"selector": {"name": "pool", "least_gain": 1e3}})
    chosen = Plan.of([early, "entropy"], "clusters", sizes=[4], rows=40)
    chosen = attrs.evolve(chosen, partitions=1, sources=(SMALL,))
    page = run_plan(chosen, tmp_path, workers=1).markdown.read_text()
    assert "early: 1 of 1 fits ended with fewer basis vectors" in page
