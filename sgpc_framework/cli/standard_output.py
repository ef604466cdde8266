"""Standard output that is full, closed or of another alphabet: one line, as for any other file."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

_STANDARD_OUTPUT, _STANDARD_ERROR = 1, 2


@contextmanager
def written_whole() -> Iterator[None]:
    """Whoever prints inside need not care: what cannot be written ends the process with a line.

    If nobody reads any more, as in ``sgpc datasets | head -1``, it ends in silence.
    """
    _open_if_closed()
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except UnicodeEncodeError as error:
        _give_up(f"cannot show {error.object[error.start]!a} in {error.encoding}: PYTHONUTF8=1")
    except OSError as error:
        _give_up(None if error.errno == errno.EPIPE else f"cannot be written: {error.strerror}")


def _open_if_closed() -> None:
    """Instead of closed streams some that refuse: their numbers must not go to files."""
    while (refusing := os.open(os.devnull, os.O_RDONLY)) <= _STANDARD_ERROR:
        pass
    os.close(refusing)
    if sys.stdout is None:
        sys.stdout = open(_STANDARD_OUTPUT, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _give_up(problem: str | None) -> None:
    with suppress(OSError, ValueError):  # what is still in the buffer has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if problem is not None:
        with suppress(OSError):
            click.echo(f"Error: standard output {problem}", err=True)
    sys.exit(1)
