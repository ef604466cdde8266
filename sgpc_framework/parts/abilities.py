"""Asking whether a part has an ability, where it is asked for every block of rows.

``isinstance`` looks at every method of a protocol anew, which takes as long as a pass over a
thousand rows. A class does not change, so it is asked once.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a checker of types may conclude the same
    from builtins import isinstance as has
else:

    def has(part: object, ability: type) -> bool:
        """Whether a part's class has the methods of an ability, a protocol without attributes.

        What an instance alone has, or makes up in ``__getattr__``, does not count.

        >>> from sgpc_framework.protocols import LogEvidence
        >>> has("a word", LogEvidence)
        False
        """
        return _has(type(part), ability)


@cache
def _has(part: type, ability: type) -> bool:
    return issubclass(part, ability)


__all__ = ["has"]
