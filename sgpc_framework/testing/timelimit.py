"""A limit in time, so that a part that hangs fails its check instead of stopping the suite.

It needs the alarm signal, which Unix has and only the main thread receives; elsewhere there is no
limit. Python code is interrupted at once, a single call into compiled code when it returns.

The seconds are those of the processor, so that a busy machine does not make a sound part fail; what
waits without working is given PATIENCE times as many by the clock.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, process_time
from types import FrameType

SECONDS = 20.0
"""How long a check may take."""

PATIENCE = 5.0


class OutOfTime(BaseException):
    """The limit has passed. Not an ``Exception``: a part that catches those does not catch it."""


def can_limit() -> bool:
    """Whether a limit can be kept here: alarm signals, and this is the main thread."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``OutOfTime`` in the block after so many seconds' work, where that is possible.

    An alarm that somebody else had set is put back with the time it has left.
    """
    if not can_limit():
        yield
        return
    began, began_cpu = monotonic(), process_time()

    def ring(number: int, frame: FrameType | None) -> None:
        left = seconds - (process_time() - began_cpu)
        if left <= 0.0 or monotonic() - began >= PATIENCE * seconds:
            raise OutOfTime
        signal.setitimer(signal.ITIMER_REAL, max(left, 1e-3))

    previous = signal.signal(signal.SIGALRM, ring)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
        if remaining:
            left = max(remaining - (monotonic() - began), 1e-3)
            signal.setitimer(signal.ITIMER_REAL, left, interval)
