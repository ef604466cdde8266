"""The extra ``fast``: passes over the rows compiled by numba, used where it is installed.

A module that has a compiled twin asks for it by name and does its own NumPy where there is none:

    if twin := compiled("sgpc_framework.rows.loops_compiled"):
        return twin.running_sums(weights, eligible)

``SGPC_FAST=0`` in the environment turns all of them off. The choice is made once, at first use:
importing the framework does not load a compiler, and one process gives one answer.

What was compiled is kept in a folder of numba's. If that cannot be written or read, or holds
something else than what was left there, a process compiles for itself; and if nothing helps, NumPy
does the work. Nobody's fit ends because of a cache. Compiling takes a while, so it is announced, in
the log ``sgpc_framework``.

Loading a compiler takes longer than most predictions. So these take the loops that a fit of this
process has loaded, and load none themselves unless there are very many rows:

    with loaded_loops_only():
        likelihood.log_z(y, mean, variance)
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

_LOG = logging.getLogger("sgpc_framework")

_keeps = True
"""Whether what is compiled is kept for the next process."""


def compiler_options() -> dict[str, Any]:
    """How loops are compiled: ``@numba.njit(signature, **compiler_options())``."""
    return {"cache": _keeps, "nogil": True, "error_model": "numpy"}


_loading: ContextVar[bool] = ContextVar("loading", default=True)


class loaded_loops_only:
    """A context in which compiled loops are used if they are there, and not loaded if not."""

    __slots__ = ("_outer",)

    def __enter__(self) -> None:
        self._outer = _loading.set(False)

    def __exit__(self, *_: object) -> None:
        _loading.reset(self._outer)


def compiled(module: str) -> Any:
    """The module of compiled passes, or None where numba is missing, not wanted or broken."""
    return load_compiled(module) if _loading.get() or module in sys.modules else None


@cache
def load_compiled(module: str) -> Any:
    """The same, loaded if it is not there: the choice, made once."""
    if os.environ.get("SGPC_FAST") == "0":
        return None
    try:
        import numba  # noqa: F401
    except ImportError:
        return None
    try:
        found = _imported(module)
    except Exception as error:  # of any kind: it is whatever a damaged file makes numba do
        return _without_cache(module, error)
    if (wanted := os.environ.get("NUMBA_CACHE_DIR")) and _is_kept_outside(wanted, found):
        _say_that_it_is_kept_elsewhere(wanted)
    return found


def _imported(module: str) -> ModuleType:
    """The module, with a word to whoever waits if numba finds something to compile in it."""
    from numba.core import event

    class Told(event.Listener):  # type: ignore[misc]  # numba has no types
        def on_start(self, _: object) -> None:
            _say_that_it_compiles()

        def on_end(self, _: object) -> None:
            pass

    with event.install_listener("numba:compile", Told()):
        return import_module(module)


@cache
def _say_that_it_compiles() -> None:
    """Once in a process, on standard error unless the program has other plans for its log."""
    kept = ", and kept for the next process" if _keeps else ""
    _LOG.warning(
        "sgpc: loops are compiled for this machine, which takes up to a minute%s "
        "(SGPC_FAST=0 does without)",
        kept,
    )


def _is_kept_outside(folder: str, module: ModuleType) -> bool:
    """Whether numba keeps the loops of a module in another folder, which it does without a word."""
    inside = os.path.join(os.path.abspath(folder), "")
    loops = (getattr(each, "stats", None) for each in vars(module).values())
    places = [kept for loop in loops if (kept := getattr(loop, "cache_path", None))]
    return any(not os.path.abspath(place).startswith(inside) for place in places)


@cache
def _say_that_it_is_kept_elsewhere(wanted: str) -> None:
    warnings.warn(
        f"NUMBA_CACHE_DIR is {wanted!r}, where numba cannot keep what it compiles, and takes "
        "another place: wanted a folder that can be written",
        RuntimeWarning,
        stacklevel=4,
    )


def _without_cache(module: str, error: Exception) -> Any:
    """The module compiled for this process alone, or None if that fails, too."""
    global _keeps
    _keeps = False
    sys.modules.pop(module, None)
    problem = f"numba could not use its cache ({type(error).__name__}: {error})"
    advice = "set NUMBA_CACHE_DIR to a folder that can be written, or empty the one it names"
    try:
        again = _imported(module)
    except Exception as other:
        sys.modules.pop(module, None)
        told = f"{problem}, nor do without it ({type(other).__name__}: {other}): NumPy is used"
        warnings.warn(f"{told}; {advice}", RuntimeWarning, stacklevel=3)
        return None
    told = f"{problem}: loops are compiled anew in every process, which takes seconds"
    warnings.warn(f"{told}; {advice}", RuntimeWarning, stacklevel=3)
    return again
