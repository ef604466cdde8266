"""A fit in a process of its own: with another hash seed, another clock and another time zone.

    python -m sgpc_framework.testing.elsewhere < order > report

The order is a pickle, which the process that asks makes of its own part; nobody else's is read. The
report is JSON: what the fit decided, and what it left behind in the process.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
import time
from contextlib import redirect_stdout, suppress
from functools import lru_cache
from importlib import import_module
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from sgpc_framework.plugin.kinds import KindName
from sgpc_framework.plugin.python_files import imported_file
from sgpc_framework.testing.traces_left import changes, process, settings, threads_since
from sgpc_framework.testing.verdict import Violation
from sgpc_framework.testing.whole_fits import fitted, training_set


class Surroundings(NamedTuple):
    """What must not matter to a fit."""

    hash_seed: int
    time_zone: str
    ahead: float
    """How many seconds the clock is ahead."""
    speed: float
    """How fast it goes."""


HERE = Surroundings(1, "UTC+11:30", 0.0, 1.0)
THERE = Surroundings(20, "UTC-13", 34_567_891.7, 3.0)


class Order(NamedTuple):
    """What the process is to do."""

    path: list[str]
    modules: dict[str, str]
    """Files of modules that cannot be imported by name."""
    part: bytes
    kind: KindName
    surroundings: Surroundings


class Report(NamedTuple):
    """What came of it."""

    outcome: dict[str, Any]
    left: list[str]


def reports(part: Any, kind: KindName) -> tuple[Report, Report]:
    """What comes of the same fit in two processes with different surroundings."""
    try:
        sent = pickle.dumps(part)
    except Exception as error:
        raise Violation(
            f"a part that cannot be sent to another process ({error}): define its class at the top "
            "level of a module"
        ) from error
    module = type(part).__module__
    if module == "__main__":
        raise Violation("a part of the module __main__: another process can only import others")
    file = getattr(sys.modules[module], "__file__", None)
    return _reports(sent, kind, module, file or "")


@lru_cache(maxsize=8)
def _reports(sent: bytes, kind: KindName, module: str, file: str) -> tuple[Report, Report]:
    """Several laws look at one pair of reports."""
    path, modules = [*map(os.path.abspath, sys.path)], {module: file} if file else {}
    first, second = (
        _report(Order(path, modules, sent, kind, surroundings)) for surroundings in (HERE, THERE)
    )
    return first, second


def _report(order: Order) -> Report:
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(order.surroundings.hash_seed),
        "TZ": order.surroundings.time_zone,
    }
    with TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-m", __name__],
            input=pickle.dumps(tuple(order)),
            capture_output=True,
            env=environment,
            cwd=folder,  # not where the checks of this process have left it
            check=False,
        )
    if ran.returncode:
        last = ran.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no word"]
        raise Violation(f"a process of its own that ended with {last[0]}")
    return Report(**json.loads(ran.stdout))


def _set_clock(surroundings: Surroundings) -> None:
    """Before the part is imported, so that it cannot have kept the real one."""
    if surroundings.speed == 1.0:
        return
    for name in ("time", "monotonic", "perf_counter", "process_time"):
        real: Any = getattr(time, name)
        began = real()

        def now(real: Any = real, began: float = began) -> float:
            return float(began + surroundings.ahead + surroundings.speed * (real() - began))

        def now_ns(now: Any = now) -> int:
            return int(1e9 * now())

        setattr(time, name, now)
        setattr(time, f"{name}_ns", now_ns)


def _import(modules: dict[str, str]) -> None:
    """The modules by their names or, where these say nothing here, by their files."""
    for name, file in modules.items():
        with suppress(ImportError):
            if import_module(name).__file__ == file:
                continue
        imported_file(Path(file), name)


def main() -> None:
    """Carry out the order on standard input."""
    order = Order(*pickle.load(sys.stdin.buffer))
    result, sys.stdout = sys.stdout, sys.stderr  # whatever a part prints is no report
    sys.path[:] = order.path
    _set_clock(Surroundings(*order.surroundings))
    untouched = settings()
    _import(order.modules)
    part = pickle.loads(order.part)
    left = [f"by its import, {change}" for change in changes(untouched, settings())]
    np.seterr(**untouched["np.seterr"])  # so that the fit is about the part and not about this
    with redirect_stdout(StringIO()) as said:
        threads, before = set(threading.enumerate()), process()
        outcome = fitted(part, order.kind, training_set(part))
        left += [f"by a fit, {change}" for change in changes(before, process())]
    if said.getvalue():
        left.append(f"by a fit, {said.getvalue()[:40]!r} on standard output, which is for results")
    left += [f"by a fit, a thread {name!r} that goes on" for name in threads_since(threads)]
    numbers = {name: array.tolist() for name, array in outcome.items()}
    json.dump(Report(numbers, left)._asdict(), result)
    result.flush()
    os._exit(0)  # threads that go on are reported: nobody waits for them


if __name__ == "__main__":
    main()
