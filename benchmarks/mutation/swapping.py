"""Many mutants in one session of pytest: a first look that is ten times faster.

Tests are collected once. For each mutant the session forks, the child puts the mutated code into
the functions that exist already, and constants into the modules that have them, runs the tests up
to the first that fails, and ends. What else was done when a module was imported is not done again,
so a mutant that survives here, one of a class say, is left to ``execution``, which imports it.
"""

from __future__ import annotations

import gc
import importlib
import json
import math
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from benchmarks.mutation.execution import Outcome, Selection, processor_time
from benchmarks.mutation.mutants import Mutant

_PLAIN = (int, float, tuple, np.ndarray)

UNTIMED = 4.0
"""How many times as long tests may take while nobody knows yet which of them are quick."""

Tell = Callable[[Mutant, Outcome], None]


def look(selection: Selection, some: list[Mutant], tell: Tell) -> None:
    """Judge mutants one after the other; ``tell`` hears of each. Only those that were caught are
    judged for good."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        if status:
            raise SystemExit(f"a first look at {selection.tests} failed: see above")
        return
    status = 1
    try:
        status = _session(selection, some, tell)
    finally:
        os._exit(status)


def _session(selection: Selection, some: list[Mutant], tell: Tell) -> int:
    import pytest

    if selection.compiled:
        importlib.import_module("numba").config.DISABLE_JIT = 1
    else:
        os.environ["SGPC_FAST"] = "0"
    options = ["-q", "-q", "-s", "-p", "no:cacheprovider", "--assert=plain", "-n0"]
    options += ["--hypothesis-profile=mutation"]
    loop = _Loop(selection, some, tell)
    status = int(pytest.main([*options, *selection.tests], plugins=[loop]))
    return status if not loop.done else 0


class _Loop:
    """A plugin of pytest that runs the collected tests once for every mutant."""

    def __init__(self, selection: Selection, some: list[Mutant], tell: Tell) -> None:
        self._selection = selection
        self._mutants = some
        self._tell = tell
        self._failed = self._why = ""
        self.done = False

    def pytest_runtestloop(self, session: Any) -> bool:
        bare = self._judged(session.items, None)
        if bare.caught:
            print(f"without any mutant {bare.by} fails:\n{bare.why}", flush=True)
            return True
        took = bare.durations
        items = sorted(session.items, key=lambda item: took.get(item.nodeid, math.inf))
        for mutant in self._mutants:
            self._tell(mutant, self._judged(items, mutant))
        self.done = True
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self._failed:
            self._failed, self._why = report.nodeid, report.longreprtext

    def _judged(self, items: list[Any], mutant: Mutant | None) -> Outcome:
        reader, writer = os.pipe()
        began = time.perf_counter()
        child = os.fork()
        if not child:
            os.close(reader)
            self._run(items, mutant, writer)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        seconds = time.perf_counter() - began
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            return Outcome(True, "time" if name in ("SIGXCPU", "SIGKILL") else name, seconds)
        known = json.loads(said) if said else {}
        return Outcome(os.WEXITSTATUS(status) == 1, seconds=seconds, **{"by": "", **known})

    def _run(self, items: list[Any], mutant: Mutant | None, writer: int) -> None:
        """In the child: 1 if a test fails, 0 if none does in the time there is."""
        status = 3
        try:
            most = self._selection.seconds * (1.0 if mutant is not None else UNTIMED)
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            if mutant is not None:
                bound = int(processor_time() + 3 * most) + 30
                resource.setrlimit(resource.RLIMIT_CPU, (bound, bound + 5))
                swap(mutant)
            began = processor_time()
            durations = {}
            for item in items:
                before = processor_time()
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                durations[item.nodeid] = round(processor_time() - before, 3)
                if self._failed or processor_time() - began > most:
                    break
            status = int(bool(self._failed))
            said: dict[str, Any] = {"by": self._failed, "why": "", "durations": {}}
            if mutant is None:
                said |= {"why": self._why[-4000:], "durations": durations}
            os.write(writer, json.dumps(said).encode())
        finally:
            os._exit(status)


def swap(mutant: Mutant) -> None:
    """Put the code of a mutant into the functions of its module that there are."""
    importlib.import_module(mutant.module)  # compiled loops are imported when first used
    path = str(mutant.path)
    new = {_key(code): code for code in _codes(compile(mutant.tree(), path, "exec"))}
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == path:
            code = new.get(_key(function.__code__))
            if code is not None and len(code.co_freevars) == len(function.__code__.co_freevars):
                function.__code__ = code
    if "." not in mutant.place:
        _swap_values(mutant)


def _swap_values(mutant: Mutant) -> None:
    """Put constants and defaults of arguments that a mutant changes where they are known."""
    made: dict[str, Any] = {"__name__": mutant.module}
    exec(compile(mutant.tree(), str(mutant.path), "exec"), made)
    module = sys.modules[mutant.module]
    for name, new in made.items():
        old = getattr(module, name, None)
        if isinstance(new, FunctionType) and isinstance(old, FunctionType):
            old.__defaults__ = new.__defaults__
        elif isinstance(new, _PLAIN) and repr(new) != repr(old):
            for other in list(sys.modules.values()):
                if getattr(other, "__dict__", {}).get(name) is old:
                    setattr(other, name, new)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno
