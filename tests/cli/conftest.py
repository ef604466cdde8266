"""Running a command, and a distribution that pip never saw."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

from sgpc_framework.cli import main
from sgpc_framework.plugin.registry import default_registry


@pytest.fixture
def sgpc() -> Iterator[Callable[..., Result]]:
    """``sgpc("plugins", "--json")``, with the plugins that are installed when the test begins."""
    default_registry.cache_clear()
    yield lambda *arguments: CliRunner().invoke(main, [str(argument) for argument in arguments])
    default_registry.cache_clear()


@pytest.fixture
def distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str, str], None]]:
    """``distribution("sgpc-mine", source)``: version 1.0, one module, undone after the test."""
    monkeypatch.delenv("SGPC_LOAD_PLUGINS", raising=False)
    modules: list[str] = []

    def install(name: str, source: str) -> None:
        modules.append(name.replace("-", "_"))
        info = tmp_path / f"site-{name}" / f"{modules[-1]}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[sgpc_framework]\nparts = {modules[-1]}\n")
        (info.parent / f"{modules[-1]}.py").write_text(dedent(source))
        monkeypatch.syspath_prepend(info.parent)

    yield install
    for module in modules:
        sys.modules.pop(module, None)
