"""The limit in time of a check."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from sgpc_framework.testing.timelimit import OutOfTime, can_limit, time_limit

pytestmark = pytest.mark.skipif(not can_limit(), reason="no alarm signals here")


def test_what_hangs_is_interrupted_even_where_it_catches_exceptions():
    def hang() -> None:
        while True:
            try:
                time.sleep(1.0)
            except Exception:
                continue

    began = time.monotonic()
    with pytest.raises(OutOfTime), time_limit(0.1):
        hang()
    assert time.monotonic() - began < 5.0


def test_what_works_is_interrupted_when_it_has_had_its_share_of_the_processor():
    def work() -> None:
        while True:
            pass

    began = time.process_time()
    with pytest.raises(OutOfTime), time_limit(0.2):
        work()
    assert 0.2 <= time.process_time() - began < 1.0


def test_who_waits_for_a_busy_machine_is_not_out_of_time():
    with time_limit(0.2):
        time.sleep(0.4)  # by the clock too long, but no work


def test_what_is_quick_is_left_in_peace():
    with time_limit(0.1):
        pass
    time.sleep(0.2)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_alarm_of_somebody_else_is_put_back():
    rang = []
    previous = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with time_limit(5.0):
            time.sleep(0.05)
        time.sleep(0.5)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
    assert rang == [signal.SIGALRM]


def test_in_another_thread_there_is_no_limit():
    outcome = []

    def work() -> None:
        with time_limit(0.01):
            time.sleep(0.1)
        outcome.append(can_limit())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert outcome == [False]
