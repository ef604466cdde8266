"""Importing a file that no distribution has, under a name that nobody else uses."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from sgpc_framework.errors import PluginError
from sgpc_framework.parts.interruptions import is_fault


def imported_file(path: Path, name: str) -> ModuleType:
    """The module of a file, executed as if it were run, so that it finds what lies beside it.

    The folder stays at the end of the path, for what the file imports later; there it hides no
    module of Python's, as a neighbour called ``selectors.py`` would at the front.
    """
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"wanted a file of Python, found {str(path)!r}")
    module = module_from_spec(spec)
    sys.modules[name] = module  # attrs and pickle look there for the module of a class
    folder, before = str(path.parent), sys.path[:]
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not is_fault(error):
            raise
        raise PluginError(
            f"{str(path)!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    finally:
        sys.path[:] = before if folder in before else [*before, folder]
    return module
