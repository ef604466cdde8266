"""How fast is a kernel from a function of JAX, beside the same one written by hand?

    python -m benchmarks.jax_kernel

It needs the extra ``jax``. Times are the best of seven calls, after one that compiles; a ratio
above one says that JAX takes longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sgpc_framework as sgpc
from sgpc_framework import datasets
from sgpc_framework.authors import kernel_from_jax
from sgpc_framework.plugin.registry import default_registry

SHAPES = ((1000, 1), (1000, 40), (4000, 1), (4000, 80))
"""Rows, and basis vectors or candidates."""


def gaussian(x: Any, z: Any, variance: Any, lengthscale: Any) -> Any:
    """The squared exponential in one line."""
    import jax.numpy as jnp

    return variance * jnp.exp(-0.5 * jnp.sum(((x - z) / lengthscale) ** 2))


def seconds(call: Callable[[], object], times: int = 7) -> float:
    """The least of several calls, after a first one that does not count."""
    call()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return min(taken)


def main() -> None:
    by_hand = default_registry().part("kernel", "squared-exponential").cls(1.0, 4.0)
    by_jax = kernel_from_jax(gaussian, variance=1.0, lengthscale=4.0)()
    rng = np.random.default_rng(0)
    print("rows x columns, 20 features     by hand       JAX     ratio")
    for rows, columns in SHAPES:
        X, G = rng.normal(size=(rows, 20)), rng.normal(size=(rows, columns))
        Z = X[:columns]
        calls: dict[str, Callable[[Any], object]] = {
            "values": lambda kernel: kernel(X, Z),  # noqa: B023
            "gradient": lambda kernel: kernel.linearised(X, Z)[1](G),  # noqa: B023
            "inputs too": lambda kernel: kernel.linearised_in_inputs(Z, X)[1](G.T),  # noqa: B023
        }
        for what, call in calls.items():
            _row(
                f"{rows:4} x {columns:2}  {what}",
                seconds(lambda: call(by_hand)),  # noqa: B023
                seconds(lambda: call(by_jax)),  # noqa: B023
            )
    X, y = datasets.twonorm(2000)
    fits = [
        seconds(lambda: sgpc.build(kernel=kernel, max_basis=40, max_iterations=5).fit(X, y), 3)  # noqa: B023
        for kernel in (by_hand, by_jax)
    ]
    _row("a fit, 2000 rows, 40 basis", *fits)


def _row(what: str, by_hand: float, by_jax: float) -> None:
    print(f"{what:26} {1e3 * by_hand:9.2f} ms {1e3 * by_jax:9.2f} ms {by_jax / by_hand:6.1f}")


if __name__ == "__main__":
    main()
