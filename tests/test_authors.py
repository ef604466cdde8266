"""One module for authors, all listed. ``packaging`` holds that parts import from no other."""

from __future__ import annotations

import re

import pytest

from sgpc_framework import authors


def _constants_then_classes(name: str) -> tuple[bool, bool, str]:
    """The order in which ruff wants names to stand."""
    return not name.isupper(), not name[0].isupper(), name


def test_the_list_is_in_order_and_the_table_has_all_of_it():
    assert authors.__all__ == sorted(authors.__all__, key=_constants_then_classes)
    rows = [line for line in str(authors.__doc__).splitlines() if line.startswith("``")]
    assert {name for row in rows for name in re.findall(r"``(\w+)``", row[:26])} == {
        *authors.__all__
    }


@pytest.mark.parametrize("name", authors.__all__)
def test_every_name_is_there(name):
    assert getattr(authors, name) is not None
