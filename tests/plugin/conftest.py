"""A distribution that pip never saw: a folder on the path with a module and a dist-info."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """``install("pkg", "1.0", {"entry": "module"}, module="source")``, undone after the test."""
    monkeypatch.delenv("SGPC_LOAD_PLUGINS", raising=False)

    def _install(
        distribution: str, version: str, entry_points: Mapping[str, str], **modules: str
    ) -> None:
        site = tmp_path / f"site-{distribution}"
        info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        )
        lines = [f"{name} = {target}" for name, target in entry_points.items()]
        (info / "entry_points.txt").write_text("\n".join(["[sgpc_framework]", *lines, ""]))
        for module, source in modules.items():
            (site / f"{module}.py").write_text(dedent(source))
            monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.syspath_prepend(site)

    before = set(sys.modules)
    yield _install
    for module in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[module], "__file__", "")):
            del sys.modules[module]
