"""Calls that may never return, with an end to the waiting.

Some calls of a client wait for the scheduler for as long as it takes, which is for ever when it has
died. They are made in a thread of their own, which nobody waits for longer than he wants.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class BackgroundCall(Generic[T]):
    """A call that is being made."""

    def __init__(self, function: Callable[..., T], *arguments: Any, **options: Any) -> None:
        self._result: list[T] = []
        self._error: list[BaseException] = []

        def call() -> None:
            try:
                self._result.append(function(*arguments, **options))
            except BaseException as error:  # it is raised where somebody waits
                self._error.append(error)

        self._thread = Thread(target=call, daemon=True, name="sgpc-call")
        self._thread.start()

    def result(self, seconds: float) -> T:
        """What it returned or raised; ``TimeoutError`` if it has not yet."""
        self._thread.join(seconds)
        if self._error:
            raise self._error[0]
        if not self._result:
            raise TimeoutError(f"no answer within {seconds:g} seconds")
        return self._result[0]
