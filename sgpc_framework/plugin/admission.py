"""What is asked of a plugin's classes before anybody may use them.

Only what can be seen without making an instance: whether a part does what its protocol promises is
for ``sgpc_framework.testing`` to find out.
"""

from __future__ import annotations

import re
from typing import Any

import attrs

from sgpc_framework.errors import PluginError
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.options import options_of
from sgpc_framework.plugin.kinds import KINDS, Kind, own_name
from sgpc_framework.protocols import PlainOptions

_WELL_FORMED = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def checked_name(kind: Kind, cls: type) -> str:
    """The name of a class that can be a part of this kind; ``PluginError`` if it cannot."""
    what = f"{cls.__module__}.{cls.__qualname__}"
    if not attrs.has(cls) and not has(cls, PlainOptions):
        raise PluginError(
            f"{what} is not an attrs class: write @attrs.frozen above it, or give it the methods "
            "to_options and from_options (sgpc_framework.protocols.PlainOptions)"
        )
    name = _checked_name(what, cls)
    missing = kind.missing(cls)
    if missing:
        raise PluginError(
            f"{what} ({name!r}) is not {kind.noun}: it has no {' and no '.join(missing)}; "
            f"see sgpc_framework.protocols.{kind.protocol.__name__}"
        )
    try:
        options_of(cls)
    except TypeError as error:
        raise PluginError(f"{what} ({name!r}): {error}") from error
    return name


def _checked_name(what: str, cls: type) -> str:
    remedy = 'write name: ClassVar[str] = "..." in the class'
    if attrs.has(cls) and "name" in attrs.fields_dict(cls):
        raise PluginError(f"the name of {what} is a field, not a class attribute: {remedy}")
    name = own_name(cls)
    if name is None:
        raise PluginError(f"{what} has no name: {remedy}")
    if not isinstance(name, str) or not _WELL_FORMED.fullmatch(name):
        raise PluginError(
            f"{what} is called {name!r}: wanted lower-case letters, digits and hyphens "
            'such as "matern-32"'
        )
    return name


def checked_classes(kind: Kind, returned: Any) -> list[type]:
    """What a hook returned, if it is a list of classes; ``PluginError`` if it is not."""
    if not isinstance(returned, (list, tuple)):
        raise PluginError(
            f"{kind.hook} must return a list of classes, found {_described(returned)}"
        )
    for position, entry in enumerate(returned):
        if not isinstance(entry, type):
            raise PluginError(
                f"{kind.hook} must return a list of classes, found {_described(entry)} "
                f"at position {position}"
            )
    return list(returned)


def _described(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__qualname__} itself: put it into a list"
    return f"an object of type {type(value).__name__}"


def kind_of(cls: type) -> Kind:
    """The kind of a class that comes without a hook, judged by its methods.

    Of two kinds of which one asks for all that the other does, it is the one that asks for more.
    """
    fitting = [kind for kind in KINDS.values() if not kind.missing(cls)]
    fitting = [kind for kind in fitting if not {*kind.demanding} & {*fitting}]
    if len(fitting) == 1:
        return fitting[0]
    present = {
        name
        for base in cls.__mro__
        for name, member in vars(base).items()
        if callable(member) and (name == "__call__" or not name.startswith("_"))
    }
    wanted = "; ".join(f"{k.noun}: {', '.join(k.required)}" for k in fitting or KINDS.values())
    raise PluginError(
        f"{cls.__qualname__} must have the methods of exactly one kind, found "
        f"{', '.join(sorted(present)) or 'none'}; wanted {wanted}"
    )
