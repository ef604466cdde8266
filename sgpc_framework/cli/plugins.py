"""``sgpc plugins``: every part there is, who provides it, and what is wrong with the rest."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import click

from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import echo, print_json, print_table
from sgpc_framework.plugin.records import Origin, Part
from sgpc_framework.plugin.registry import Registry, default_registry


@attrs.frozen
class Line:
    """One line of the listing: a part, or an entry point that gives none."""

    status: str
    origin: Origin
    kind: str | None = None
    name: str | None = None
    reason: str | None = None

    def as_mapping(self) -> dict[str, str | None]:
        """The line as plain data, flat."""
        return {
            "kind": self.kind,
            "name": self.name,
            **attrs.asdict(self.origin),
            "status": self.status,
            "reason": self.reason,
        }


@click.command(name="plugins")
@click.option(
    "--times",
    is_flag=True,
    help="Say instead what the import of each entry point cost, in seconds.",
)
@json_option
def command(times: bool, as_json: bool) -> None:
    """List every part with its provider, and every plugin that could not be loaded.

    \b
    The status of a part or of an entry point:
      ok           ready to be used
      collision    another distribution provides this name, too: say DISTRIBUTION:NAME
      quarantined  the plugin failed; none of its parts can be used
      left out     SGPC_LOAD_PLUGINS does not name the distribution
    """
    if times:
        _print_times(default_registry(), as_json)
        return
    lines = list(listing(default_registry()))
    if as_json:
        print_json([line.as_mapping() for line in lines])
    else:
        _print(lines)


def listing(registry: Registry) -> Iterator[Line]:
    """The parts by kind and name, then the entry points that give none."""
    parts = registry.parts()
    for part in parts:
        rivals = [p for p in parts if (p.kind, p.name) == (part.kind, part.name) and p is not part]
        yield _line_of_part(part, rivals, registry)
    for absence in (*registry.quarantined(), *registry.left_out()):
        yield Line(absence.status, absence.origin, reason=absence.reason)


def _print_times(registry: Registry, as_json: bool) -> None:
    imports = sorted(registry.imports(), key=lambda each: -each.seconds)
    if as_json:
        print_json([{**attrs.asdict(each.origin), "seconds": each.seconds} for each in imports])
        return
    rows = (
        [each.distribution, each.version, each.entry_point, f"{each.seconds:.3f}"]
        for each in imports
    )
    print_table(["distribution", "version", "entry point", "seconds"], rows, left=3)


def _line_of_part(part: Part, rivals: list[Part], registry: Registry) -> Line:
    if not rivals or part.name == registry.name_of(part.cls):
        return Line("ok", part.origin, part.kind, part.name)
    others = " and by ".join(str(rival.origin) for rival in rivals)
    reason = f"the name is also provided by {others}: say {part.full_name!r} to use this one"
    return Line("collision", part.origin, part.kind, part.name, reason)


def _print(lines: list[Line]) -> None:
    print_table(["kind", "name", "distribution", "version", "status"], map(_cells, lines), left=5)
    for line in lines:
        if line.reason is not None:  # below the table, where there is room to say everything
            part = f"{line.kind} {line.name!r} of " if line.kind else ""
            echo(f"\n{line.status}: {part}{line.origin}\n  {line.reason}")


def _cells(line: Line) -> list[str]:
    origin = line.origin
    name = line.name or f"(entry point {origin.entry_point!r})"
    return [line.kind or "-", name, origin.distribution, origin.version, line.status]
