"""An instance of a class to run checks on, made with the defaults of its options."""

from __future__ import annotations

from typing import Any, get_args, get_origin

from sgpc_framework.errors import PluginError
from sgpc_framework.parts.abilities import has
from sgpc_framework.parts.options import Option, options_of
from sgpc_framework.plugin.kinds import KINDS, own_name
from sgpc_framework.protocols import PlainOptions
from sgpc_framework.testing.situations import defaults


def specimen(cls: type) -> Any:
    """An instance with default options; an option that wants parts and has no default gets some.

    >>> from sgpc_plugins.kernels import Sum
    >>> [term.name for term in specimen(Sum).terms]
    ['squared-exponential', 'squared-exponential']
    """
    made: Any = cls
    if has(made, PlainOptions):
        return made.from_options({})
    required = [option for option in options_of(cls) if option.required]
    return cls(**{option.key: _filled(cls, option) for option in required})


def _filled(cls: type, option: Option) -> Any:
    for kind in KINDS.values():
        part = getattr(defaults(), kind.name)
        if option.type is kind.protocol:
            return part
        if get_origin(option.type) is tuple and get_args(option.type)[0] is kind.protocol:
            return (part, part)
    raise PluginError(
        f"{own_name(cls) or cls.__qualname__} has no default for its option {option.key!r}: "
        "check an instance instead of the class"
    )
