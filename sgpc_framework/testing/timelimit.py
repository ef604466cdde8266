"""A limit in time, so that a part that hangs fails its check instead of stopping the suite.

It needs the alarm signal, which Unix has and only the main thread receives; elsewhere there is no
limit. Python code is interrupted at once, a single call into compiled code when it returns.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

SECONDS = 20.0
"""How long a check may take."""


class OutOfTime(BaseException):
    """The limit has passed. Not an ``Exception``: a part that catches those does not catch it."""


def can_limit() -> bool:
    """Whether a limit can be kept here: alarm signals, and this is the main thread."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``OutOfTime`` in the block after so many seconds, where that is possible.

    An alarm that somebody else had set is put back with the time it has left.
    """
    if not can_limit():
        yield
        return
    previous = signal.signal(signal.SIGALRM, _ring)
    began = monotonic()
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
        if remaining:
            left = max(remaining - (monotonic() - began), 1e-3)
            signal.setitimer(signal.ITIMER_REAL, left, interval)


def _ring(number: int, frame: FrameType | None) -> None:
    raise OutOfTime
