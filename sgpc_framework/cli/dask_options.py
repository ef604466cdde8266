"""``--dask``: tables whose rows stay on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any

import click

dask_option = click.option(
    "--dask",
    "cluster",
    metavar="ADDRESS",
    help="Read DATA, Parquet files (such as 'rows-*.parquet'), on the workers of a Dask cluster "
    "and leave the rows there: tcp://host:8786, or 'local' for workers on this machine.",
)

CONNECTING = "10s"


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the cluster at that address, or of workers that are started for the purpose."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise click.ClickException(
            "--dask needs the extra dask: pip install 'sgpc-framework[dask]'"
        ) from error
    if address == "local":
        with (
            LocalCluster(threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster, direct_to_workers=True) as client,
        ):
            yield client
        return
    try:
        client = Client(address, timeout=CONNECTING)
    except (OSError, TimeoutError, ValueError) as error:
        raise click.ClickException(
            f"no scheduler answers at {address!r} ({error}); wanted an address such as "
            "tcp://host:8786, or 'local'"
        ) from error
    with client:
        yield client


def read_frames(data: Path, format_: str | None) -> Any:
    """A Dask data frame of Parquet files, a row group or more a partition."""
    import dask.dataframe as dd

    from sgpc_framework.errors import InputError

    if format_ not in (None, "parquet") or not data.name.endswith((".parquet", ".pq")):
        raise InputError(
            f"{data}: with --dask, DATA are Parquet files, whose names end in .parquet or .pq"
        )
    if not glob(str(data)):
        raise InputError(f"there is no file {str(data)!r} that this machine can see")
    try:
        return dd.read_parquet(str(data), split_row_groups="adaptive")
    except (OSError, ValueError, IndexError) as error:
        raise InputError(f"{data}: cannot be read as Parquet: {error}") from error
