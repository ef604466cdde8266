"""The extra ``fast``: compiled passes give the numbers of the NumPy ones."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.parts import compilation as fast
from sgpc_framework.protocols import Moments
from sgpc_framework.rows import loops as passes
from sgpc_plugins.kernels.distances import distances_to
from sgpc_plugins.likelihoods import Probit

pytest.importorskip("numba")

SAME = 1e-12


@pytest.fixture(scope="module")
def without():
    """Turn compiled passes off: ``with without(): ...``"""

    class Off:
        def __enter__(self):
            self._found = fast.compiled
            fast.load_compiled.cache_clear()
            os.environ["SGPC_FAST"] = "0"

        def __exit__(self, *_):
            del os.environ["SGPC_FAST"]
            fast.load_compiled.cache_clear()

    return Off


def rows(seed: int, count: int, spread: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], count)
    return y, spread * rng.standard_normal(count), rng.exponential(size=count) ** 3


@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 200),
    spread=st.sampled_from([0.1, 1.0, 10.0, 1e3, 1e6]),
    slope=st.sampled_from([1e-4, 0.3, 1.0, 20.0, 1e4]),
    bias=st.floats(-5.0, 5.0),
)
def test_probit_gives_the_same_numbers(without, seed, count, spread, slope, bias):
    likelihood, given_rows = Probit(slope, bias), rows(seed, count, spread)
    found = likelihood.moments(*given_rows), likelihood.log_z(*given_rows)
    with without():
        wanted = likelihood.moments(*given_rows), likelihood.log_z(*given_rows)
    for name in Moments._fields:
        ours, theirs = getattr(found[0], name), getattr(wanted[0], name)
        np.testing.assert_allclose(ours, theirs, rtol=SAME, atol=1e-290, err_msg=name)
    np.testing.assert_allclose(found[1], wanted[1], rtol=SAME, atol=1e-290)


def test_probit_takes_any_array():
    y, mean, variance = rows(0, 50, 2.0)
    wanted = Probit().log_z(y[::2].copy(), mean[::2].copy(), variance[::2].copy())
    np.testing.assert_array_equal(Probit().log_z(y[::2], mean[::2], variance[::2]), wanted)
    whole = Probit().log_z(y.astype(int), mean, variance)
    np.testing.assert_array_equal(whole, Probit().log_z(y, mean, variance))


def test_nothing_hides_a_nan(without):
    y, mean, variance = np.ones(3), np.array([0.0, np.nan, 1.0]), np.ones(3)
    for way in (nullcontext, without):
        with way():
            np.testing.assert_array_equal(np.isnan(Probit().log_z(y, mean, variance)), [0, 1, 0])
            moments = Probit().moments(y, mean, variance)
            assert all(np.isnan(moment[1]) for moment in moments)


@given(seed=st.integers(0, 2**32), count=st.integers(1, 300))
def test_passes_give_the_same_numbers(without, seed, count):
    rng = np.random.default_rng(seed)
    column, weights = rng.standard_normal(count), rng.random(count)
    columns = rng.standard_normal((2, count))
    eligible = rng.random(count) < 0.7

    def both():
        state = np.zeros(count), np.ones(count), np.empty(count)
        least = passes.add_basis_function(column, -0.7, 0.2, *state)
        steps = np.array([0.3, -0.1]), np.array([0.6, 0.2])
        tried = passes.with_basis_functions(columns, *steps, state[0], state[1])
        sums, lightest = passes.running_sums(weights, eligible)
        return *state, *tried, least, sums, lightest if eligible.any() else 0.0

    found = both()
    with without():
        wanted = both()
    for ours, theirs in zip(found[:6], wanted[:6], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(found[6], wanted[6], rtol=SAME)


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_passes_report_what_is_not_a_number(without, bad):
    column = np.array([1.0, bad, 1.0, 1.0])

    def least() -> float:
        return passes.add_basis_function(column, 1.0, 0.5, np.zeros(4), np.ones(4), np.empty(4))

    def total() -> float:
        return float(passes.running_sums(column, np.ones(4, dtype=np.bool_))[0][-1])

    assert not np.isfinite(least())
    assert not np.isfinite(total())
    with without():
        assert not np.isfinite(least())
        assert not np.isfinite(total())


@pytest.mark.parametrize(
    "selector", ["adaptive-sampling", "entropy", {"name": "validation", "working_set": 4}]
)
@pytest.mark.parametrize("sites", ["moment-matching", "predictive-loss"])
def test_a_fit_is_the_same(without, selector, sites):
    X, y = datasets.waveform(300, seed=3)
    design = sgpc.build(selector=selector, sites=sites, max_basis=15, max_iterations=2)
    found = design.fit(X, y)
    with without():
        wanted = design.fit(X, y)
    assert found.basis.tolist() == wanted.basis.tolist()
    np.testing.assert_allclose(found.predict_proba(X), wanted.predict_proba(X), atol=1e-6)


def test_a_refined_model_is_as_good(without):
    """A refiner follows rounding along flat valleys, here of classes that can be separated: single
    probabilities may change by a tenth, what is promised is the basis and the loss."""
    X = np.random.default_rng(1).normal(size=(300, 4))
    y = X[:, 0] + X[:, 1] / 2 > 0.0
    design = sgpc.build("fast", max_basis=10)
    found = design.fit(X[:150], y[:150])
    with without():
        wanted = design.fit(X[:150], y[:150])
    assert found.basis.tolist() == wanted.basis.tolist()
    rows, codes = np.arange(150), y[150:].astype(int)
    losses = [-m.predict_log_proba(X[150:])[rows, codes].mean() for m in (found, wanted)]
    assert losses[0] == pytest.approx(losses[1], abs=5e-3)


def test_importing_does_not_load_a_compiler():
    script = "import sys, sgpc_framework; sgpc_framework.build(); print('numba' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


@given(seed=st.integers(0, 2**32), count=st.integers(1, 300), share=st.floats(0.0, 1.0 - 2e-16))
def test_one_draw_is_the_same(without, seed, count, share):
    """Sums are taken in another order, so that a share may fall on the border of two rows."""
    rng = np.random.default_rng(seed)
    weights = rng.random(count) * (rng.random(count) < 0.7)
    eligible = rng.random(count) < 0.8
    place, total, least = passes.place_of(weights, eligible, share)
    with without():
        wanted, other, _ = passes.place_of(weights, eligible, share)
    assert total == pytest.approx(other, rel=SAME, abs=0.0)
    assert least >= 0.0
    if total:
        assert eligible[place]
        assert weights[place] > 0.0
        sums = np.cumsum(np.where(eligible, weights, 0.0))
        border = np.abs(sums - share * total).min() < SAME * total
        assert place == wanted or border


@given(seed=st.integers(0, 2**32), count=st.integers(0, 300))
def test_a_sum_and_a_count_are_the_same(without, seed, count):
    values = np.random.default_rng(seed).normal(size=count)
    total, below = passes.sum_and_count(values, -0.3)
    with without():
        wanted, also_below = passes.sum_and_count(values, -0.3)
    assert total == pytest.approx(wanted, rel=SAME, abs=SAME * count)
    assert below == also_below


def test_a_damaged_cache_costs_time_and_nothing_else(tmp_path):
    script = (
        "from sgpc_framework.rows import loops; import numpy as np; "
        "print(loops.sum_and_count(np.ones(3), 0.0))"
    )

    def run():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-W", "always", "-c", script]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=True)

    first = run()
    assert first.stderr.startswith("sgpc: loops are compiled for this machine")
    assert first.stderr.count("\n") == 1, "once, however many loops there are"
    whole = run()
    assert whole.stderr == "", "what was compiled is kept"
    for kept in tmp_path.rglob("*.nbi"):
        kept.write_bytes(b"")
    damaged = run()
    assert damaged.stdout == whole.stdout == first.stdout
    assert "RuntimeWarning: numba could not use its cache (EOFError" in damaged.stderr
    assert "NUMBA_CACHE_DIR" in damaged.stderr


def test_a_folder_that_is_none_is_not_passed_over_in_silence(tmp_path):
    """numba takes another folder, without a word."""
    script = (
        "from sgpc_framework.parts.compilation import compiled\n"
        "compiled('sgpc_framework.rows.loops_compiled')\n"
        "compiled('sgpc_plugins.kernels.distances_compiled')"
    )
    file = tmp_path / "file"
    file.touch()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(file)}
    command = [sys.executable, "-W", "always", "-c", script]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    told = f"NUMBA_CACHE_DIR is {str(file)!r}, where numba cannot keep what it compiles"
    assert ran.stderr.count(told) == 1, ran.stderr


def test_what_was_kept_is_all_that_a_process_needs():
    modules = [
        "sgpc_framework.rows.loops_compiled",
        "sgpc_plugins.likelihoods.multinomial_probit_compiled",
        "sgpc_plugins.likelihoods.probit_compiled",
        "sgpc_plugins.kernels.distances_compiled",
    ]
    script = (
        "from sgpc_framework.parts.compilation import compiled\n"
        f"print(*(compiled(module).__name__ for module in {modules}))"
    )
    for _ in range(2):  # the first may compile
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert ran.stdout.split() == modules, ran.stderr
    assert ran.stderr == ""


def test_a_program_can_keep_the_word_to_itself(caplog):
    fast._say_that_it_compiles.cache_clear()
    with caplog.at_level("ERROR", "sgpc_framework"):
        fast._say_that_it_compiles()
    assert not caplog.records
    fast._say_that_it_compiles.cache_clear()
    fast._say_that_it_compiles()
    fast._say_that_it_compiles()
    (told,) = caplog.records
    assert "kept for the next process" in told.getMessage()


@given(seed=st.integers(0, 2**32), count=st.integers(1, 300))
def test_distances_to_a_point_are_the_same(without, seed, count):
    X = np.random.default_rng(seed).normal(size=(count, 3))
    weights = np.array([0.5, 2.0, 1.0])
    ours = distances_to(X, weights)(X[:1])
    with without():
        theirs = distances_to(X, weights)(X[:1])
    np.testing.assert_allclose(ours, theirs, rtol=SAME, atol=1e-14)
    assert ours[0, 0] == theirs[0, 0] == 0.0
