"""Plugins: ``hookimpl``, which authors import from ``sgpc_framework.authors``, marks their hooks.

A plugin is a module that an entry point of the group ``sgpc_framework`` names, with one function
for each kind of part it brings; ``sgpc_framework.plugin.specs`` shows a complete package for each.
How plugins are found is in ``loading``, how parts are looked up in ``registry``: neither is
imported here, so that a plugin module costs no more than its own imports.
"""

from sgpc_framework.plugin.markers import hookimpl

__all__ = ["hookimpl"]
