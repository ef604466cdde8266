"""BLAS threads: one, while the framework works.

The products here are small, and on a busy machine a second thread costs more than it brings. One
thread also makes results independent of the machine's thread settings, to the bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    import scipy.linalg  # noqa: F401  brings its own BLAS, which must be there to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread inside, and give the caller's setting back after."""
    with _controller().limit(limits=1, user_api="blas"):
        yield
