"""The command line, ``sgpc``. Each command lives in a module that is imported when it is called."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version

import click

COMMANDS = {
    "check": "Run the conformance checks of a part, or of all parts of a distribution.",
    "demo": "Run Algorithm 1 with every selector on generated data and compare them.",
    "describe": "Describe a part: its formula, its options, its abilities, where it comes from.",
    "new": "Write a complete package for a part of your own, ready to be installed.",
    "plugins": "List every part and who provides it, and plugins that could not be loaded.",
}
"""Name and one-line help of each command; module ``sgpc_framework.cli.NAME`` has ``command``."""


class LazyGroup(click.Group):
    """Lists its commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"sgpc_framework.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("sgpc-framework"), prog_name="sgpc")
def main() -> None:
    """Design, compare and use sparse Gaussian process classifiers."""
