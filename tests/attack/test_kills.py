"""Killed at any moment of writing: whoever reads finds one of the models, never a half."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import numpy as np
import pytest

import sgpc_framework as sgpc

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs signals of POSIX")

WRITING = """
import numpy as np, sgpc_framework as sgpc
X = np.random.default_rng(0).normal(size=(60, 2))
models = [sgpc.build(max_basis=n, max_iterations=1).fit(X, X[:, 0] > 0.0) for n in (2, 30)]
models[0].save("m.sgpc")
print("writing", flush=True)
while True:
    for model in models:
        model.save("m.sgpc")
"""


def test_a_file_is_old_or_new_whenever_its_writer_is_killed(tmp_path):
    rng, sizes = random.Random(0), set()
    for _ in range(8):
        command = [sys.executable, "-c", WRITING]
        environment = {**os.environ, "SGPC_FAST": "0"}
        with subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, env=environment
        ) as writer:
            assert writer.stdout.readline() == b"writing\n"
            time.sleep(rng.uniform(0.0, 0.1))
            writer.kill()
        model = sgpc.load(tmp_path / "m.sgpc")
        assert np.isfinite(model.predict_proba(np.zeros((1, 2)))).all()
        sizes.add(len(model))
    assert sizes <= {2, 30}
    left = {path.suffix for path in tmp_path.iterdir()}
    assert left <= {".sgpc", ".part"}
