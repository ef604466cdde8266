"""The page on what the software withstands names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "explanation" / "trust.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="the docs are in the repository, not in a wheel")
def test_every_line_names_its_tests():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    assert len(lines) >= 16
    for line in lines:
        _, area, tried, right, tests, _ = (cell.strip() for cell in line.split("|"))
        assert area and tried and right  # noqa: PT018
        named = re.findall(r"`([^`]+)`", tests)
        assert named, line
        for name in named:
            assert (TESTS / name).exists(), f"{area}: there is no tests/{name}"


@pytest.mark.skipif(not PAGE.is_file(), reason="the docs are in the repository, not in a wheel")
def test_every_module_of_the_attack_is_on_the_page():
    page = PAGE.read_text()
    for path in Path(__file__).parent.glob("test_*.py"):
        assert path == Path(__file__) or f"attack/{path.name}" in page, path.name
