"""HTML from Python: whatever is not made here is text, and text is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import Any


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, /, *children: object, **attributes: object) -> Markup:
    """An element with its attributes and children, all escaped unless they are ``Markup``.

    An attribute that is a Python word has an underscore behind it, and underscores inside are
    hyphens. ``True`` stands for an attribute without a value, ``None`` and ``False`` for none.

    >>> element("p", "1 < 2", element("b", "&"), class_="x", aria_label='"')
    '<p class="x" aria-label="&quot;">1 &lt; 2<b>&amp;</b></p>'
    """
    return Markup(f"{_start_tag(name, attributes)}{join(children)}</{name}>")


def void(name: str, /, **attributes: object) -> Markup:
    """An element that has no end.

    >>> void("input", type="range", min=1, disabled=True)
    '<input type="range" min="1" disabled>'
    """
    return Markup(_start_tag(name, attributes))


def join(children: Iterable[object]) -> Markup:
    """Children one after the other; ``None`` is nothing."""
    present = (child for child in children if child is not None)
    return Markup("".join(c if isinstance(c, Markup) else escape(str(c)) for c in present))


def embed(data: Any, id_: str) -> Markup:
    """Plain data for the script of the page, in an element that is never executed.

    No character in it could end the element: ``<``, ``>`` and ``&`` are written as escapes.
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    opened = _start_tag("script", {"type": "application/json", "id": id_})
    return Markup(f"{opened}{text}</script>")


def _start_tag(name: str, attributes: dict[str, object]) -> str:
    words = [name]
    for key, value in attributes.items():
        attribute = key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(attribute)
        elif value is not None and value is not False:
            words.append(f'{attribute}="{escape(str(value))}"')
    return f"<{' '.join(words)}>"
