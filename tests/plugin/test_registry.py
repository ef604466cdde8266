"""Lookup: the right class, or an error that says what to do."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import ClassVar

import attrs
import numpy as np
import pytest

from sgpc_framework.config.config import Config
from sgpc_framework.design import build
from sgpc_framework.errors import PluginError
from sgpc_framework.parts.calls import using
from sgpc_framework.plugin import hookimpl
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.plugin.registry import Registry, default_registry


@attrs.frozen
class Still:
    name: ClassVar[str] = "still"

    def loss(self, state, rows, /):
        return 0.0

    def refine(self, state, rows, rng, tell, /):
        return state


@attrs.frozen
class AlsoStill:
    name: ClassVar[str] = "still"

    def loss(self, state, rows, /):
        return 0.0

    def refine(self, state, rows, rng, tell, /):
        return state


@attrs.frozen
class First:
    name: ClassVar[str] = "first"

    def propose(self, posterior, rng, /):
        return 0


@attrs.frozen
class Flat:
    name: ClassVar[str] = "flat"

    def loss(self, trial, /):
        return None


@attrs.frozen
class OnlyDiag:
    name: ClassVar[str] = "only-diag"

    def diag(self, X, /):
        return X


@attrs.frozen
class Both(First):
    name: ClassVar[str] = "both"

    def loss(self, state, rows, /):
        return 0.0

    def refine(self, state, rows, rng, tell, /):
        return state


class Plugin:
    @hookimpl
    def sgpc_refiners(self):
        return [Still]


class Rival:
    @hookimpl
    def sgpc_refiners(self):
        return [AlsoStill]

    @hookimpl
    def sgpc_basis_selectors(self):
        return [First]


MODULE = """
    from typing import ClassVar
    from attrs import frozen
    from sgpc_framework.plugin import hookimpl

    @frozen
    class Named:
        name: ClassVar[str] = "NAME"
        def loss(self, fitted):
            return fitted.predictive_loss()

        def refine(self, fitted, rng): return fitted

    @hookimpl
    def sgpc_refiners(): return [Named]
