"""The conformance kit: every law that a part must obey, as checks with names.

    from sgpc_framework.testing import parametrize_with_checks

    @parametrize_with_checks([MySelector(), MyKernel(lengthscale=2.0)])
    def test_conformance(check):
        check()

Which checks a part gets follows from its kind and its abilities. A law is a function whose name is
the check's and whose docstring says what is wanted; the laws are in the modules ``*_checks``.
Their data is seeded, so that a check gives the same verdict every time and everywhere.

There are two levels. The quick one takes a moment; the thorough one takes whole fits, hundreds of
rows, sixty stages, wide ranges, and two processes of its own.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from inspect import getdoc
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import attrs

from sgpc_framework.plugin.admission import kind_of
from sgpc_framework.plugin.kinds import KINDS, KindName
from sgpc_framework.plugin.registry import Registry, default_registry
from sgpc_framework.protocols import StartsFromData
from sgpc_framework.testing import (
    kernel_checks,
    kernel_gradient_checks,
    kernel_range_checks,
    kernel_use_checks,
    likelihood_checks,
    long_run_checks,
    objective_checks,
    refiner_checks,
    selector_checks,
    site_checks,
    thorough_checks,
)
from sgpc_framework.testing.part_checks import PART_LAWS, STARTING_LAWS
from sgpc_framework.testing.randomness import global_seed
from sgpc_framework.testing.specimen import specimen
from sgpc_framework.testing.timelimit import SECONDS, OutOfTime, time_limit
from sgpc_framework.testing.verdict import ConformanceError, Law, Laws, Violation

if TYPE_CHECKING:
    import pytest


def _together(*each: Laws) -> Laws:
    """The laws of several modules, by protocol."""
    joined: dict[Any, tuple[Law, ...]] = {}
    for laws in each:
        for protocol, some in laws.items():
            joined[protocol] = (*joined.get(protocol, ()), *some)
    return joined


LAWS: Mapping[KindName, Laws] = {
    "kernel": _together(kernel_checks.LAWS, kernel_gradient_checks.LAWS, kernel_use_checks.LAWS),
    "likelihood": likelihood_checks.LAWS,
    "selector": selector_checks.LAWS,
    "sites": site_checks.LAWS,
    "objective": objective_checks.LAWS,
    "refiner": refiner_checks.LAWS,
}
"""For each kind, the laws of its protocol and of the abilities that a part may have."""

THOROUGH: Mapping[KindName, Laws] = {
    "kernel": _together(kernel_range_checks.LAWS, kernel_use_checks.THOROUGH),
    **long_run_checks.LAWS,
}
"""For each kind, the laws that take longer."""

Level = Literal["quick", "thorough"]

GUIDE = "docs/how-to/write-a-part.md"


@attrs.frozen(eq=False)
class Check:
    """One law for one part. Calling it returns nothing, or raises ``ConformanceError``.

    Each call works on a copy of the part, leaves the global random generators as they were, and
    takes ``seconds`` at most (where the system has alarms).
    """

    kind: KindName
    component: Any
    law: Law
    protocol: Any
    seconds: float = SECONDS
    context: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The kind and the law: ``"kernel: symmetric"``."""
        return f"{self.kind}: {self.law.__name__.replace('_', ' ')}"

    @property
    def part(self) -> str:
        """What the part is called."""
        cls = self.component if isinstance(self.component, type) else type(self.component)
        return str(getattr(cls, "name", cls.__qualname__))

    def __call__(self) -> None:
        try:
            with time_limit(self.seconds), global_seed(0), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the law that is about warnings says so itself
                self.law(deepcopy(self.component), *self.context)
        except Violation as violation:
            raise self._failure(str(violation)) from violation.__cause__
        except OutOfTime:
            raise self._failure(f"no end after {self.seconds:g} s; it seems to hang") from None
        except (Exception, SystemExit) as error:
            raise self._failure(_told(error)) from error

    def _failure(self, found: str) -> ConformanceError:
        wanted = " ".join((getdoc(self.law) or "").split("\n\n")[0].split())
        return ConformanceError(
            f'{self.kind} {self.part!r} fails the check "{self.name}"\n'
            f"  wanted:  {wanted}\n"
            f"  found:   {found}\n"
            f"  read on: sgpc_framework.protocols.{self.protocol.__name__} and {GUIDE}"
        )

    def __repr__(self) -> str:
        return f"<Check {self.name!r} of {self.part!r}>"


