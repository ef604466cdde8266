"""Options of the commands that take a configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sgpc_framework.cli.option_groups import together

if TYPE_CHECKING:
    from sgpc_framework.config.config import Config

DEFAULT = "accurate"  # DEFAULT_PRESET, which the help of the command line does not import


def whole_number(param: click.Parameter, value: str) -> int:
    """A number of basis vectors, at least one."""
    text = value.strip()
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(
            f"wanted a whole number of at least 1, found {text!r}", param=param
        )
    return int(text)


def _size(_: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    return value if value in (None, "auto") else whole_number(param, value)


max_basis_option = click.option(
    "--max-basis",
    metavar="INTEGER|auto",
    callback=_size,
    help="The most basis vectors; auto has held-out rows choose. Default: that of the "
    "configuration, 80.",
)


changing_options = together(
    click.option("--seed", type=click.IntRange(min=0), help="The seed of the fit. Default: 0."),
    click.option(
        "--set",
        "changes",
        multiple=True,
        metavar="KEY=VALUE",
        help="Change one entry of the configuration: selector=entropy, tolerance=1e-3, "
        "kernel.variance=4. May be given more than once.",
    ),
)
"""Changes to a configuration: ``seed`` and ``changes``."""


config_option = click.option(
    "--config",
    "name",
    default=DEFAULT,
    show_default=True,
    metavar="NAME|FILE",
    help="A preset (accurate, fast or paper), or a TOML or JSON file.",
)


def build_config(name: str, changes: Sequence[str] = (), **entries: Any) -> Config:
    """The configuration of a preset or a file with changes; entries that are None say nothing."""
    from sgpc_framework.config.config import DEFAULT_PARTS, Config
    from sgpc_framework.config.config_files import is_configuration_file, read_mapping
    from sgpc_framework.config.presets import preset
    from sgpc_framework.errors import ConfigError

    said = read_mapping(Path(name)) if is_configuration_file(name) else {"preset": name}
    slots = {*said, *(change.partition("=")[0].strip().partition(".")[0] for change in changes)}
    recipe = preset(said.pop("preset"), slots) if "preset" in said else {}
    mapping: dict[str, Any] = {**DEFAULT_PARTS, **recipe, **said}
    for change in changes:
        set_entry(mapping, change)
    mapping |= {key: value for key, value in entries.items() if value is not None}
    try:
        return Config.from_mapping(mapping)
    except ConfigError as error:
        if is_configuration_file(name):
            error.add_note(f"the configuration was read from {name}")
        raise


def set_entry(mapping: dict[str, Any], change: str) -> None:
    """``kernel.variance=4``: a slot that is a name only becomes one with options."""
    path, equals, text = change.partition("=")
    *slots, key = path.strip().split(".")
    if not equals or not key:
        raise click.BadParameter(f"wanted KEY=VALUE, found {change!r}", param_hint="--set")
    from sgpc_framework.config.config_files import written_value

    inner = mapping
    for slot in slots:
        part = inner.get(slot, {})
        inner[slot] = inner = dict(part) if isinstance(part, Mapping) else {"name": part}
    inner[key] = written_value(text)
