"""``sgpc check NAME``: the conformance checks of an installed part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import attrs
import click

from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import console, print_json
from sgpc_framework.errors import PluginError, suggestion
from sgpc_framework.plugin.kinds import KindName
from sgpc_framework.plugin.records import Absence, Part
from sgpc_framework.plugin.registry import Registry, default_registry


@attrs.frozen
class Line:
    """One line of the report: a check of a part, or what else is to be said under that name."""

    part: str
    provider: str
    check: str
    ok: bool
    problem: str | None = None
    seconds: float = 0.0


@click.command(name="check")
@click.argument("name")
@click.option("--kind", type=click.Choice(get_args(KindName)), help="Only the part of this kind.")
@json_option
def command(name: str, kind: KindName | None, as_json: bool) -> None:
    """Run the conformance checks of the part NAME, or of all parts of the distribution NAME.

    The exit code is 0 if all of them pass, 1 if one fails or the plugin could not be loaded, and 2
    if nothing has that name.
    """
    registry = default_registry()
    parts = [p for p in registry.parts() if name in (p.name, p.distribution)]
    parts = [p for p in parts if kind in (None, p.kind)]
    broken = [a for a in registry.quarantined() if name in (a.distribution, a.entry_point)]
    if not parts and not broken:
        raise click.UsageError(_unknown(name, kind, registry))
    show = (lambda line: None) if as_json else _print_line
    lines = []
    for line in (*map(_quarantine_line, broken), *_check_parts(parts, registry)):
        show(line)
        lines.append(line)
    failed = sum(not line.ok for line in lines)
    if as_json:
        print_json(lines)
    else:
        click.echo(f"{len(lines) - failed} passed, {failed} failed{_note()}")
    raise SystemExit(1 if failed else 0)


def _check_parts(parts: list[Part], registry: Registry) -> Iterator[Line]:
    from sgpc_framework.testing import run_checks

    for part in parts:
        title, provider = part.name, str(part.origin)
        try:
            registry.part(part.kind, part.name)
        except PluginError as error:  # the name is taken twice
            yield Line(title, provider, f"{part.kind}: only one of its name", False, str(error))
            continue
        for result in run_checks(part.cls, registry, kind=part.kind):
            yield Line(title, provider, result.name, result.ok, result.problem, result.seconds)


def _quarantine_line(absence: Absence) -> Line:
    title = f"entry point {absence.entry_point}"
    return Line(title, str(absence.origin), "plugin: can be loaded", False, str(absence))


def _print_line(line: Line) -> None:
    from rich.text import Text

    verdict = Text("ok    ", style="green") if line.ok else Text("FAILED", style="bold red")
    console().print(verdict, Text(f" {line.part}  {line.check}"), soft_wrap=True)
    if line.problem:
        console().print(Text(line.problem), soft_wrap=True)


def _unknown(name: str, kind: KindName | None, registry: Registry) -> str:
    known = {p.name for p in registry.parts() if kind in (None, p.kind)}
    what = f"a part of kind {kind}" if kind else "a part or of a distribution that has some"
    return f"wanted the name of {what}, found {name!r}; {suggestion(name, known)}"


def _note() -> str:
    from sgpc_framework.testing.timelimit import can_limit

    return "" if can_limit() else " (without a limit in time, which this system does not have)"
