"""Which code a call runs that was data before: evaluated text, unpickled classes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache

EVENTS = {
    "compile": "text was compiled",
    "exec": "code was evaluated",
    "pickle.find_class": "a pickle was read",
    "marshal.loads": "marshalled code was read",
    "os.system": "a command was run",
    "subprocess.Popen": "a process was started",
}
"""What Python's auditing reports, and what that means."""

_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)


def code_run_by(act: Callable[[], object]) -> list[str]:
    """What ``act`` has done of these, each once.

    >>> code_run_by(lambda: eval("1 + 1"))
    ['text was compiled', 'code was evaluated']
    """
    _listen()
    heard: list[str] = []
    token = _heard.set(heard)
    try:
        act()
    finally:
        _heard.reset(token)
    return list(dict.fromkeys(heard))


@cache
def _listen() -> None:
    """Once and for all: an audit hook cannot be taken away again. It says nothing by itself."""
    sys.addaudithook(_hook)


def _hook(event: str, _: object) -> None:
    if event in EVENTS and (heard := _heard.get()) is not None:
        heard.append(EVENTS[event])
