"""Discovery: what is announced is found, and what is broken harms nobody else."""

from __future__ import annotations

import inspect
import subprocess
import sys
from textwrap import dedent
from types import ModuleType

import pytest

from sgpc_framework.plugin import specs
from sgpc_framework.plugin.kinds import HOOKS, KINDS
from sgpc_framework.plugin.registry import Registry
from sgpc_framework.testing import run_checks

GOOD = """
    from typing import ClassVar
    from attrs import frozen
    from sgpc_framework.plugin import hookimpl

    @frozen
    class Still:
        name: ClassVar[str] = "still"
        def loss(self, fitted):
            return fitted.predictive_loss()

        def refine(self, fitted, rng): return fitted

    @hookimpl
    def sgpc_refiners(): return [Still]
"""
HEAD = """
from typing import TYPE_CHECKING, ClassVar
from attrs import field, frozen
from sgpc_framework.plugin import hookimpl
"""
BROKEN = {
    "import error": (
        "import surely_not_there",
        ["cannot be imported", "'surely_not_there'", "line 5"],
    ),
    "syntax error": ("def (", ["cannot be imported", "SyntaxError", "broken.py, line 5"]),
    "interrupts": ("raise KeyboardInterrupt", ["cannot be imported: KeyboardInterrupt", "line 5"]),
    "gives up": ("class End(BaseException): pass\nraise End(7)", ["cannot be imported: End: 7"]),
    "exits": ("raise SystemExit(3)", ["cannot be imported: SystemExit: 3"]),
    "misspelt hook": (
        "@hookimpl\ndef sgpc_kernls(): return []",
        ["unknown hook 'sgpc_kernls'", "did you mean 'sgpc_kernels'?"],
    ),
    "wrong signature": (
        "@hookimpl\ndef sgpc_kernels(registry): return []",
        ["wrong hook", "sgpc_kernels", "registry"],
    ),
    "no hook": ("answer = 42", ["implements no hook", "@hookimpl"]),
    "not marked": (
        "def sgpc_kernels(): return []",
        ["'sgpc_kernels' without @hookimpl, so it is not called"],
    ),
    "neither marked nor spelt": (
        "def sgpc_kernel(): return []",
        ["'sgpc_kernel' without @hookimpl", "did you mean 'sgpc_kernels'?"],
    ),
    "one marked, one not": (
        "@hookimpl\ndef sgpc_kernels(): return []\ndef sgpc_refiners(): return []",
        ["'sgpc_refiners' without @hookimpl"],
    ),
    "hook raises": (
        "@hookimpl\ndef sgpc_kernels(): return 1 / 0",
        ["sgpc_kernels failed: ZeroDivisionError", "broken.py, line 6"],
    ),
    "returns nothing": ("@hookimpl\ndef sgpc_kernels(): pass", ["list of classes, found None"]),
    "returns a class": (
        "@frozen\nclass A: pass\n@hookimpl\ndef sgpc_kernels(): return A",
        ["the class A itself: put it into a list"],
    ),
    "returns an instance": (
        "@frozen\nclass A: pass\n@hookimpl\ndef sgpc_kernels(): return [A()]",
        ["an object of type A at position 0"],
    ),
    "generator": (
        "@hookimpl\ndef sgpc_kernels(): yield int",
        ["list of classes, found an object of type generator"],
    ),
    "not attrs": (
        "class A: name = 'a'\n@hookimpl\ndef sgpc_kernels(): return [A]",
        ["broken.A is not an attrs class", "@attrs.frozen"],
    ),
    "no name": (
        "@frozen\nclass A: pass\n@hookimpl\ndef sgpc_kernels(): return [A]",
        ["broken.A has no name", "ClassVar[str]"],
    ),
    "name is a field": (
        "@frozen\nclass A:\n    name: str = 'a'\n@hookimpl\ndef sgpc_kernels(): return [A]",
        ["is a field, not a class attribute", "ClassVar[str]"],
    ),
    "ill-formed name": (
        "@frozen\nclass A:\n    name: ClassVar[str] = 'My Kernel'\n"
        "@hookimpl\ndef sgpc_kernels(): return [A]",
        ["'My Kernel'", "lower-case letters, digits and hyphens"],
    ),
    "methods missing": (
        "@frozen\nclass A:\n    name: ClassVar[str] = 'a'\n"
        "@hookimpl\ndef sgpc_kernels(): return [A]",
        ["is not a kernel: it has no __call__ and no diag", "protocols.Kernel"],
    ),
    "a name that explodes": (
        "class Meta(type):\n    @property\n    def name(cls): raise RuntimeError('boom')\n"
        "@frozen\nclass A(metaclass=Meta): pass\n@hookimpl\ndef sgpc_kernels(): return [A]",
        ["sgpc_kernels failed: RuntimeError: boom (broken.py, line 7)"],
    ),
    "type of an option": (
        "if TYPE_CHECKING:\n    import decimal\n"
        "@frozen\nclass A:\n    name: ClassVar[str] = 'a'\n    x: 'decimal.Decimal' = 1\n"
        "    def loss(self, fitted): return 0.0\n"
        "    def refine(self, fitted, rng): return fitted\n"
        "@hookimpl\ndef sgpc_refiners(): return [A]",
        ["'decimal.Decimal' of A.x cannot be resolved", "TYPE_CHECKING"],
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_quarantined_with_its_reason_and_harms_nobody(install, case):
    source, fragments = BROKEN[case]
    install("sgpc-broken", "0.3", {"parts": "broken"}, broken=HEAD + source)
    install("sgpc-good", "1.0", {"parts": "good_parts"}, good_parts=GOOD)
    registry = Registry()
    (record,) = [q for q in registry.quarantined() if q.distribution == "sgpc-broken"]
    assert (record.version, record.entry_point, record.status) == ("0.3", "parts", "quarantined")
    for fragment in fragments:
        assert fragment in record.reason
    assert "\n" not in record.reason
    assert "still" in registry.names("refiner")
    assert not [part for part in registry.parts() if part.distribution == "sgpc-broken"]
    assert not registry.manager.has_plugin("sgpc-broken:parts")
    assert registry.manager.has_plugin("sgpc-good:parts")


def test_quarantine_is_for_an_entry_point_not_for_its_distribution(install):
    install(
        "sgpc-half",
        "1.0",
        {"broken": "half_broken", "good": "half_good", "missing": "half_good:nothing_here"},
        half_broken="1 / 0",
        half_good=GOOD,
    )
    registry = Registry()
    assert registry.part("refiner", "still").entry_point == "good"
    reasons = {q.entry_point: q.reason for q in registry.quarantined()}
    assert "ZeroDivisionError" in reasons["broken"]
    assert "nothing_here" in reasons["missing"]


@pytest.mark.parametrize(
    "target", ["odd:NOTHING", "odd:Evil", "odd:EVIL", "odd:ARRAY", "not a module"]
)
def test_entry_points_that_name_odd_things(install, target):
    source = """
        import numpy as np
        class Evil:
            def __eq__(self, other): raise RuntimeError("boom")
            def __dir__(self): raise RuntimeError("boom")
        EVIL, NOTHING, ARRAY = Evil(), None, np.zeros(3)
    """
    install("sgpc-odd", "1.0", {"a": target, "b": "odd_good"}, odd=source, odd_good=GOOD)
    registry = Registry()
    assert registry.part("refiner", "still").entry_point == "b"
    (record,) = [q for q in registry.quarantined() if q.distribution == "sgpc-odd"]
    assert record.entry_point == "a"


def test_two_entry_points_for_one_module(install):
    install("sgpc-twice", "1.0", {"a": "twice", "b": "twice"}, twice=GOOD)
    registry = Registry()
    assert registry.part("refiner", "still").entry_point == "a"
    (record,) = [q for q in registry.quarantined() if q.distribution == "sgpc-twice"]
    assert record.entry_point == "b"
    assert "the same plugin as sgpc-twice:a" in record.reason


def test_entry_points_of_the_same_name_from_two_distributions_both_load(install):
    install("sgpc-one", "1.0", {"parts": "one_parts"}, one_parts=GOOD)
    other = GOOD.replace('"still"', '"calm"')
    install("sgpc-two", "1.0", {"parts": "two_parts"}, two_parts=other)
    assert {"still", "calm"} <= set(Registry().names("refiner"))


def test_nothing_is_imported_before_somebody_asks_and_then_only_once(install):
    install("sgpc-good", "1.0", {"parts": "good_parts"}, good_parts=GOOD)
    registry = Registry()
    assert "good_parts" not in sys.modules
    first = registry.get("refiner", "still")
    assert "good_parts" in sys.modules
    assert registry.get("refiner", "still") is first


def test_the_markers_cost_a_plugin_author_neither_registry_nor_numpy():
    code = """
        import sys
        from sgpc_framework.plugin import hookimpl
        heavy = {"numpy", "cattrs", "sgpc_framework.plugin.registry"} & set(sys.modules)
        assert not heavy, heavy
    """
    subprocess.run([sys.executable, "-c", dedent(code)], check=True)


def test_every_kind_has_a_hook_with_a_specification():
    specified = {name for name in vars(specs) if name.startswith("sgpc_")}
    assert specified == set(HOOKS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_in_a_hook_specification_is_a_complete_plugin(kind):
    hook = getattr(specs, KINDS[kind].hook)
    assert not inspect.signature(hook).parameters
    _, _, example = inspect.getdoc(hook).partition("::\n")
    module = ModuleType(f"example_{kind}")
    sys.modules[module.__name__] = module
    try:
        exec(dedent(example), vars(module))
        registry = Registry.of_plugins(module)
        assert registry.quarantined() == ()
        (part,) = registry.parts()
        failed = [result.problem for result in run_checks(part.cls(), registry) if not result.ok]
    finally:
        del sys.modules[module.__name__]
    assert part.kind == kind
    assert [kind for kind in KINDS if KINDS[kind].has_instance(part.cls())] == [kind]
    assert not failed, "\n".join(failed)
