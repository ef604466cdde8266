"""``sgpc describe``: what a part computes, what can be set, and who provides it."""

from __future__ import annotations

import json

import click

from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import echo, print_json, print_table
from sgpc_framework.config.description import Description, OptionDescription, describe
from sgpc_framework.errors import suggestion
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.plugin.records import Part
from sgpc_framework.plugin.registry import Registry, default_registry


@click.command(name="describe")
@click.argument("name")
@click.option("--kind", type=click.Choice(list(KINDS)), help="Only the part of this kind.")
@json_option
def command(name: str, kind: str | None, as_json: bool) -> None:
    """Describe the part NAME: its formula, its options, its abilities, where it comes from.

    A name may belong to parts of several kinds, which are all described.
    """
    descriptions = [describe(part) for part in _parts_named(default_registry(), name, kind)]
    if as_json:
        print_json(descriptions)
        return
    for position, description in enumerate(descriptions):
        if position:
            echo("")
        _print(description)


def _parts_named(registry: Registry, name: str, kind: str | None) -> list[Part]:
    """The parts of that name; a usage error with the nearest name if there is none."""
    eligible = [part for part in registry.parts() if kind in (None, part.kind)]
    parts = [part for part in eligible if part.is_called(name)]
    if parts:
        return parts
    what = KINDS[kind].noun if kind else "a part"
    text = f"wanted the name of {what}, found {name!r}; "
    text += suggestion(name, {part.name for part in eligible})
    elsewhere = [part.kind for part in registry.parts() if part.name == name]
    if elsewhere:
        text += f" ({name!r} is the name of {KINDS[elsewhere[0]].noun})"
    for absence in (*registry.quarantined(), *registry.left_out()):
        text += f"\nit may be missing because {absence}"
    raise click.UsageError(text)


def _print(description: Description) -> None:
    echo(f"{description.kind} {description.name}\n")
    echo(description.documentation or "(no docstring)")
    if description.options:
        echo("\nOptions")
        print_table(
            ["option", "type", "default", "limits", "tuned in"],
            map(_cells, description.options),
            left=5,
        )
    if description.abilities:
        echo("\nAbilities")
        for ability, answer in description.abilities.items():
            echo(f"  {ability}: {answer}")
    echo("\nOrigin")
    echo(
        f"  {description.distribution} {description.version} "
        f"(entry point {description.entry_point!r}), class {description.implementation}"
    )


def _cells(option: OptionDescription) -> list[str]:
    default = "(required)" if option.required else json.dumps(option.default)
    limits = option.limits or "-"
    if option.bounds is not None:
        low, high = option.bounds
        limits = f"[{low:g}, {high:g}]"
    return [option.name, option.type, default, limits, option.transform or "-"]
