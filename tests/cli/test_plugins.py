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


def test_the_name_of_a_built_in_part_is_a_collision_of_who_takes_it(sgpc, distribution):
    distribution("sgpc-rival", RIVAL)
    (line,) = [each for each in listed(sgpc("plugins", "--json")) if each["status"] != "ok"]
    assert (line["kind"], line["name"]) == ("selector", "entropy")
    assert (line["distribution"], line["status"]) == ("sgpc-rival", "collision")
    assert "also provided by sgpc-framework" in line["reason"]
    assert "say 'sgpc-rival:entropy' to use this one" in line["reason"]
    assert "collision: selector 'entropy' of sgpc-rival 1.0" in sgpc("plugins").stdout


def test_what_each_import_cost(sgpc, distribution):
    distribution("sgpc-rival", RIVAL)
    lines = json.loads(sgpc("plugins", "--times", "--json").stdout)
    assert {"sgpc-framework", "sgpc-rival"} == {line["distribution"] for line in lines}
    assert all(line["seconds"] >= 0.0 for line in lines)
    assert "sgpc-rival" in sgpc("plugins", "--times").stdout


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