"""


def module(name):
    return MODULE.replace("NAME", name)


def test_classes_find_their_kind_by_their_methods():
    registry = Registry.of(Still, First, Flat)
    assert [(part.kind, part.name) for part in registry.parts()] == [
        ("selector", "first"),
        ("objective", "flat"),
        ("refiner", "still"),
    ]
    assert registry.get("selector", "first") is First
    assert registry.names("kernel") == ()


def test_a_refiner_is_no_objective_although_both_have_a_loss():
    assert KINDS["objective"].has_instance(Flat())
    assert KINDS["refiner"].has_instance(Still())
    assert not KINDS["objective"].has_instance(Still())
    assert not KINDS["refiner"].has_instance(Flat())


@pytest.mark.parametrize(
    ("cls", "fragment"),
    [
        (OnlyDiag, "a kernel: __call__, diag"),
        (Both, "exactly one kind, found loss, propose, refine"),
        (Still(), "wanted a class, found an object of type Still"),
    ],
)
def test_a_class_of_no_kind_or_of_two_is_refused_at_once(cls, fragment):
    with pytest.raises(PluginError, match=fragment):
        Registry.of(cls)


def test_plugins_need_not_be_installed():
    registry = Registry.of_plugins(Plugin())
    assert registry.get("refiner", "still") is Still
    assert registry.provider(Still) == registry.part("refiner", "still")
    assert registry.provider(First) is None


def test_an_extended_registry_has_more_and_the_first_stays_as_it_is():
    small = Registry.of(Still)
    large = small.extended(First)
    assert large.get("refiner", "still") is Still
    assert large.get("selector", "first") is First
    assert small.names("selector") == ()


def test_registries_share_nothing():
    assert Registry.of(Still).manager is not Registry.of(Still).manager
    assert Registry.of_plugins(Plugin()).names("refiner") == ("still",)
    assert Registry.of_plugins(SimpleNamespace()).names("refiner") == ()


def test_the_default_registry_is_one_object():
    assert default_registry() is default_registry()


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(PluginError, match="name of a refiner, found 'stil'; did you mean 'still'"):
        Registry.of(Still).get("refiner", "stil")


def test_an_unknown_name_that_another_kind_has():
    with pytest.raises(PluginError, match="'still' is the name of a part for the slot 'refiner'"):
        Registry.of(Still, First).get("selector", "still")


def test_an_unknown_kind():
    with pytest.raises(PluginError, match="found 'kernels'; did you mean 'kernel'"):
        Registry.of(Still).get("kernels", "still")


def test_an_unknown_name_tells_of_plugins_that_failed(install):
    install("sgpc-broken", "0.3", {"parts": "broken"}, broken="1 / 0")
    with pytest.raises(PluginError) as caught:
        Registry().get("refiner", "surely-not-there")
    assert "sgpc-broken 0.3 (entry point 'parts') is quarantined" in str(caught.value)
    assert "ZeroDivisionError" in str(caught.value)


def test_one_name_from_two_plugins_is_an_error_for_that_name_only():
    registry = Registry.of_plugins(Plugin(), Rival())
    with pytest.raises(PluginError, match=r"'still' of a refiner is provided by .* and by "):
        registry.get("refiner", "still")
    assert registry.get("selector", "first") is First
    assert registry.names("refiner") == ()
    assert registry.ambiguous("refiner") == ("still",)
    assert [part.cls for part in registry.parts() if part.name == "still"] == [Still, AlsoStill]


def test_a_collision_lists_every_distribution_with_its_version(install):
    install("sgpc-one", "1.0", {"parts": "one_parts"}, one_parts=module("twin"))
    install("sgpc-two", "2.5", {"parts": "two_parts"}, two_parts=module("twin"))
    with pytest.raises(PluginError) as caught:
        Registry().get("refiner", "twin")
    assert "sgpc-one 1.0 (entry point 'parts')" in str(caught.value)
    assert "sgpc-two 2.5 (entry point 'parts')" in str(caught.value)
    assert "say 'sgpc-one:twin' or 'sgpc-two:twin'" in str(caught.value)


def test_the_full_name_says_which_of_two_is_meant_in_files_too(install):
    install("sgpc-one", "1.0", {"parts": "one_parts"}, one_parts=module("twin"))
    install("sgpc-two", "2.5", {"parts": "two_parts"}, two_parts=module("twin"))
    registry = Registry()
    assert registry.get("refiner", "sgpc-one:twin").__module__ == "one_parts"
    assert registry.get("refiner", "SGPC_two:twin").__module__ == "two_parts"
    config = Config.from_mapping({"refiner": "sgpc-two:twin"}, registry)
    with using(registry):
        assert config.to_mapping()["refiner"] == {"name": "sgpc-two:twin"}
        assert Config.from_mapping(config.to_mapping(), registry) == config
    assert "twin" not in registry.names("refiner")
    with pytest.raises(PluginError, match="wanted the name of a refiner, found 'sgpc-three:twin'"):
        registry.get("refiner", "sgpc-three:twin")


def test_the_name_of_a_built_in_part_means_it_and_no_stranger_is_imported(install):
    install("sgpc-one", "1.0", {"parts": "one_parts"}, one_parts=module("none"))
    registry = Registry()
    Config.from_mapping(registry=registry)
    built_in = registry.get("refiner", "none")
    assert built_in.__module__.startswith("sgpc_plugins")
    assert registry.provider(built_in).distribution == "sgpc-framework"
    assert "one_parts" not in sys.modules
    assert registry.get("refiner", "sgpc-one:none").__module__ == "one_parts"
    assert registry.get("refiner", "none") is built_in
    assert "none" in registry.names("refiner")
    assert registry.name_of(registry.get("refiner", "sgpc-one:none")) == "sgpc-one:none"


@pytest.mark.parametrize("name", ["light", "sgpc-one:light"])
def test_only_who_mentions_a_name_is_imported_to_find_it(install, name):
    install("sgpc-one", "1.0", {"parts": "one_parts"}, one_parts=module("light"))
    install("sgpc-two", "1.0", {"parts": "two_parts"}, two_parts=module("light-headed"))
    registry = Registry()
    assert registry.kinds_of(name) == ("refiner",)
    light = registry.get("refiner", name)
    assert registry.name_of(light) == "light"
    assert registry.provider(light).distribution == "sgpc-one"
    assert "one_parts" in sys.modules
    assert "two_parts" not in sys.modules


def test_a_name_that_no_source_has_is_looked_for_everywhere(install):
    pieces = module("over-there").replace("over-there", 'over-" "there')
    assert "over-there" not in pieces
    install("sgpc-one", "1.0", {"parts": "one_parts"}, one_parts=pieces)
    assert Registry().get("refiner", "over-there").__module__ == "one_parts"


def test_a_bare_name_is_taken_twice_whoever_was_asked_for_before(install):
    install("sgpc-one", "1.0", {"parts": "one_parts"}, one_parts=module("twin"))
    install("sgpc-two", "2.5", {"parts": "two_parts"}, two_parts=module("twin"))
    registry = Registry()
    assert registry.get("refiner", "sgpc-one:twin").__module__ == "one_parts"
    with pytest.raises(PluginError, match="say 'sgpc-one:twin' or 'sgpc-two:twin'"):
        registry.get("refiner", "twin")


def test_a_fit_with_built_in_parts_imports_no_stranger(install, tmp_path):
    install("sgpc-one", "1.0", {"parts": "one_parts"}, one_parts=module("heavy"))
    X = np.random.default_rng(0).normal(size=(30, 2))
    design = build(registry=Registry(), max_basis=3, max_iterations=1)
    design.fit(X, np.sign(X[:, 0])).save(tmp_path / "model.sgpc")
    assert "one_parts" not in sys.modules


def test_what_an_import_prints_or_sets_is_nobodys_business(install, capsys):
    loud = "    import numpy\n    print('hello')\n    numpy.seterr(over='raise')\n"
    source = loud + module("loud").lstrip("\n")
    install("sgpc-loud", "1.0", {"parts": "loud_parts"}, loud_parts=source)
    before = np.geterr()
    registry = Registry()
    assert registry.get("refiner", "loud")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "hello\n")
    assert np.geterr() == before
    (cost,) = [each for each in registry.imports() if each.distribution == "sgpc-loud"]
    assert cost.seconds > 0.0


@pytest.mark.parametrize(
    ("wish", "admitted"),
    [
        ("sgpc-framework>=99", False),
        ("SGPC_Framework[testing] >= 99", False),
        ("sgpc-framework>=0.1", True),
        ("sgpc-framework>=99; extra == 'later'", True),
        ("sgpc-framework-extras>=99", True),
    ],
)
def test_who_wants_another_framework_is_not_imported(install, tmp_path, wish, admitted):
    install("sgpc-one", "1.0", {"parts": "one_parts"}, one_parts=module("one"))
    (metadata,) = tmp_path.glob("site-sgpc-one/*.dist-info/METADATA")
    metadata.write_text(metadata.read_text() + f"Requires-Dist: {wish}\n")
    registry = Registry()
    assert ("one" in registry.names("refiner")) == admitted
    assert ("one_parts" in sys.modules) == admitted
    if not admitted:
        (absence,) = registry.quarantined()
        assert "wants sgpc-framework >=99, found " in absence.reason


def test_one_name_twice_within_a_distribution_is_an_error_too(install):
    entries = {"a": "part_a", "b": "part_b"}
    install("sgpc-one", "1.0", entries, part_a=module("twin"), part_b=module("twin"))
    with pytest.raises(PluginError, match=r"entry point 'a'.*entry point 'b'"):
        Registry().get("refiner", "twin")


@pytest.mark.parametrize(
    ("allowed", "loaded"),
    [
        (None, {"one", "two"}),
        ("", set()),
        ("sgpc-one", {"one"}),
        (" SGPC_One , sgpc.two", {"one", "two"}),
        ("another", set()),
    ],
)
def test_the_allow_list(install, monkeypatch, allowed, loaded):
    install("sgpc-one", "1.0", {"parts": "one_parts"}, one_parts=module("one"))
    install("Sgpc_Two", "2.0", {"parts": "two_parts"}, two_parts=module("two"))
    if allowed is not None:
        monkeypatch.setenv("SGPC_LOAD_PLUGINS", allowed)
    registry = Registry()
    assert {"one", "two"} & set(registry.names("refiner")) == loaded
    left_out = {record.distribution for record in registry.left_out()}
    assert len(left_out & {"sgpc-one", "Sgpc_Two"}) == 2 - len(loaded)
    assert all("SGPC_LOAD_PLUGINS" in record.reason for record in registry.left_out())


def test_what_is_left_out_is_not_even_imported(install, monkeypatch):
    install("sgpc-one", "1.0", {"parts": "one_parts"}, one_parts="1 / 0")
    monkeypatch.setenv("SGPC_LOAD_PLUGINS", "")
    registry = Registry()
    assert "sgpc-one" not in {record.distribution for record in registry.quarantined()}
    (record,) = [left for left in registry.left_out() if left.distribution == "sgpc-one"]
    assert record.status == "left out"
    with pytest.raises(PluginError, match="add sgpc-one to load it"):
        registry.get("refiner", "one")


def test_the_allow_list_does_not_concern_plugins_that_are_handed_over(monkeypatch):
    monkeypatch.setenv("SGPC_LOAD_PLUGINS", "")
    assert Registry.of_plugins(Plugin()).names("refiner") == ("still",)


def test_the_built_in_parts_come_through_the_same_door(monkeypatch):
    monkeypatch.setenv("SGPC_LOAD_PLUGINS", "")
    registry = Registry()
    assert registry.quarantined() == ()
    for kind, names in BUILT_IN.items():
        assert registry.names(kind) == tuple(sorted(names.split()))
    assert {part.distribution for part in registry.parts()} == {"sgpc-framework"}


BUILT_IN = {
    "kernel": "squared-exponential matern-12 matern-32 matern-52 rational-quadratic periodic linear"
    " polynomial constant sum product warped mahalanobis stretched",
    "likelihood": "probit logistic noisy-probit multinomial-probit noisy-multinomial-probit",
    "sites": "moment-matching predictive-loss",
    "selector": "entropy information-gain validation random-sampling adaptive-sampling"
    " most-violated conditional-variance pool",
    "objective": "nlp predictive-loss marginal-likelihood none",
    "refiner": "corrective ep none prune",
}


def test_threads_that_ask_first_at_the_same_time_get_the_same_parts():
    """Every one of them would load the plugins, and find those of the other registered already."""
    loads = []

    def load(manager):
        loads.append(manager)
        time.sleep(0.05)  # long enough for all of them to come
        return Registry()._load(manager)

    registry = Registry(load)
    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(lambda _: registry.names("kernel"), range(8)))
    assert len(loads) == 1
    assert set(names) == {Registry().names("kernel")}
    assert not registry.quarantined()


def test_a_plugin_that_asks_for_parts_when_it_is_imported_harms_nobody():
    seen = []

    def load(manager):
        catalogue = Registry()._load(manager)
        if registry._depth == 1:  # a module is imported once, whoever asks for it again
            seen.append(registry.names("kernel"))
        return catalogue

    registry = Registry(load)
    assert registry.names("kernel") == seen[0] == Registry().names("kernel")
    assert not registry.quarantined()


def test_a_plugin_that_asks_whenever_it_is_asked_ends():
    """Inside its own answer there is nothing to be had, and outside there is what it answers."""
    asked = []

    @hookimpl
    def sgpc_refiners():
        asked.append(registry.names("refiner"))
        return [Still]

    registry = Registry.of_plugins(SimpleNamespace(sgpc_refiners=sgpc_refiners))
    assert registry.names("refiner") == ("still",)
    assert asked == [()]


def test_the_kinds_of_a_built_in_name_are_known_without_strangers():
    registry = Registry()
    assert registry.kinds_of("pool") == registry.kinds_of("sgpc-framework:pool") == ("selector",)
    assert registry.kinds_of("none") == ("objective", "refiner")
    assert registry._loaded is None  # nobody else's package was imported
    assert registry.kinds_of("surely-not-there") == ()
