"""Calls as bytes for workers, and whom to blame if they cannot be that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import cloudpickle

from sgpc_framework.adapters.dask.worker_store import Order
from sgpc_framework.errors import PluginError


def pickled_call(function: Any, shared: tuple[Any, ...], named: Mapping[str, Any]) -> bytes:
    """A call as workers get it; ``PluginError`` if that cannot be."""
    try:
        return bytes(cloudpickle.dumps((function, shared, named)))
    except Exception as error:
        raise _unsendable([function, *shared, *named.values()], error) from error


def pickled_order(order: Order) -> bytes:
    try:
        return bytes(cloudpickle.dumps(order, protocol=5))
    except Exception as error:
        arguments = [each for own in (order.own or {}).values() for each in own]
        raise _unsendable(arguments, error) from error


def _unsendable(values: list[Any], error: Exception) -> PluginError:
    """Who is to blame that something cannot be sent."""
    for value in values:
        try:
            cloudpickle.dumps(value)
        except Exception:
            what = f"{value!r} of module {getattr(value, '__module__', '?')}"
            break
    else:
        what = "an argument"
    return PluginError(
        f"{what} cannot be sent to the workers that have the rows "
        f"({type(error).__name__}: {error}). A row-local function and what it refers to must be "
        "picklable: no locks, open files, generators or modules' state"
    )


@attrs.frozen
class OutOfReach:
    """What a worker has of a placement that a function refers to: that there is one."""

    _length: int

    def __len__(self) -> int:
        return self._length

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError(
            "a row-local function sees the rows of its block: it cannot ask for others, nor call "
            "the verbs of a posterior, on the workers that have the rows"
        )

    every = some = sum = merge = map = _refuse
