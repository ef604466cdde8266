"""Who gets the credit for a part, whoever announces it; and Ctrl-C while plugins are imported."""

from __future__ import annotations

import signal

import pytest

from sgpc_framework.plugin import loading
from sgpc_framework.plugin.registry import Registry

STRANGER = """
    from sgpc_plugins.refiners import Prune
    from sgpc_framework.plugin import hookimpl

    class Mine(Prune):
        name = "mine"

    @hookimpl
    def sgpc_refiners(): return [Mine]
"""


def test_who_announces_built_in_parts_is_not_their_author(install):
    install("aaa-first", "9.9", {"x": "sgpc_plugins.kernels"})
    registry = Registry()
    assert registry.part("kernel", "linear").distribution == "sgpc-framework"
    (absence,) = registry.quarantined()
    assert absence.distribution == "aaa-first"
    assert "the same plugin as sgpc-framework:" in absence.reason


def test_a_name_alone_does_not_pass_the_allow_list(install, monkeypatch):
    install("sgpc-framework", "0.0", {"x": "impostor"}, impostor=STRANGER)
    monkeypatch.setenv("SGPC_LOAD_PLUGINS", "")
    registry = Registry()
    assert "mine" not in registry.names("refiner")
    assert "prune" in registry.names("refiner")
    assert [absence.entry_point for absence in registry.left_out()] == ["x"]


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def _interrupts():
    """As in a terminal: a job in the background ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interrupts")
def test_a_real_interrupt_ends_the_loading():
    with pytest.raises(KeyboardInterrupt):
        loading._guarded("cannot be imported", ctrl_c)


def test_and_so_does_one_that_a_handler_raises(monkeypatch):
    def handler(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            loading._guarded("cannot be imported", ctrl_c)
    finally:
        signal.signal(signal.SIGINT, before)
