"""Methods compared: cells, a run that can be resumed, tests, figures, a page.

    from sgpc_framework import lab

    plan = lab.Plan.of(["pool:keep=40", "adaptive 2"], "generated", sizes=[20, 40])
    report = lab.run_plan(plan, "results", workers=2)

``sgpc lab run`` is the same from the command line. The paper's experiments are a plan in it:
``sgpc reproduce`` is the command, ``reproduction.reproduce`` the same from Python.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sgpc_framework.lab.comparison_plan import Plan
    from sgpc_framework.lab.laboratory import Report, run_plan
    from sgpc_framework.lab.store import merge

__all__ = ["Plan", "Report", "merge", "run_plan"]

_HOME = {
    "Plan": "comparison_plan",
    "Report": "laboratory",
    "merge": "store",
    "run_plan": "laboratory",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
