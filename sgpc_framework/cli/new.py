"""``sgpc new``: from an idea to a package that installs and whose tests pass."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree

import click

from sgpc_framework.cli.printing import echo
from sgpc_framework.cli.scaffold import Package
from sgpc_framework.plugin.kinds import KINDS
from sgpc_framework.plugin.registry import default_registry

_WELL_FORMED = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@click.command(name="new")
@click.argument("kind", type=click.Choice(list(KINDS)))
@click.argument("name")
@click.option(
    "--directory",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    help="Where to put the folder of the package; here if not given.",
)
def command(kind: str, name: str, directory: Path) -> None:
    """Write the package sgpc-NAME with a part NAME of a KIND: a working example to replace.

    The package has its entry point, a test that runs the conformance kit, and a README. It can be
    installed as it is, and its tests pass.
    """
    package = Package(KINDS[kind], name)
    _check_name(package)
    folder = directory / package.distribution
    try:
        folder.mkdir()
    except FileExistsError:
        raise click.UsageError(
            f"{folder} exists already and nothing is overwritten: choose another name or another "
            "--directory"
        ) from None
    except OSError as error:
        raise click.ClickException(f"{folder}: cannot be made: {error.strerror}") from error
    try:
        for path, text in package.contents().items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    except OSError as error:
        rmtree(folder, ignore_errors=True)  # half a package is of no use, and ours to delete
        raise click.ClickException(
            f"{folder / path}: cannot be written: {error.strerror}"
        ) from error
    for path in package.contents():
        echo(f"wrote {folder / path}")
    echo(
        f"\nNext:\n"
        f"  cd {folder}\n"
        f"  pip install -e '.[testing]'\n"
        f"  python -m pytest\n"
        f"  sgpc describe {name} --kind {kind}\n"
        f"and replace the example in src/{package.module}/{kind}.py by your own."
    )


def _check_name(package: Package) -> None:
    """Refuse a name that no part may have, or that would stand in somebody's way."""
    name, kind = package.name, package.kind
    if not _WELL_FORMED.fullmatch(name):
        raise click.UsageError(
            f"wanted a name of lower-case letters, digits and hyphens that begins with a letter, "
            f'such as "matern-32", found {name!r}'
        )
    rivals = [p for p in default_registry().parts() if (p.kind, p.name) == (kind.name, name)]
    if rivals:
        raise click.UsageError(
            f"{kind.noun} {name!r} exists already, provided by {rivals[0].origin}: "
            "choose another name"
        )
    if find_spec(package.module) is not None:
        raise click.UsageError(
            f"a package {package.module} is installed already, and {package.distribution} would "
            "replace it: choose another name"
        )
