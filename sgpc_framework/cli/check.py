"""``sgpc check NAME``: the conformance checks of an installed part, or of a class in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import attrs
import click

from sgpc_framework.cli.config_options import set_entry
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import console, echo, print_json
from sgpc_framework.errors import ConfigError, PluginError, suggestion
from sgpc_framework.plugin.admission import kind_of
from sgpc_framework.plugin.kinds import KINDS, KindName
from sgpc_framework.plugin.records import HERE, Absence, Origin, Part
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
@click.argument("name", metavar="NAME|FILE.py[:CLASS]")
@click.option("--kind", type=click.Choice(get_args(KindName)), help="Only the part of this kind.")
@click.option(
    "--set",
    "options",
    multiple=True,
    metavar="OPTION=VALUE",
    help="Check the part with this option: working_set=5. May be given more than once.",
)
@click.option(
    "--thorough",
    is_flag=True,
    help="Besides, whole fits: hundreds of rows, 60 stages, wide ranges, two processes with other "
    "hash seeds and clocks, and what they leave behind.",
)
@json_option
def command(
    name: str, kind: KindName | None, options: tuple[str, ...], thorough: bool, as_json: bool
) -> None:
    """Run the conformance checks of the part NAME, or of all parts of the distribution NAME.

    A class that is in no package yet is named by its file: path/to/file.py:Class, or by the file
    alone, if it has one part.

    The exit code is 0 if all of them pass, 1 if one fails or the plugin could not be loaded, and 2
    if nothing has that name.
    """
    registry = default_registry()
    if name.endswith(".py") or ".py:" in name:
        parts, broken = [_part_of_file(name, kind)], []
        registry = registry.extended(parts[0].cls)
    else:
        parts = [p for p in registry.parts() if p.is_called(name) or p.distribution == name]
        parts = [p for p in parts if kind in (None, p.kind)]
        broken = [a for a in registry.quarantined() if name in (a.distribution, a.entry_point)]
    if not parts and not broken:
        raise click.UsageError(_unknown(name, kind, registry))
    show = (lambda line: None) if as_json else _print_line
    lines = []
    for line in (
        *map(_quarantine_line, broken),
        *_check_parts(name, parts, options, thorough, registry),
    ):
        show(line)
        lines.append(line)
    failed = sum(not line.ok for line in lines)
    if as_json:
        print_json(lines)
    else:
        echo(f"{len(lines) - failed} passed, {failed} failed{_note()}")
    raise SystemExit(1 if failed else 0)


def _check_parts(
    name: str, parts: list[Part], options: Sequence[str], thorough: bool, registry: Registry
) -> Iterator[Line]:
    from sgpc_framework.testing import run_checks

    for part in parts:
        title, provider = part.name, str(part.origin)
        try:
            registry.part(part.kind, part.full_name if ":" in name else part.name)
        except PluginError as error:  # the name is taken twice
            yield Line(title, provider, f"{part.kind}: only one of its name", False, str(error))
            continue
        checked = _with_options(part, options, registry) if options else part.cls
        for level in ("quick", "thorough") if thorough else ("quick",):
            for result in run_checks(checked, registry, kind=part.kind, level=level):
                yield Line(title, provider, result.name, result.ok, result.problem, result.seconds)


def _with_options(part: Part, options: Sequence[str], registry: Registry) -> Any:
    """The part that a configuration with these options would have."""
    from sgpc_framework.config.structure import structured

    said: dict[str, Any] = {"name": part.full_name}
    for option in options:
        set_entry(said, option)
    return structured(said, KINDS[part.kind].protocol, registry)


def _part_of_file(name: str, kind: KindName | None) -> Part:
    """``path/to/file.py:Class``: a class of a module that need not be installed."""
    from sgpc_framework.lab.part_files import PartFile

    file, _, wanted = name.removesuffix(":").rpartition(".py")
    held = PartFile(Path(f"{file}.py"), wanted.removeprefix(":") or None)
    try:
        cls = held.cls
    except ConfigError as error:
        raise click.UsageError(error.problems[0]) from error
    chosen: KindName = kind_of(cls).name if kind is None else kind
    origin = Origin(HERE.distribution, HERE.version, str(held.path))
    return Part(chosen, str(getattr(cls, "name", cls.__qualname__)), cls, origin)


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
