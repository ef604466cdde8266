"""The two pluggy markers: one for the framework's hook specifications, one for plugins."""

from __future__ import annotations

from typing import Final

import pluggy

PROJECT: Final = "sgpc_framework"
"""The pluggy project, and the entry-point group in which plugins announce themselves."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
