"""Requests that cannot be answered, in the form of RFC 9457: ``application/problem+json``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import attrs

MEDIA_TYPE = "application/problem+json"

SHOWN = 20
"""So many problems of a request are listed; the number of all is said."""

CHARACTERS = 60
"""So much of what was found is repeated."""


@attrs.frozen
class Problem:
    """One thing wrong with a request: where (a JSON pointer), what was wanted, what was found."""

    where: str
    wanted: str
    found: str


class Refusal(Exception):
    """An answer other than a prediction: its status, what is the matter, and every problem."""

    def __init__(
        self, status: int, detail: str, problems: Sequence[Problem] = (), count: int | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.problems = tuple(problems)[:SHOWN]
        self.count = len(problems) if count is None else count

    def body(self) -> dict[str, Any]:
        """What the client gets."""
        return {
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "problems": [attrs.asdict(problem) for problem in self.problems],
            "problem_count": self.count,
        }


def pointer(*path: str | int) -> str:
    """The place in a JSON document, as RFC 6901 writes it.

    >>> pointer("rows", 3, "km/h")
    '/rows/3/km~1h'
    """
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
    return "".join(f"/{step}" for step in steps)


def found(value: object) -> str:
    """A JSON value for an error text: itself if it is short, otherwise what it is.

    >>> found({"a": 1}), found([1, 2]), found(True), found(None), found("blue")
    ('an object', 'a list of 2', 'true', 'null', '"blue"')
    """
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 200:
        return "a whole number of many digits"
    text = json.dumps(value)
    return text if len(text) <= CHARACTERS else f"{text[:CHARACTERS]}..."
