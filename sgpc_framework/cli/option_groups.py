"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")


class Numbers(click.ParamType):  # type: ignore[type-arg]  # generic in new clicks only
    """Whole numbers of at least 1, by commas."""

    name = "N[,N...]"
    wanted = "numbers of at least 1 by commas"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            numbers = self.check(tuple(int(part) for part in str(value).split(",")))
        except ValueError:
            self.fail(f"wanted {self.wanted}, found {value!r}")
        return numbers

    def check(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        if min(numbers) < 1:
            raise ValueError
        return numbers


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator of several options, which the help lists in this order."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
