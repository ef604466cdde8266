"""Counting calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def count_calls(monkeypatch: pytest.MonkeyPatch, cls: type, *methods: str) -> list[str]:
    """A list that gets the name of each of these methods whenever it is called."""
    calls: list[str] = []

    def counted(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            calls.append(method.__name__)
            return method(*arguments)

        return call

    for name in methods:
        monkeypatch.setattr(cls, name, counted(getattr(cls, name)))
    return calls
