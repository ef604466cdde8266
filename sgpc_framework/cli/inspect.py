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

    file = inspect(model)
    echo(json.dumps(attrs.asdict(file), indent=2) if as_json else _text(file))


def _text(file: Inspection) -> str:
    from sgpc_framework.files.allowance import megabytes

    several = len(file.basis) > 1
    basis = f"{len(file.basis)} models of {_few(file.basis)}" if several else f"{file.basis[0]}"
    memory = megabytes(file.memory) + (", which wants --trust" if file.trust else "")
    lines = {
        "format": f"sgpc-model {file.version}, {file.size} bytes",
        "memory": f"about {memory}",
        "classes": _few(file.classes),
        "basis vectors": basis + (f", and sizes {_few(file.sizes)}" if file.sizes else ""),
        "features": "objects" if file.features is None else str(file.features),
        "decides": _decision(file),
        "target": file.target,
        "columns": _few(file.columns),
        "parts": _few(file.parts),
        "needs": _few(f"{name} {version}" for name, version in file.needs.items()),
    }
    width = max(map(len, lines))
    return "\n".join(f"{name:{width}}  {value}" for name, value in lines.items() if value)


def _decision(file: Inspection) -> str | None:
    if file.costs is None:
        return None
    import numpy as np

    from sgpc_framework.model.costs import Costs

    costs = Costs(np.array(file.costs))
    if costs.threshold is None:
        return "by costs (--json has them)"
    return f"{file.classes[1]} where its probability is above {costs.threshold:.4g}"


def _few(values: Iterable[object]) -> str:
    texts = [*map(str, values)]
    return ", ".join(texts[:SHOWN]) + (f", ... ({len(texts)})" if len(texts) > SHOWN else "")
