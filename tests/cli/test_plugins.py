"""``sgpc plugins``: who provides what, and why something is missing."""

from __future__ import annotations

import json
import re

import pytest

from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.plugin.registry import Registry

BROKEN = "raise RuntimeError('no such sensor: ' + 'x' * 300)"
RIVAL = """
    from typing import ClassVar

    from attrs import frozen

    from sgpc_framework.plugin import hookimpl


    @frozen
    class Rival:
        name: ClassVar[str] = "entropy"

        def propose(self, posterior, rng):
            return 0


    @hookimpl
    def sgpc_basis_selectors():
        return [Rival]
"""


def listed(result) -> list[dict[str, str | None]]:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_every_part_is_listed_by_kind_and_name(sgpc):
    lines = listed(sgpc("plugins", "--json"))
    result = [(line["kind"], line["name"]) for line in lines]
    assert result == [(part.kind, part.name) for part in Registry().parts()]
    assert {kind for kind, _ in result} == set(KINDS)
    for line in lines:
        assert line["distribution"]
        assert line["version"]
        assert line["entry_point"]
        assert (line["status"], line["reason"]) == ("ok", None)


def test_a_plugin_that_fails_is_listed_with_the_whole_reason(sgpc, distribution):
    distribution("sgpc-broken", BROKEN)
    (line,) = (each for each in listed(sgpc("plugins", "--json")) if each["status"] != "ok")
    assert line == {
        "kind": None,
        "name": None,
        "distribution": "sgpc-broken",
        "version": "1.0",
        "entry_point": "parts",
        "status": "quarantined",
        "reason": line["reason"],
    }
    assert "cannot be imported: RuntimeError: no such sensor: " + "x" * 300 in line["reason"]
    assert "sgpc_broken.py, line 1" in line["reason"]


def test_the_whole_reason_stands_below_the_table(sgpc, distribution):
    distribution("sgpc-broken", BROKEN)
    text = sgpc("plugins").stdout
    table, _, below = text.partition("└")
    cells = r"│ \(entry point 'parts'\) +│ sgpc-broken +│ 1\.0 +│ quarantined +│"
    assert re.search(cells, table)
    assert "quarantined: sgpc-broken 1.0 (entry point 'parts')\n" in below
    assert "no such sensor: " + "x" * 300 in below


def test_a_name_provided_twice_is_a_collision_of_both(sgpc, distribution):
    distribution("sgpc-rival", RIVAL)
    lines = [each for each in listed(sgpc("plugins", "--json")) if each["status"] != "ok"]
    assert {line["distribution"] for line in lines} == {"sgpc-framework", "sgpc-rival"}
    for line in lines:
        assert (line["kind"], line["name"]) == ("selector", "entropy")
        assert line["status"] == "collision"
        (other,) = {"sgpc-framework", "sgpc-rival"} - {line["distribution"]}
        assert f"also provided by {other}" in line["reason"]
    assert "collision: selector 'entropy' of sgpc-rival 1.0" in sgpc("plugins").stdout


def test_what_the_allow_list_leaves_out_is_listed(sgpc, distribution, monkeypatch):
    distribution("sgpc-rival", RIVAL)
    monkeypatch.setenv("SGPC_LOAD_PLUGINS", "")
    (line,) = (each for each in listed(sgpc("plugins", "--json")) if each["status"] != "ok")
    assert (line["distribution"], line["status"]) == ("sgpc-rival", "left out")
    assert "SGPC_LOAD_PLUGINS" in line["reason"]


@pytest.mark.parametrize("columns", ["20", "400"])
def test_without_a_terminal_no_name_is_cut(sgpc, distribution, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    distribution("sgpc-a-distribution-with-quite-a-long-name", RIVAL)
    text = sgpc("plugins").stdout
    assert "sgpc-a-distribution-with-quite-a-long-name │" in text
    assert "│ squared-exponential" in text
