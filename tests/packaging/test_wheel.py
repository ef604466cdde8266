"""The wheel: what users get, no more and no less."""

from __future__ import annotations

import configparser
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
SOURCES = {"sgpc_framework": ROOT, "sgpc_plugins": ROOT / "plugins/builtin"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    assert path.name == f"sgpc_framework-{VERSION}-py3-none-any.whl"
    return zipfile.ZipFile(path)


def _modules(names: list[str]) -> set[str]:
    return {name for name in names if ".dist-info/" not in name}


def test_the_wheel_has_exactly_the_two_packages(wheel):
    top = {name.split("/")[0] for name in _modules(wheel.namelist())}
    assert top == set(SOURCES)


def test_every_source_file_is_in_the_wheel_and_nothing_else(wheel):
    expected = {
        path.relative_to(root).as_posix()
        for package, root in SOURCES.items()
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert _modules(wheel.namelist()) == expected
    assert {f"{package}/py.typed" for package in SOURCES} <= expected


def test_the_entry_points(wheel):
    (name,) = (n for n in wheel.namelist() if n.endswith(".dist-info/entry_points.txt"))
    found = configparser.ConfigParser()
    found.read_string(wheel.read(name).decode())
    kinds = ("kernels", "likelihoods", "objectives", "refiners", "selectors", "sites")
    assert dict(found["sgpc_framework"]) == {kind: f"sgpc_plugins.{kind}" for kind in kinds}
    assert dict(found["console_scripts"]) == {"sgpc": "sgpc_framework.__main__:main"}


def test_the_licence_comes_along(wheel):
    (name,) = (n for n in wheel.namelist() if n.endswith("/licenses/LICENSE"))
    assert wheel.read(name) == (ROOT / "LICENSE").read_bytes()


def test_what_was_unpacked_works_without_the_sources(wheel, tmp_path):
    wheel.extractall(tmp_path)
    code = """
        import sgpc_framework as sgpc
        from sgpc_framework.datasets import twonorm
        model = sgpc.build(max_basis=3, max_iterations=1).fit(*twonorm(40))
        print(len(model), sgpc.__version__, sgpc.__file__)
        print(__import__(type(model.kernel).__module__).__file__)
    """
    code = "\n".join(line.strip() for line in code.splitlines())
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert ran.stdout.split() == [
        "3",
        VERSION,
        str(tmp_path / "sgpc_framework/__init__.py"),
        str(tmp_path / "sgpc_plugins/__init__.py"),
    ]
