"""Mutation testing itself: mutants are what they say, and the table of survivors is of today."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

import pytest

pytest.importorskip("benchmarks", reason="benchmarks are in the repository, not in a wheel")

from benchmarks.mutation.__main__ import Count, estimate, reasons, sample
from benchmarks.mutation.heart import GROUPS, ROOT, Group
from benchmarks.mutation.mutants import mutants
from benchmarks.mutation.swapping import Course, swap

SOURCE = '''"""A text with 1 + 1."""
import math

LIMIT = 0.5


def share(a: int, b: int = 3) -> float:
    """Not 2 * 2."""
    if a < b and not math.isnan(a):
        raise ValueError(f"wanted {1 + 1}")
    total = -a
    total += min(a, b) ** 2
    return total if a == 0 else LIMIT * total
'''


@pytest.fixture
def found(tmp_path):
    path = tmp_path / "shares.py"
    path.write_text(SOURCE)
    return mutants("shares", path)


def test_every_small_change_is_a_mutant(found):
    assert {(each.place, each.before, each.after) for each in found} == {
        ("", "0.5", "1.0"),
        ("share", "3", "4"),
        ("share", "a < b and (not math.isnan(a))", "a < b or not math.isnan(a)"),
        ("share", "a < b", "a <= b"),
        ("share", "a < b", "a >= b"),
        ("share", "not math.isnan(a)", "math.isnan(a)"),
        ("share", "-a", "a"),
        ("share", "total += min(a, b) ** 2", "total -= min(a, b) ** 2"),
        ("share", "total += min(a, b) ** 2", "pass"),
        ("share", "min(a, b) ** 2", "min(a, b) * 2"),
        ("share", "min(a, b)", "max(a, b)"),
        ("share", "2", "3"),
        ("share", "a == 0", "a != 0"),
        ("share", "0", "1"),
        ("share", "LIMIT * total", "LIMIT / total"),
    }


def test_a_mutant_is_the_module_with_one_change(found):
    (mutant,) = [each for each in found if each.after == "max(a, b)"]
    assert mutant.name == "shares:share: min(a, b) -> max(a, b)"
    assert mutant.line == 12
    names = {}
    exec(compile(mutant.tree(), "shares.py", "exec"), names)
    assert names["share"](4.0, 3.0) == 0.5 * (-4.0 + 16.0)


def test_functions_that_exist_take_the_code_of_a_mutant(found, monkeypatch):
    monkeypatch.syspath_prepend(str(found[0].path.parent))
    module = importlib.import_module("shares")
    held = module.share  # as by a test that has imported it
    (mutant,) = [each for each in found if each.after == "max(a, b)"]
    swap(mutant)
    assert held(4.0, 3.0) == 0.5 * (-4.0 + 16.0)
    del sys.modules["shares"]


def test_a_smaller_sample_is_part_of_a_larger():
    group = GROUPS[0]
    small, large = ({each.name for each in sample(group, size)} for size in (10, 40))
    assert small < large
    assert (len(small), len(large)) == (10, 40)
    every = sum(len(mutants(*file)) for file in group.files())
    assert len(sample(group, 10**6)) == every


def test_another_seed_is_another_sample():
    one, two = ({each.name for each in sample(GROUPS[0], 20, seed)} for seed in (1, 2))
    assert len(one & two) < 15


def test_every_reason_is_that_of_a_mutant():
    """A line that has changed needs another look."""
    known = {each.name for group in GROUPS for file in group.files() for each in mutants(*file)}
    assert [name for name in reasons() if name not in known] == []


def test_every_test_that_is_named_exists():
    for group in GROUPS:
        assert group.files()
        for test in group.tests:
            assert (ROOT / test.partition("::")[0]).exists(), test


def test_the_tests_that_call_a_function_the_quickest_first(found):
    path = str(found[0].path)
    durations = {"slow": 5.0, "quick": 0.1, "middling": 1.0, "elsewhere": 0.0}
    calls = {"slow": {path: ["share"]}, "quick": {path: ["other"]}, "middling": {path: ["share"]}}
    course = Course(durations, {**calls, "elsewhere": {}})
    (inside,) = [each for each in found if each.after == "max(a, b)"]
    (constant,) = [each for each in found if each.after == "1.0"]
    (default,) = [each for each in found if each.after == "4"]
    assert course.tests_of(inside) == ["middling", "slow"]
    every = ["quick", "middling", "slow", "elsewhere"]
    assert course.tests_of(constant) == course.tests_of(default) == every


def test_parts_count_by_how_many_mutants_they_have():
    """One of 300 mutants, nine in ten of which are caught, and one of 100, all of which are."""
    counts = [Count(300, 40, 36, 0), Count(100, 50, 40, 10)]
    share, low, high = estimate(counts)
    assert share == pytest.approx((300 * 0.9 + 80 * 1.0) / 380)
    assert low < share < high <= 1.0
    assert estimate([Count(300, 400, 360, 0)])[1] > estimate([Count(300, 40, 36, 0)])[1]
    assert counts[1].row("x") == "| x | 100 | 50 | 40 | 10 | 0 | 100% |"


PROGRAM = """
from benchmarks.mutation import execution
from benchmarks.mutation.heart import ROOT
from benchmarks.mutation.mutants import mutants
path = ROOT / "sgpc_framework" / "algebra" / "rounding.py"
execution.prepare()
tests = execution.Selection(("tests/algebra/test_rounding.py",))
assert not execution.run(tests).caught
out_of_time = execution.Selection(tests.tests, seconds=0.0)
assert not execution.run(out_of_time).caught
every = mutants("sgpc_framework.algebra.rounding", path)
(zero,) = [m for m in every if m.before == "variance[below] = 0.0" and m.after == "pass"]
outcome = execution.run(tests, zero)
assert outcome.caught and "test_rounding" in outcome.by, outcome
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_mutant_takes_the_place_of_its_module():
    pytest.importorskip("numba")
    ran = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert Group("none", (), ()).files() == []
