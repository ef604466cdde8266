"""The extra ``fast``: passes over the rows compiled by numba, used where it is installed.

A module that has a compiled twin asks for it by name and does its own NumPy where there is none:

    if twin := compiled("sgpc_framework.rows.loops_compiled"):
        return twin.running_sums(weights, eligible)

``SGPC_FAST=0`` in the environment turns all of them off. The choice is made once, at first use:
importing the framework does not load a compiler, and one process gives one answer.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import Any


@cache
def compiled(module: str) -> Any:
    """The module of compiled passes, or None where numba is missing or not wanted."""
    if os.environ.get("SGPC_FAST") == "0":
        return None
    try:
        import numba  # noqa: F401
    except ImportError:
        return None
    return import_module(module)
