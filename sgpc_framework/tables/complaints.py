"""All that is wrong with a table in one message: who mends one thing at a time is soon tired."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sgpc_framework.errors import InputError

SHOWN = 20
"""The most problems of a message."""


class TableError(InputError):
    """Several things are wrong with a table; ``problems`` has each of them."""

    def __init__(self, text: str, problems: list[InputError]) -> None:
        super().__init__(text)
        self.problems = tuple(problems)


class Complaints:
    """Collects what is wrong, and raises it together.

    >>> complaints = Complaints("birds.csv")
    >>> for problem in ("birds.csv: column 'a' is empty", "birds.csv: column 'b' is empty"):
    ...     with complaints.collected():
    ...         raise InputError(problem)
    >>> try:
    ...     complaints.check()
    ... except InputError as error:
    ...     print(error)
    birds.csv: 2 problems:
      - column 'a' is empty
      - column 'b' is empty
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._errors: list[InputError] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """What is wrong inside is raised later."""
        try:
            yield
        except InputError as error:
            self._errors += error.problems if isinstance(error, TableError) else [error]

    def check(self) -> None:
        """Raise what has come together; a single error as it was."""
        if not self._errors:
            return
        if len(self._errors) == 1:
            raise self._errors[0]
        count = len(self._errors)
        lines = [f"  - {text}" for text in self._texts(self._errors[:SHOWN])]
        if count > SHOWN:
            lines.append(f"  - and {count - SHOWN} more")
        head = f"{self._source}: {count} problems:"
        raise TableError("\n".join([head, *lines]), self._errors)

    def _texts(self, errors: list[InputError]) -> Iterator[str]:
        """What they say, the same advice once."""
        given: set[str] = set()
        for error in errors:
            problem, _, advice = str(error).removeprefix(f"{self._source}: ").partition("; ")
            yield problem if not advice or advice in given else f"{problem}; {advice}"
            given.add(advice)
