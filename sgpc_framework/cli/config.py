"""``sgpc config``: what a fit would be configured with."""

from __future__ import annotations

import click

from sgpc_framework.cli.config_options import (
    DEFAULT,
    build_config,
    changing_options,
    max_basis_option,
)
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import echo, print_json


@click.command(name="config")
@click.argument("name", metavar="[PRESET|FILE]", default=DEFAULT)
@max_basis_option
@changing_options
@json_option
def command(
    name: str,
    max_basis: int | str | None,
    seed: int | None,
    changes: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print the effective configuration as TOML: every part with every option.

    Start from a preset (accurate, fast or paper) or from a file; options change single entries. The
    output is a file that 'sgpc fit --config' takes.

    \b
    sgpc config
    sgpc config fast --max-basis 40 --set selector=entropy > design.toml
    """
    config = build_config(name, changes, max_basis=max_basis, seed=seed)
    if as_json:
        print_json(config.to_mapping())
    else:
        echo(config.to_toml(), nl=False)
