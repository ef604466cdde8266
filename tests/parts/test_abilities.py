"""One table of abilities, and one way to ask for them."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import attrs
import pytest

from sgpc_framework import protocols
from sgpc_framework.parts.abilities import ABILITIES, answers, has
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.protocols import HyperObjective, Kernel, LogEvidence, Subsampled
from sgpc_plugins.kernels import Linear, SquaredExponential
from sgpc_plugins.objectives import Nlp

REFERENCE = Path(__file__).parents[2] / "docs/reference/parts.md"


def test_the_table_has_every_kind_and_every_ability():
    assert ABILITIES.keys() == KINDS.keys()
    listed = {ability.protocol for kind in ABILITIES.values() for ability in kind}
    abilities = {
        member
        for member in vars(protocols).values()
        if isinstance(member, type) and member.__dict__.get("_is_protocol")
    } - {kind.protocol for kind in KINDS.values()}
    assert listed == abilities


@pytest.mark.parametrize("kind", [kind for kind in ABILITIES if ABILITIES[kind]])
def test_the_reference_has_the_table(kind):
    text = REFERENCE.read_text(encoding="utf-8")
    for ability in ABILITIES[kind]:
        methods = ", ".join(f"`{name}`" for name in sorted(ability.members))
        row = f"| {kind} | `{ability.name}` | {methods} | {ability.purpose} |"
        assert row in text.splitlines(), f"wanted in {REFERENCE.name}:\n{row}"


def test_the_reference_has_no_ability_that_is_none():
    known = {f"| {kind} | `{each.name}`" for kind in ABILITIES for each in ABILITIES[kind]}
    section = REFERENCE.read_text(encoding="utf-8").partition("## Abilities")[2]
    rows = [line for line in section.splitlines() if line.startswith("| ") and "`" in line]
    assert {" |".join(row.split(" |")[:2]) for row in rows} == known


@attrs.frozen
class Slotted:
    name: ClassVar[str] = "slotted"
    subset: int = 3

    def loss(self, trial):
        raise AssertionError


class Instance:
    def __init__(self):
        self.subset = 3
        self.log_z = lambda y, mean, variance: y


class MadeUp:
    def __getattr__(self, name):
        return lambda *arguments: None


def test_properties_may_be_fields_or_attributes_and_methods_may_not():
    assert has(Slotted(), Subsampled)
    assert has(Slotted, HyperObjective)
    assert has(Nlp(), Subsampled)
    assert has(Instance(), Subsampled)
    assert not has(Instance, Subsampled)
    assert not has(Instance(), LogEvidence)
    assert not has(MadeUp(), LogEvidence)
    assert not has(Slotted(), LogEvidence)


def test_a_class_is_asked_for_its_instances():
    assert has(Linear, Kernel)
    assert has(Linear(), Kernel)
    assert not has(Slotted, Kernel)  # every class can be called, and that does not count

    class Withdrawn(SquaredExponential):
        columns_of = None

    assert has(SquaredExponential(), protocols.KernelColumns)
    assert not has(Withdrawn(), protocols.KernelColumns)


def test_abilities_answer_questions():
    class Both:
        def begun(self, posterior, rng): ...

        def score(self, posterior, candidates, steps, memory): ...

    assert answers("selector", Both, tuned=False) == {
        "ranks candidates by": "its own score",
        "remembers": "yes",
    }
    assert answers("selector", Slotted, tuned=False) == {
        "ranks candidates by": "NLP over all rows (eq. 5)",
        "remembers": "no",
    }
