"""No hang: every wait for a cluster has a limit. Whoever waits without one is found by name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sgpc_framework

ROOT = Path(sgpc_framework.__file__).parent
ON_CLUSTERS = [
    path for path in sorted(ROOT.rglob("*.py")) if "dask" in path.read_text(encoding="utf-8")
]
LIMITED = {"result", "exception", "wait"}
"""What waits for as long as it takes, unless it is told how long."""
ENDLESS = {"compute", "persist", "head", "to_parquet", "gather", "run", "wait_for_workers"}
"""What waits in any case, as a method, unless it is lazy or a call of the client that returns at
once."""


def endless_waits(source: str) -> list[str]:
    """The calls that could wait for ever."""
    found = []
    for call in (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        given = {keyword.arg for keyword in call.keywords}
        owner = ast.unparse(call.func).rpartition(".")[0]
        lazily = any(
            keyword.arg == "compute" and ast.unparse(keyword.value) == "False"
            for keyword in call.keywords
        )
        harmless = lazily or not owner or (name == "compute" and owner.endswith("client"))
        limit = "timeout" in given or (call.args and name != "wait")
        if (name in LIMITED and not limit) or (name in ENDLESS and not harmless):
            found.append(f"line {call.lineno}: {ast.unparse(call)}")
    return found


def test_there_is_something_to_look_at():
    names = {path.name for path in ON_CLUSTERS}
    assert {"cluster.py", "worker_pool.py", "fit_on_dask.py", "predict.py"} <= names


@pytest.mark.parametrize("path", ON_CLUSTERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_nobody_waits_for_ever(path):
    assert endless_waits(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "future.result()",
        "wait(futures)",
        "dask.compute(*sums)",
        "frames.head(1)",
        "client.gather(futures)",
        "predicted.to_parquet(folder)",
        "X.persist()",
    ],
)
def test_who_does_is_found(line):
    assert endless_waits(line)
