"""``sgpc inspect``: what a model file holds and needs, without building the model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import echo

if TYPE_CHECKING:
    from sgpc_framework.files.inspection import Inspection

SHOWN = 8
"""So many classes, columns and the like are printed; ``--json`` has all of them."""


@click.command(name="inspect")
@click.argument("model", type=click.Path(path_type=Path))
@json_option
def command(model: Path, as_json: bool) -> None:
    """Say what a MODEL file holds and needs, without building it.

    No plugin is imported and nothing is computed, so that files of strangers can be looked at
    before they are used.
    """
    from sgpc_framework.files.inspection import inspect

    found = inspect(model)
    echo(json.dumps(attrs.asdict(found), indent=2) if as_json else _text(found))


def _text(found: Inspection) -> str:
    from sgpc_framework.files.allowance import megabytes

    several = len(found.basis) > 1
    basis = f"{len(found.basis)} models of {_few(found.basis)}" if several else f"{found.basis[0]}"
    memory = megabytes(found.memory) + (", which wants --trust" if found.trust else "")
    lines = {
        "format": f"sgpc-model {found.version}, {found.size} bytes",
        "memory": f"about {memory}",
        "classes": _few(found.classes),
        "basis vectors": basis + (f", and sizes {_few(found.sizes)}" if found.sizes else ""),
        "features": "objects" if found.features is None else str(found.features),
        "decides": _decision(found),
        "target": found.target,
        "columns": _few(found.columns),
        "parts": _few(found.parts),
        "needs": _few(f"{name} {version}" for name, version in found.needs.items()),
    }
    width = max(map(len, lines))
    return "\n".join(f"{name:{width}}  {value}" for name, value in lines.items() if value)


def _decision(found: Inspection) -> str | None:
    if found.costs is None:
        return None
    import numpy as np

    from sgpc_framework.model.costs import Costs

    costs = Costs(np.array(found.costs))
    if costs.threshold is None:
        return "by costs (--json has them)"
    return f"{found.classes[1]} where its probability is above {costs.threshold:.4g}"


def _few(values: Iterable[object]) -> str:
    texts = [*map(str, values)]
    return ", ".join(texts[:SHOWN]) + (f", ... ({len(texts)})" if len(texts) > SHOWN else "")
