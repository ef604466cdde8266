"""Freed memory is kept: pages are not fetched again for every array."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import resource
import numpy as np
from sgpc_framework.rows.memory import keep_freed_memory
{call}
for _ in range(3):
    [np.ones(150_000) for _ in range(4)]
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    [np.ones(150_000) for _ in range(4)]  # four megabytes and more, all freed
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 50)
"""


def page_faults(call):
    script = SCRIPT.format(call=call)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return float(ran.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other allocators do as they like")
def test_arrays_come_from_what_was_freed():
    assert page_faults("keep_freed_memory()") < 0.1 * page_faults("pass")
