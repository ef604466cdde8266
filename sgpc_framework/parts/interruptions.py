"""What comes from outside, such as Ctrl-C, is nobody's fault, wherever in the code it arrives."""

from __future__ import annotations

import dis
import signal
from collections.abc import Iterator
from types import TracebackType


def is_fault(error: BaseException) -> bool:
    """Whether an error, or a call of ``sys.exit``, is that of the code that was called."""
    return isinstance(error, Exception | SystemExit) and not comes_from_outside(error)


def comes_from_outside(error: BaseException) -> bool:
    """Whether a signal brought it: Ctrl-C, or whatever the handler of some signal raises."""
    frames = [each.tb_frame.f_code for each in _tracebacks(error)]
    if any(code in frames for code in _handlers()):
        return True
    return isinstance(error, KeyboardInterrupt) and not _was_raised(error)


def _handlers() -> Iterator[object]:
    for number in signal.valid_signals():
        yield getattr(signal.getsignal(number), "__code__", None)


def _was_raised(error: KeyboardInterrupt) -> bool:
    """Whether code raised it. A real Ctrl-C comes between two instructions."""
    *_, last = [None, *_tracebacks(error)]
    if last is None:
        return False
    return dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] == "RAISE_VARARGS"


def _tracebacks(error: BaseException) -> Iterator[TracebackType]:
    """Where it came through, the place that raised it last."""
    level = error.__traceback__
    while level is not None:
        yield level
        level = level.tb_next
