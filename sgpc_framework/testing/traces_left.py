"""What a part may leave behind in the process: settings that are everybody's, and threads."""

from __future__ import annotations

import gc
import locale
import logging
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from time import monotonic, sleep
from typing import Any

import numpy as np

PATIENCE = 1.0
"""Seconds that a thread has to come to its end."""


def settings() -> dict[str, Any]:
    """What no import may change either."""
    return {
        "np.seterr": np.geterr(),
        "the working directory": os.getcwd(),
        "the locale": locale.setlocale(locale.LC_ALL),
        "the limit of recursion": sys.getrecursionlimit(),
        "the garbage collector": gc.isenabled(),
        "the handler of SIGINT": signal.getsignal(signal.SIGINT),
        "the handler of SIGTERM": signal.getsignal(signal.SIGTERM),
        "the filters of warnings": _filters_for_all(),
    }


def process() -> dict[str, Any]:
    """The same, and what libraries change when they are imported, but never when they are used."""
    return {
        **settings(),
        "numpy's print options": np.get_printoptions(),
        "sys.path": list(sys.path),
        "the environment": dict(os.environ),
        "the global generator of numpy": repr(np.random.get_state()),  # noqa: NPY002
        "the global generator of Python": random.getstate(),
        "the root logger": (logging.root.level, list(logging.root.handlers)),
        "the interval of threads": sys.getswitchinterval(),
        "the files of the working directory": sorted(os.listdir()),
        "open files": _open_files(),
        "standard output": sys.stdout,
        "standard error": sys.stderr,
    }


def changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """A sentence for everything that differs."""
    for name, was in before.items():
        now = after[name]
        if now != was:
            yield f"{name} was {_shown(was, now)} and is {_shown(now, was)}"


def threads_since(before: set[threading.Thread]) -> list[str]:
    """The names of threads that are new and do not end."""
    deadline = monotonic() + PATIENCE
    while True:
        new = [each for each in threading.enumerate() if each not in before and each.is_alive()]
        if not new or monotonic() > deadline:
            return sorted(each.name for each in new)
        sleep(0.02)


def _open_files() -> int | None:
    """How many, where the system tells."""
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None


def _filters_for_all() -> list[str]:
    """The filters that are not about one message or one module, as those of libraries are."""
    for_all = [each for each in warnings.filters if each[1] is None and each[3] is None]
    return [f"{action} {category!r}" for action, _, category, _, _ in for_all]


def _shown(value: Any, other: Any) -> str:
    """A value; of a mapping only what the other has not."""
    if isinstance(value, dict) and isinstance(other, dict):
        value = {key: each for key, each in value.items() if other.get(key, ...) != each}
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
