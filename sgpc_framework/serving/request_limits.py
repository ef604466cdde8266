"""What one client may ask of a server, so that none can take it from the others."""

from __future__ import annotations

from typing import Any

import attrs


def _positive(_: object, field: attrs.Attribute[Any], value: float) -> None:
    if not value > 0:
        raise ValueError(f"{field.name}: wanted a number above zero, found {value!r}")


@attrs.frozen
class Limits:
    """Bounds on a request, and on how many there are at a time.

    The memory that requests can take is about ``body_bytes * requests`` times ten: JSON grows when
    it is read.
    """

    rows: int = attrs.field(default=1000, validator=_positive)
    """Rows in one request."""
    body_bytes: int = attrs.field(default=1 << 20, validator=_positive)
    """Bytes in the body of one request."""
    requests: int = attrs.field(default=32, validator=_positive)
    """Requests for predictions at a time; more are told to come again."""
    seconds: float = attrs.field(default=10.0, validator=_positive)
    """From the first byte of a request to its prediction; and for open requests when it stops."""
