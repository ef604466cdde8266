"""Blocks of rows over threads: the same bits, and nothing left behind."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.rows import threads


@pytest.fixture
def small_is_many(monkeypatch):
    """Threads at any size, and at least two processors to use."""
    monkeypatch.setattr(threads, "MANY_ROWS", 1)
    monkeypatch.setattr(threads, "_processors", lambda: 3)


def used_threads() -> set[str]:
    """The names of the threads that work on blocks."""
    seen = set()
    barrier = threading.Barrier(2, timeout=10.0)

    def work(_: int) -> None:
        barrier.wait()  # two blocks at the same time, or an error
        seen.add(threading.current_thread().name)

    with threads.one_blas_thread():
        list(threads.over_blocks(work, range(2), rows=10))
    return seen


def test_blocks_run_side_by_side(small_is_many):
    with threadpool_limits(2, user_api="blas"):
        assert len(used_threads()) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(small_is_many):
    with threadpool_limits(2, user_api="blas"):
        used_threads()
        child = os.fork()
        if not child:
            os._exit(0 if len(used_threads()) == 2 else 1)
        deadline = time.monotonic() + 20.0
        while time.monotonic() < deadline:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                assert status == 0
                return
            time.sleep(0.01)
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")


def _own_name(_: int) -> str:
    return threading.current_thread().name


def test_few_rows_stay_in_the_callers_thread():
    with threads.one_blas_thread():
        names = set(threads.over_blocks(_own_name, range(3), rows=100))
    assert names == {threading.current_thread().name}


def test_who_limits_blas_limits_these(small_is_many):
    with threadpool_limits(1, user_api="blas"), threads.one_blas_thread():
        names = set(threads.over_blocks(_own_name, range(3), rows=10))
    assert names == {threading.current_thread().name}


def test_an_error_in_a_thread_reaches_the_caller(small_is_many):
    def work(block: int) -> None:
        raise ZeroDivisionError(block)

    with (
        threadpool_limits(2, user_api="blas"),
        threads.one_blas_thread(),
        pytest.raises(ZeroDivisionError, match="0"),
    ):
        list(threads.over_blocks(work, range(3), rows=10))


@pytest.mark.parametrize(
    "selector", ["adaptive-sampling", "entropy", {"name": "validation", "working_set": 4}]
)
@pytest.mark.parametrize("sites", ["moment-matching", "predictive-loss"])
def test_the_number_of_threads_changes_no_bit(small_is_many, selector, sites):
    X, y = datasets.waveform(400, seed=1)
    design = sgpc.build(
        selector=selector, sites=sites, max_basis=12, max_iterations=2, block_rows=64
    )
    found = []
    for count in (1, 3):
        with threadpool_limits(count, user_api="blas"):
            model = design.fit(X, y)
            found.append((model.basis, model.sites.mean, model.predict_proba(X)))
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("turns", [1, 2, 100])
def test_runs_of_blocks_come_in_order(small_is_many, monkeypatch, turns):
    monkeypatch.setattr(threads, "TURNS", turns)
    with threadpool_limits(2, user_api="blas"), threads.one_blas_thread():
        for count in (0, 1, 7, 50):
            found = list(threads.over_blocks(lambda block: block**2, range(count), rows=10))
            assert found == [block**2 for block in range(count)]


def test_the_callers_blas_threads_come_back():
    def setting() -> list[int]:
        return [blas.num_threads for blas in ThreadpoolController().lib_controllers]

    X, y = datasets.twonorm(60, seed=0)
    with threadpool_limits(2, user_api="blas"):
        before = setting()
        model = sgpc.build(max_basis=5, max_iterations=1).fit(X, y)
        assert setting() == before
        model.predict_proba(X)
        assert setting() == before
        with pytest.raises(sgpc.InputError):
            model.predict_proba(np.full((2, 20), np.nan))
        assert setting() == before


def test_fits_side_by_side_have_the_bits_of_one_after_the_other():
    """And the caller's setting of BLAS comes back when the last of them ends."""
    X, y = datasets.waveform(300, seed=0)
    designs = [sgpc.build("fast", max_basis=8, seed=seed) for seed in range(6)]
    alone = [design.fit(X, y).predict_proba(X) for design in designs]
    with threadpool_limits(2, user_api="blas"):
        with ThreadPoolExecutor(3) as pool:
            together = list(pool.map(lambda design: design.fit(X, y).predict_proba(X), designs))
        libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        assert {library.num_threads for library in libraries} == {2}
    for ours, theirs in zip(together, alone, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_thread_holds_blas_though_another_has_set_it():
    """Since threadpoolctl 3.8 the first thread that sets the number of OpenBLAS owns it."""
    X, y = datasets.waveform(300, seed=0)
    design = sgpc.build("fast", max_basis=8)
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:

        def held() -> set[int]:
            with threads.one_blas_thread():
                libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                return {library.num_threads for library in libraries}

        assert pool.submit(held).result() == {1}
        there = pool.submit(lambda: design.fit(X, y).predict_proba(X)).result()
        np.testing.assert_array_equal(there, design.fit(X, y).predict_proba(X))