@attrs.frozen
class CheckResult:
    """How a check went: ``problem`` is ``None`` if the part passed, else the error's text."""

    name: str
    part: str
    problem: str | None
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the part passed."""
        return self.problem is None


def checks_for(
    component: Any,
    registry: Registry | None = None,
    *,
    kind: KindName | None = None,
    seconds: float = SECONDS,
    level: Level = "quick",
) -> list[Check]:
    """The checks of a part: an instance, or a class, which is made with its defaults.

    ``registry`` is where the part may be registered (the installed plugins unless told otherwise),
    ``seconds`` the time that each check may take, ``level`` which checks there are: the quick ones
    or, instead of them, the thorough ones. The kind is told by the part's methods.

    >>> from sgpc_plugins.objectives import NoObjective
    >>> [check.name for check in checks_for(NoObjective())][:2]
    ['objective: frozen attrs class', 'objective: well formed name and options']
    """
    cls = component if isinstance(component, type) else type(component)
    chosen = KINDS[kind] if kind is not None else kind_of(cls)
    if isinstance(component, type):
        try:
            component = specimen(component)
        except (Exception, SystemExit):
            return [Check(chosen.name, cls, made_with_its_defaults, chosen.protocol, seconds)]
    context = chosen, registry or default_registry()
    of_all: dict[Any, tuple[Law, ...]] = {
        chosen.protocol: PART_LAWS if level == "quick" else thorough_checks.LAWS,
        StartsFromData: STARTING_LAWS if level == "quick" else (),
    }
    checks = [
        Check(chosen.name, component, law, protocol, seconds, context)
        for protocol, laws in of_all.items()
        if isinstance(component, protocol)
        for law in laws
    ]
    seen: dict[Law, Any] = {}
    for protocol, laws in (LAWS if level == "quick" else THOROUGH)[chosen.name].items():
        if isinstance(component, protocol):
            seen.update({law: protocol for law in laws if law not in seen})
    return checks + [
        Check(chosen.name, component, law, protocol, seconds) for law, protocol in seen.items()
    ]


def made_with_its_defaults(cls: type) -> None:
    """The class can be instantiated without options, so that its name alone is a configuration."""
    specimen(cls)


def parametrize_with_checks(
    components: Iterable[Any],
    registry: Registry | None = None,
    *,
    seconds: float = SECONDS,
    level: Level = "quick",
) -> pytest.MarkDecorator:
    """A pytest decorator that runs a test for every check of a level, for every component.

    The test takes one argument, ``check``, and calls it. Its id reads like
    ``entropy-selector: proposes distinct rows``.
    """
    import pytest

    checks = [
        check
        for component in components
        for check in checks_for(component, registry, seconds=seconds, level=level)
    ]
    return pytest.mark.parametrize(
        "check", checks, ids=[f"{check.part}-{check.name}" for check in checks]
    )


def run_checks(
    component: Any,
    registry: Registry | None = None,
    *,
    kind: KindName | None = None,
    seconds: float = SECONDS,
    level: Level = "quick",
) -> Iterator[CheckResult]:
    """Run the checks of a part one by one, yielding each result as it comes."""
    for check in checks_for(component, registry, kind=kind, seconds=seconds, level=level):
        began = perf_counter()
        problem = None
        try:
            check()
        except ConformanceError as error:
            problem = str(error)
        yield CheckResult(check.name, check.part, problem, perf_counter() - began)


def _told(error: Exception | SystemExit) -> str:
    """An exception of the part in one line, with the place that raised it."""
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if "read-only" in text:
        text += " (it writes into an array that it was only given to read)"
    origin: BaseException = error
    while origin.__cause__ is not None:
        origin = origin.__cause__
    for last in traceback.extract_tb(origin.__traceback__)[-1:]:
        text += f" ({Path(last.filename).name}, line {last.lineno})"
    return text
