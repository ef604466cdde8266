"""For authors of parts: conformance checks, a dense oracle, and Hypothesis strategies.

    checks_for(part)                    the named checks that follow from its kind and abilities
    parametrize_with_checks([part])     the same as a pytest decorator
    run_checks(part)                    the same, run; ``sgpc check NAME`` on the command line

The checks need numpy alone. The decorator needs pytest and ``testing.strategies`` needs hypothesis:
both come with the extra ``testing``. Nothing is imported before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sgpc_framework.testing.checks import (
        Check,
        CheckResult,
        checks_for,
        parametrize_with_checks,
        run_checks,
    )
    from sgpc_framework.testing.verdict import ConformanceError

__all__ = [
    "Check",
    "CheckResult",
    "ConformanceError",
    "checks_for",
    "parametrize_with_checks",
    "run_checks",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        home = "verdict" if name == "ConformanceError" else "checks"
        return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
