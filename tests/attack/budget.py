"""Reading a file in a process of its own, and what that took.

``python budget.py READER FILE`` prints a line of JSON: the error, if there was one, the seconds of
the processor and the bytes of memory beyond those of importing.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import attrs

MB = 2**20


@attrs.frozen
class Reading:
    """What came of reading a file."""

    error: str | None
    seconds: float
    memory: int
    slowness: float

    @classmethod
    def of(cls, reader: str, path: Path) -> Reading:
        """The quickest of up to three readings: what others do on the machine only adds seconds."""
        readings = []
        for _ in range(3):
            readings.append(cls._once(reader, path))
            if readings[-1].in_time(path.stat().st_size):
                break
        return min(readings, key=lambda reading: reading.seconds / reading.slowness)

    @classmethod
    def _once(cls, reader: str, path: Path) -> Reading:
        """Read it in a process of its own, which has a few gigabytes and not more than a minute."""
        command = [sys.executable, __file__, reader, str(path)]
        plain = {**os.environ, "SGPC_FAST": "0"}  # compilers take time and memory of their own
        ran = subprocess.run(command, capture_output=True, text=True, timeout=120, env=plain)
        assert ran.returncode == 0, ran.stderr
        return cls(**json.loads(ran.stdout.splitlines()[-1]))

    def check(self, size: int) -> None:
        """Within 10 x the file + 64 MB, and 2 s + 1 s for each 10 MB, error or not.

        The seconds are those of an idle machine: where others work, a reference loop tells how much
        slower this one is.
        """
        assert self.memory <= 10 * size + 64 * MB, f"{self.memory / MB:.0f} MB for {size} bytes"
        assert self.in_time(size), f"{self.seconds / self.slowness:.1f} s for {size} bytes"

    def in_time(self, size: int) -> bool:
        """Whether it took no longer than a file of so many bytes may take."""
        return self.seconds / self.slowness <= 2.0 + size / (10 * MB)


def _readers() -> dict[str, Any]:
    import numpy as np

    import sgpc_framework as sgpc
    from sgpc_framework.tables import read_table

    # What is imported late, or compiled once, is not the file's doing.
    X = np.random.default_rng(0).normal(size=(12, 2))
    sgpc.build("fast", max_basis=2).fit(X, X[:, 0] > 0.0).predict(X)
    import gzip  # noqa: F401
    import zipfile  # noqa: F401

    import sgpc_framework.files.inspection
    import sgpc_framework.tables.table_files

    return {
        "model": sgpc.load,
        "inspect": sgpc.inspect,
        "config": sgpc.build,
        "table": read_table,
    }


REFERENCE = 0.1
"""Seconds of the loop below on an idle machine."""


def _slowness() -> float:
    began = process_time()
    sum(len(str(number)) for number in range(600_000))
    return max(1.0, (process_time() - began) / REFERENCE)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(reader: str, path: str) -> None:
    read = _readers()[reader]
    from sgpc_framework.errors import SgpcError

    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    before, slowness, error = _peak(), _slowness(), None
    began = process_time()
    try:
        read(path)
    except SgpcError as problem:
        error = f"{type(problem).__name__}: {problem}"
    taken = {"seconds": process_time() - began, "memory": _peak() - before}
    slowness = max(slowness, _slowness())
    print(json.dumps({"error": error, **taken, "slowness": slowness}))


if __name__ == "__main__":
    main(*sys.argv[1:])
