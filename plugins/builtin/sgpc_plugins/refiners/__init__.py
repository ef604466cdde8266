"""Built-in refiners (after the stages)."""

from sgpc_framework.plugin import hookimpl
from sgpc_plugins.refiners.unchanged import NoRefiner

__all__ = ["NoRefiner"]


@hookimpl
def sgpc_refiners() -> list[type]:
    return [NoRefiner]
