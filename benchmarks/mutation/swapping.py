"""Many mutants in one session of pytest: ten times faster than a session for each.

Tests are collected once, and run once without any mutant, to learn how long each takes and which
functions it calls. Then, for each mutant of a function that some test calls, the session forks; the
child puts the mutated code into the functions that exist already, runs the tests that call this
one, the quickest first, up to the first that fails, and ends. What happens when a module is
imported does not happen again: constants, classes and functions that nobody calls later are left
to ``execution``, which imports the mutant.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

import attrs

from benchmarks.mutation.execution import Outcome, Selection, processor_time
from benchmarks.mutation.mutants import Mutant

UNTIMED = 4.0
"""How many times as long tests may take while nobody knows yet which of them are quick."""

Tell = Callable[[Mutant, Outcome], None]


def judge(selection: Selection, some: list[Mutant], tell: Tell) -> Course:
    """Judge mutants one after the other; ``tell`` hears of each that can be judged here."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        status = 1
        try:
            status = _session(selection, some, tell, writer)
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if status:
        raise SystemExit(f"{selection.tests} cannot judge: see above")
    return Course(**json.loads(said))


@attrs.frozen
class Course:
    """A run without any mutant: how long each test took, and which functions it called, by file."""

    durations: dict[str, float]
    calls: dict[str, dict[str, list[str]]]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that may notice a mutant, the quickest first: those that call its function, or,
        if importing runs it, all of them, after those that call some function of its module."""
        called = {test: self.calls[test].get(str(mutant.path), []) for test in self.durations}
        order = sorted(called, key=lambda test: (not called[test], self.durations[test], test))
        if not mutant.function:
            return order
        return [test for test in order if mutant.function in called[test]]


def _session(selection: Selection, some: list[Mutant], tell: Tell, writer: int) -> int:
    import pytest

    if selection.compiled:
        importlib.import_module("numba").config.DISABLE_JIT = 1
    else:
        os.environ["SGPC_FAST"] = "0"
    options = ["-q", "-q", "-s", "-p", "no:cacheprovider", "--assert=plain", "-n0"]
    options += ["--hypothesis-profile=mutation"]
    loop = _Loop(selection, some, tell)
    status = int(pytest.main([*options, *selection.tests], plugins=[loop]))
    if loop.course is None:
        return status or 1
    with os.fdopen(writer, "w") as pipe:
        pipe.write(json.dumps(attrs.asdict(loop.course)))
    return 0


class _Loop:
    """A plugin of pytest that runs the collected tests once for every mutant."""

    def __init__(self, selection: Selection, some: list[Mutant], tell: Tell) -> None:
        self._selection = selection
        self._mutants = some
        self._tell = tell
        self._failed = self._why = ""
        self.course: Course | None = None

    def pytest_runtestloop(self, session: Any) -> bool:
        bare = self._judged(session.items, None)
        if bare.caught:
            print(f"without any mutant {bare.by} fails:\n{bare.why}", flush=True)
            return True
        course = Course(bare.durations, bare.calls)
        items = {item.nodeid: item for item in session.items}
        for mutant in self._mutants:
            tests = course.tests_of(mutant) if mutant.function else []
            if tests:
                self._tell(mutant, self._judged([items[test] for test in tests], mutant))
        self.course = course
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
        if not said and mutant is not None:
            return Outcome(True, "exit", seconds)
        if not said:
            raise RuntimeError(f"the tests ended with status {os.WEXITSTATUS(status)} unheard")
        return Outcome(os.WEXITSTATUS(status) == 1, seconds=seconds, **json.loads(said))

    def _run(self, items: list[Any], mutant: Mutant | None, writer: int) -> None:
        """In the child: 1 if a test fails, 0 if none does in the time there is."""
        status = 3
        try:
            most = self._selection.seconds * (1.0 if mutant is not None else UNTIMED)
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            if mutant is None:
                said = self._learnt(items, most)
            else:
                bound = int(processor_time() + 3 * most) + 30
                resource.setrlimit(resource.RLIMIT_CPU, (bound, bound + 5))
                swap(mutant)
                said = {}
                for _ in self._timed(items, most):
                    pass
            status = int(bool(self._failed))
            with os.fdopen(writer, "w") as pipe:
                pipe.write(json.dumps({"by": self._failed, "why": self._why[-4000:], **said}))
        finally:
            os._exit(status)

    def _learnt(self, items: list[Any], most: float) -> dict[str, Any]:
        """What the tests do without any mutant."""
        durations, calls = {}, {}
        with _Calls({str(mutant.path) for mutant in self._mutants}) as seen:
            for test, seconds in self._timed(items, most):
                durations[test], calls[test] = seconds, seen.taken()
        return {"durations": durations, "calls": calls}

    def _timed(self, items: list[Any], most: float) -> Iterator[tuple[str, float]]:
        """Run tests one after the other until one fails or the time is over."""
        began = processor_time()
        for item in items:
            before = processor_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            yield item.nodeid, round(processor_time() - before, 3)
            if self._failed or processor_time() - began > most:
                break


class _Calls:
    """Writes down which functions of some files are called, in any thread."""

    def __init__(self, files: set[str]) -> None:
        self._files = files
        self._seen: set[CodeType] = set()

    def __enter__(self) -> _Calls:
        threading.setprofile(self._hear)
        sys.setprofile(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def _hear(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._seen.add(frame.f_code)

    def taken(self) -> dict[str, list[str]]:
        """The names of those called since the last time, by their files."""
        seen, self._seen = self._seen, set()
        found: dict[str, set[str]] = {}
        for code in seen:
            if code.co_filename in self._files:
                found.setdefault(code.co_filename, set()).add(_place(code))
        return {file: sorted(names) for file, names in found.items()}


def _place(code: CodeType) -> str:
    """The name of a function as mutants have it: lambdas and the like belong to what is around."""
    names = (name for name in code.co_qualname.split(".") if not name.startswith("<"))
    return ".".join(names)


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


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno
