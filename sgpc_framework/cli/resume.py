"""``sgpc resume``: go on with a fit that died, or was stopped."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from sgpc_framework.cli.fit import fit_as_asked
from sgpc_framework.cli.fit_request import FitRequest
from sgpc_framework.cli.option_groups import json_option
from sgpc_framework.cli.printing import OutputPath


@click.command(name="resume")
@click.argument("log", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="MODEL",
    help="The model file, if it is to be another than that of the fit.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DATA",
    help="The table, if it has been moved since. It must hold what it held.",
)
@click.option(
    "--dask",
    "cluster",
    metavar="ADDRESS",
    help="The scheduler, if the fit was begun with --dask and its scheduler is another now: "
    "tcp://host:8786, or 'local' for workers on this machine.",
)
@json_option
def command(
    log: Path, output: Path | None, data: Path | None, cluster: str | None, as_json: bool
) -> None:
    """Go on with the fit whose checkpoint is LOG, where it was when it died or was stopped.

    LOG knows the table, the configuration and the model file. The model is the one that the fit
    would have ended with, to the bit. A table or a version that is another is refused.

    \b
    sgpc fit train.csv --target species -o species.sgpc --checkpoint fit.log
    sgpc resume fit.log
    """
    from sgpc_framework.config.config import Config
    from sgpc_framework.files.checkpoints import read_request

    asked, config = read_request(log)
    request = FitRequest.from_plain(asked, log)
    if cluster is not None and request.cluster is None:
        raise click.UsageError("--dask is for a fit that was begun with --dask, and this was not")
    request = attrs.evolve(
        request,
        output=output or request.output,
        data=data or request.data,
        cluster=cluster or request.cluster,
    )
    fit_as_asked(request, Config.from_mapping(config), log, as_json)
