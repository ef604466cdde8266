"""Rows on the workers of a Dask cluster. It needs the extra ``dask``.

    driver                                            workers
    TrainingRows               rows/
      OnWorkers: a Placement   on_workers    call     WorkerStore: blocks and shards  worker_store
      WorkerPool: who is there worker_pool   ----->     by placement and number
      Layout: which has what   layout
      Partitions: where the    partitions    tasks    lay_blocks: rows into blocks    block_runs
      rows come from                         ----->

A fit knows nothing of this: what it asks of rows becomes one call a worker and a trip. Shards live
in stores, one for each worker. When a worker dies, others lay its blocks anew from the
partitions, and do again what changed its shards; so the model has the bits that it would have had.
"""

from __future__ import annotations

try:
    import cloudpickle  # noqa: F401
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        "rows in Dask collections need the extra dask: pip install 'sgpc-framework[dask]'"
    ) from error
