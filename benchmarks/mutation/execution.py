"""Running tests with a mutant in the place of its module: one forked process each.

The parent imports what is slow and not ours, once. A child puts the mutant into the import system,
runs the tests in the order that it is told, up to the first that fails, and sends what happened
through a pipe. A mutant that runs for ever is caught by a limit on the processor's time, not on the
clock of a busy machine.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import attrs

from benchmarks.mutation.heart import ROOT
from benchmarks.mutation.mutants import Mutant

_SLOW = (
    "attrs",
    "cattrs",
    "hypothesis.extra.numpy",
    "mpmath",
    "numba",
    "pytest",
    "rich.console",
    "scipy.integrate",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.special",
    "sklearn.base",
)

_MEMORY = 8 * 2**30

_USAGE_ERROR = 4
"""What pytest ends with where a ``conftest.py`` cannot be imported, as with some mutants."""


@attrs.frozen
class Outcome:
    """What the tests made of a mutant: the first that failed, or what else ended them."""

    caught: bool
    by: str
    seconds: float
    durations: dict[str, float] = attrs.field(factory=dict, repr=False)
    """How much of the processor's time each test took."""

    why: str = ""
    """What the test that failed said."""

    calls: dict[str, dict[str, list[str]]] = attrs.field(factory=dict, repr=False)
    """Which functions each test called, by file, where no mutant was in place."""


@attrs.frozen
class Selection:
    """Tests to collect, those of them to run in their order, and for how many seconds they may."""

    tests: tuple[str, ...]
    compiled: bool = False
    seconds: float = math.inf
    order: tuple[str, ...] | None = None


def prepare() -> None:
    """Import what is slow, and set what every child inherits."""
    os.chdir(ROOT)
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    for name in _SLOW:
        importlib.import_module(name)
    from hypothesis import HealthCheck, Phase, settings

    settings.register_profile(  # that of tests/conftest.py, but nobody reads the examples
        "mutation",
        deadline=None,
        derandomize=True,
        max_examples=100,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        phases=[Phase.explicit, Phase.generate],
    )


def run(selection: Selection, mutant: Mutant | None = None) -> Outcome:
    """Tests with a mutant in place, or with none."""
    reader, writer = os.pipe()
    began = time.perf_counter()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reader)
        status = 3
        try:
            status = _run_here(selection, mutant, writer)
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    seconds = time.perf_counter() - began
    by = json.loads(said)["by"] if said else ""
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return Outcome(True, "time" if name in ("SIGXCPU", "SIGKILL") else name, seconds)
    code = os.WEXITSTATUS(status)
    unimportable = mutant is not None and code == _USAGE_ERROR
    if code > 2 and not unimportable:
        raise RuntimeError(f"pytest could not be used with {selection}: exit status {code}")
    return Outcome(code != 0, by, seconds)


def _run_here(selection: Selection, mutant: Mutant | None, writer: int) -> int:
    import pytest

    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if selection.seconds < math.inf:
        bound = int(processor_time() + 3 * selection.seconds) + 30
        resource.setrlimit(resource.RLIMIT_CPU, (bound, bound + 5))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    if selection.compiled:
        importlib.import_module("numba").config.DISABLE_JIT = 1
    else:
        os.environ["SGPC_FAST"] = "0"
    if mutant is not None:
        sys.meta_path.insert(0, _Mutated(mutant))
    course = _Course(selection)
    options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", "-n0"]
    options += ["--hypothesis-profile=mutation"]
    status = pytest.main([*options, *selection.tests], plugins=[course])
    if course.over or status == pytest.ExitCode.NO_TESTS_COLLECTED:
        status = 0
    os.write(writer, json.dumps({"by": course.failed if status else ""}).encode())
    return int(status)


class _Course:
    """A plugin of pytest: tests in an order, and no more than there is time for. It knows the first
    that failed."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._began = processor_time()
        self._session: Any = None
        self.failed = "import"
        self.over = False
        """Whether the time was over before any test failed, which pytest calls interrupted."""

    def pytest_sessionstart(self, session: Any) -> None:
        self._session = session

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self._selection.order is not None:
            known = {item.nodeid: item for item in items}
            items[:] = [known[test] for test in self._selection.order if test in known]
        self._began = processor_time()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """The time of the processor counts: other processes slow the clock."""
        if processor_time() - self._began > self._selection.seconds:
            self._session.shouldstop = "time"
            self.over = self.failed == "import"

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and self.failed == "import":
            self.failed = report.nodeid


def processor_time() -> float:
    """Seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


class _Mutated(MetaPathFinder):
    """Finds one module, and loads the mutant instead."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._mutant.module:
            return None
        file = str(self._mutant.path)
        return spec_from_file_location(name, file, loader=_Loader(name, file, self._mutant))


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, mutant: Mutant) -> None:
        super().__init__(name, path)
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._mutant.tree(), str(Path(self.path)), "exec", dont_inherit=True)
