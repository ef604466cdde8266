"""``SGPC_LOAD_PLUGINS``: which distributions may bring parts.

Unset, all of them. Otherwise a comma-separated list of distribution names; empty, nobody but the
framework itself, whose parts are always there.
"""

from __future__ import annotations

import os
import re
from typing import Final

VARIABLE: Final = "SGPC_LOAD_PLUGINS"
BUILT_IN: Final = "sgpc-framework"
BUILT_IN_PACKAGE: Final = "sgpc_plugins"
"""Where the framework's own parts are."""


def exclusion(distribution: str) -> str | None:
    """Why a distribution is left out and what to do about it; ``None`` if it is let in.

    The framework's own parts are not asked about; whoever only calls itself like it is.
    """
    allowed = os.environ.get(VARIABLE)
    if allowed is None:
        return None
    names = {normalise(name) for name in allowed.split(",") if name.strip()}
    if normalise(distribution) in names:
        return None
    listed = ", ".join(sorted(names)) or "nothing but the built-in parts"
    return f"{VARIABLE} allows {listed}; add {normalise(distribution)} to load it"


def normalise(distribution: str) -> str:
    """One spelling for ``My_Plugin``, ``my.plugin`` and ``my-plugin`` (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution.strip()).lower()
