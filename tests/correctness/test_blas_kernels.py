"""The same basis on the golden sets, whichever of its kernels BLAS computes with.

OpenBLAS has kernels for many processors, which add in different orders. Choices of rows must not
hang on the last bits: on data without ties, every selector takes the same rows in the same order.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import json
import numpy as np
from threadpoolctl import threadpool_info
import sgpc_framework as sgpc
from sgpc_framework import datasets

found = {}
for name in ("waveform", "twonorm", "ringnorm"):
    X, y = getattr(datasets, name)(300, seed=7)
    for selector in sgpc.Registry().names("selector"):
        design = sgpc.build(selector=selector, max_basis=15, max_iterations=2, objective="none")
        model = design.fit(X, y)
        found[f"{name} {selector}"] = [model.basis.tolist(), model.predict_proba(X)[:, 1].tolist()]
    model = sgpc.build(max_basis=15, max_iterations=2).fit(X, y)
    found[f"{name} step 6"] = [model.basis.tolist(), model.predict_proba(X)[:, 1].tolist()]
print(json.dumps([found, [blas.get("architecture") for blas in threadpool_info()]]))
"""


def fitted(processor):
    """What a process finds whose BLAS takes the kernels of a processor, and which it took."""
    environment = {**os.environ, "OPENBLAS_CORETYPE": processor, "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="processors have other names there")
def test_every_selector_takes_the_same_rows():
    one, modern = fitted("Haswell")
    other, old = fitted("Nehalem")
    if modern == old:
        pytest.skip(f"this BLAS has kernels of one processor only: {modern}")
    assert one.keys() == other.keys()
    for name, (basis, proba) in one.items():
        assert other[name][0] == basis, name
        np.testing.assert_allclose(other[name][1], proba, rtol=1e-6, atol=1e-9, err_msg=name)
