"""Rows on Dask's workers, which are real processes: the same bits, wherever the rows are."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import sgpc_framework as sgpc
from sgpc_framework.adapters.dask.collections import rows_of_collections
from sgpc_framework.adapters.dask.layout import Layout
from sgpc_framework.adapters.dask.on_workers import Spread
from sgpc_framework.adapters.dask.worker_pool import Traffic, WorkerPool
from sgpc_framework.model.classes import models_of
from sgpc_framework.plugin.registry import default_registry
from sgpc_framework.rows import training_rows
from sgpc_framework.rows.numbering import Listed
from sgpc_framework.rows.training_rows import TrainingRows
from sgpc_framework.tables import TableClassifier
from sgpc_framework.testing.checks import checks_for
from sgpc_framework.testing.situations import placed

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*[Ss]ending large graph"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:dask"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def client():
    """Two workers, for all tests here; one that was killed comes back by itself."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = np.where(X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.3 * rng.normal(size=900) > 0.0, "yes", "no")
    return X, y


def on_workers(X, y, rows=170):
    return da.from_array(X, chunks=(rows, 2)), da.from_array(y, chunks=300)


def assert_same_bits(a, b):
    assert a.classes.tolist() == b.classes.tolist()
    for one, other in zip(models_of(a).values(), models_of(b).values(), strict=True):
        assert one.state.theta == other.state.theta
        for name in ("basis", "inputs", "precision", "mean"):
            np.testing.assert_array_equal(getattr(one.state, name), getattr(other.state, name))
        losses = [[s.predictive_loss for s in each.trace.stages] for each in (one, other)]
        assert losses[0] == losses[1]
        assert [s.row for s in one.trace.stages] == [s.row for s in other.trace.stages]


def quick(preset="paper", **changes):
    return sgpc.build(preset, **{"max_basis": 6, "max_iterations": 2, "block_rows": 64, **changes})


DESIGNS = {
    "paper": {},
    "predictive-loss sites": {"sites": "predictive-loss", "max_iterations": 1},
    "entropy and float32": {"selector": "entropy", "storage": "float32"},
    "pool, on disk": {"selector": "pool", "storage": "disk", "max_iterations": 1},
    "marginal likelihood, ep": {"objective": "marginal-likelihood", "refiner": "ep"},
    "a size chosen": {"max_basis": "auto", "max_iterations": 1, "stage_rows": 300},
}


@pytest.mark.parametrize("name", DESIGNS)
def test_the_bits_are_those_of_one_process(client, data, name):
    design = quick(**DESIGNS[name])
    assert_same_bits(design.fit(*data), design.fit(*on_workers(*data)))


def test_the_corrective_refiner_runs_there(client, data):
    design = quick("accurate", max_basis=4)
    assert_same_bits(design.fit(*data), design.fit(*on_workers(*data)))


@pytest.mark.parametrize("workers", [1, 3])
def test_nor_do_they_depend_on_workers_and_partitions(client, data, workers, monkeypatch):
    """Three are two workers, one of which has two stores."""
    there = WorkerPool.present
    if workers == 1:
        monkeypatch.setattr(WorkerPool, "present", lambda self: dict([*there(self).items()][:1]))
    else:
        uneven = Layout.__init__

        def three(self, of, rows, workers, storage):
            extra = of._started(workers[0].address, 1)
            uneven(self, of, rows, [workers[0], extra, *workers[1:]], storage)

        monkeypatch.setattr(Layout, "__init__", three)
    design = quick()
    X, y = data
    assert_same_bits(design.fit(X, y), design.fit(*on_workers(X, y, rows=333 // workers)))


def test_many_classes_weights_and_rows_that_do_not_count(client, data):
    X, _ = data
    y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    for strategy in ("joint", "one-vs-rest"):
        design = quick(strategy=strategy, max_basis=3, max_iterations=1)
        here = design.fit(X, y, sample_weight=weight)
        there = design.fit(*on_workers(X, y), sample_weight=da.from_array(weight, chunks=100))
        assert_same_bits(here, there)


def test_objects_as_inputs(client):
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice([*"acgt"], 8)) for _ in range(120)], dtype=object)
    y = np.array(["aa" in word for word in words])
    design = quick(kernel=Letters(), block_rows=16, max_basis=4)
    there = design.fit(da.from_array(words, chunks=50), da.from_array(y, chunks=50))
    assert_same_bits(design.fit(words, y), there)


class Letters:
    """How many letters two words have in common, place by place."""

    name = "letters"

    def __call__(self, X, Z):
        return np.array([[sum(map(str.__eq__, x, z)) / 8.0 for z in Z] for x in X]).reshape(
            len(X), len(Z)
        )

    def diag(self, X):
        return np.ones(len(X))


def test_data_frames_are_tables(client, data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["colour"] = np.where(X[:, 2] > 0.3, "red", "blue")
    frame["day"] = np.datetime64("2026-01-01") + np.arange(900) % 500
    frame["label"] = y
    design = quick(max_basis=4)
    here = TableClassifier.fit(frame, "label", design)
    frames = dd.from_pandas(frame, npartitions=7)
    there = TableClassifier.fit(frames, "label", design)
    assert there.encoding == here.encoding
    assert_same_bits(here.model, there.model)
    proba = there.predict_proba(frames)
    assert isinstance(proba, da.Array)
    np.testing.assert_allclose(proba.compute(), here.predict_proba(frame), rtol=1e-12)
    np.testing.assert_array_equal(there.predict(frames).compute(), here.predict(frame))
    lazy = here.model.predict_log_proba(da.from_array(here.encode(frame), chunks=(200, 2)))
    assert lazy.shape == (900, 2)
    np.testing.assert_allclose(lazy.compute(), here.predict_log_proba(frame), rtol=1e-12)
    plain = design.fit(X, y)
    assert_same_bits(plain, design.fit(frames[["a", "b", "c"]], frames["label"]))


def test_a_bad_value_is_told_by_partition_row_and_column(client, data):
    X, y = data
    bad = X.copy()
    bad[517, 2] = np.nan
    with pytest.raises(sgpc.InputError, match=r"partition 3.*row 510 of all.*row 7, column 2"):
        quick().fit(*on_workers(bad, y))
    frame = dd.from_pandas(pd.DataFrame({"a": bad[:, 2], "label": y}), npartitions=3)
    with pytest.raises(
        sgpc.InputError, match=r"partition 1.*row 300 of all.*row 218, column 'a'"
    ) as told:
        TableClassifier.fit(frame, "label", quick())
    assert "dropna" in str(told.value)
    assert "impute" not in str(told.value)  # which is not for rows on workers


def test_many_rows_are_taken_out_without_coming_here(client, data, monkeypatch):
    monkeypatch.setattr(training_rows, "GATHERED", 100)
    X, y = data
    codes = (y == "yes").astype(float)
    config = quick().config
    there, _ = rows_of_collections(*on_workers(X, y), None, config)
    here = TrainingRows.of(X, codes, 64)
    chosen = Listed(np.arange(3, 900, 5))
    a, b = here.where(chosen), there.where(chosen)
    np.testing.assert_array_equal(a.rows.starts, b.rows.starts)
    some = np.arange(len(a.rows))
    np.testing.assert_array_equal(a.rows.inputs(some), b.rows.inputs(some))
    np.testing.assert_array_equal(a.numbers[some], b.numbers[some])
    np.testing.assert_array_equal(a.numbers[some], chosen.numbers)
    some = np.arange(0, 900, 2)
    np.testing.assert_array_equal(there.subset(some).labels(np.arange(450)), codes[some])


def test_nothing_with_an_entry_a_row_comes_to_the_driver(client, monkeypatch):
    pools = []
    begin = WorkerPool.__init__
    monkeypatch.setattr(
        WorkerPool, "__init__", lambda self, *a: (begin(self, *a), pools.append(self))[0]
    )
    rows = 60_000
    X = da.random.default_rng(0).normal(size=(rows, 2), chunks=(20_000, 2))
    y = (X[:, 0] > 0.0).astype(int)
    monkeypatch.setattr("sgpc_framework.engine.algorithm1.SAMPLE", 1000)
    model = quick("paper", block_rows=2048, max_iterations=1).fit(X, y)
    traffic: Traffic = pools[0].traffic
    assert len(model) == 6
    assert traffic.largest < rows
    assert traffic.trips < 80


def test_a_function_that_cannot_be_sent_is_the_plugins_fault(client, data):
    import attrs

    @attrs.frozen
    class Locked:
        name = "locked"

        def propose(self, posterior, rng):
            lock = threading.Lock()
            return posterior.argmin(lambda rows: rows.mean if lock else rows.variance)

    with pytest.raises(sgpc.PluginError, match="cannot be sent to the workers"):
        quick(selector=Locked()).fit(*on_workers(*data))


def test_what_a_function_raises_there_is_the_plugins_fault_too(client, data):
    import attrs

    @attrs.frozen
    class Wrong:
        name = "wrong"

        def propose(self, posterior, rng):
            return posterior.argmin(lambda rows: rows.mean[:1] / 0)

    with pytest.raises(sgpc.PluginError, match=r"'wrong'.*one number for each of 64 rows"):
        quick(selector=Wrong()).fit(*on_workers(*data))


def test_scikit_learn_keeps_to_arrays(client, data):
    with pytest.raises(sgpc.InputError, match="SGPClassifier takes arrays"):
        sgpc.SGPClassifier().fit(*on_workers(*data))


def test_without_workers_there_is_advice(data, monkeypatch):
    monkeypatch.setattr(
        "sgpc_framework.adapters.dask.collections.default_client",
        lambda: (_ for _ in ()).throw(ValueError("none")),
    )
    with pytest.raises(sgpc.ClusterError, match="make one first"):
        quick().fit(*on_workers(*data))


def test_a_worker_that_dies_costs_time_and_nothing_else(client, data):
    design = quick(max_basis=12, max_iterations=2)
    here = design.fit(*data)
    pids = list(client.run(os.getpid).values())
    stages = []

    def kill_at_a_stage(progress):
        stages.append(progress.basis)
        if len(stages) == 8:
            os.kill(pids[0], signal.SIGKILL)

    X, y = on_workers(*data)
    assert_same_bits(here, design.fit(X, y, progress=kill_at_a_stage))
    assert len(stages) >= 12
    end = time.monotonic() + 60
    while len(client.scheduler_info(n_workers=-1)["workers"]) < 2 and time.monotonic() < end:
        time.sleep(0.1)


def test_a_fit_that_was_stopped_there_goes_on_here_and_the_other_way(client, data, tmp_path):
    design, there = quick(), on_workers(*data)

    def stop_at_the_fourth(progress):
        if progress.basis == 4:
            raise sgpc.StopFitting

    unbroken = design.fit(*data)
    for number, (begun, resumed) in enumerate(((there, data), (data, there))):
        log = tmp_path / f"{number}.log"
        assert len(design.fit(*begun, checkpoint=log, progress=stop_at_the_fourth)) == 4
        assert_same_bits(unbroken, design.fit(*resumed, checkpoint=log))


def test_the_command_line_reads_and_writes_parquet(client, data, tmp_path):
    from click.testing import CliRunner

    from sgpc_framework.cli import main

    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["colour"] = np.where(X[:, 2] > 0.3, "red", "blue")
    frame["label"] = y
    frame.to_parquet(tmp_path / "whole.parquet")
    for number, start in enumerate((0, 500)):
        part = frame.iloc[start : start + 500 - 100 * number]
        part.to_parquet(tmp_path / f"rows-{number}.parquet", row_group_size=200)
    address = client.scheduler.address
    common = ["--target", "label", "--config", "fast", "--max-basis", "4"]
    run = CliRunner()
    for files, more in (("whole.parquet", []), ("rows-*.parquet", ["--dask", address])):
        output = str(tmp_path / f"{files[:4]}.sgpc")
        done = run.invoke(main, ["fit", str(tmp_path / files), *common, "-o", output, *more])
        assert done.exit_code == 0, done.output
        assert "900 rows, 4 columns (5 features)" in done.output
    here, there = sgpc.load(tmp_path / "whol.sgpc"), sgpc.load(tmp_path / "rows.sgpc")
    assert here.encoding == there.encoding
    assert_same_bits(here.model, there.model)
    for files, more in (("none-*.parquet", ["--dask", address]), ("rows-*.parquet", [])):
        done = run.invoke(main, ["fit", str(tmp_path / files), *common, "-o", output, *more])
        assert done.exit_code != 0
        assert "there is no file" in done.output
        assert ("--dask" in done.output) == (not more)
    arguments = ["predict", str(tmp_path / "rows.sgpc"), str(tmp_path / "rows-*.parquet")]
    folder = tmp_path / "predicted"
    done = run.invoke(main, [*arguments, "-o", str(folder), "--keep", "a", "--dask", address])
    assert done.exit_code == 0, done.output
    predicted = dd.read_parquet(str(folder)).compute()
    assert len(list(folder.glob("*.parquet"))) == 2
    assert predicted["predicted"].tolist() == here.predict(frame).tolist()
    assert predicted["a"].tolist() == frame["a"].tolist()


@pytest.mark.parametrize(
    ("kind", "name", "law"),
    [
        ("selector", "adaptive-sampling", "proposes inactive rows only"),
        ("sites", "moment-matching", "never increases a variance"),
        ("objective", "nlp", "gradient agrees with differences"),
        ("refiner", "prune", "never worse than its start"),
    ],
)
def test_the_conformance_kit_runs_there(client, kind, name, law):
    """A selection; ``python -m benchmarks.kit_on_dask`` runs all of it."""
    part = default_registry().get(kind, name)
    checks = {check.name: check for check in checks_for(part, kind=kind, seconds=120)}
    with placed(Spread(WorkerPool(client))):
        checks[f"{kind}: {law}"]()


class Processes:
    """A scheduler and workers in processes of their own, and a client of them."""

    def __init__(self, folder, workers):
        self._file = folder / "scheduler.json"
        self._workers = workers

    def __enter__(self):
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0"]
        command += ["--dashboard-address", ":0", "--scheduler-file", str(self._file)]
        work = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny"]
        work += ["--nthreads", "1", "--no-dashboard", "--scheduler-file", str(self._file)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.scheduler = subprocess.Popen(command, **quiet)
        self._others = [subprocess.Popen(work, **quiet) for _ in range(self._workers)]
        while not self._file.exists():
            time.sleep(0.05)
        self.client = Client(scheduler_file=str(self._file), timeout=60)
        self.client.wait_for_workers(self._workers, timeout=60)
        return self

    def __exit__(self, *_):
        self.client.close(timeout=1)
        for process in (self.scheduler, *self._others):
            process.kill()
            process.wait()


def test_a_scheduler_that_dies_is_an_error_and_a_checkpoint(data, tmp_path, monkeypatch):
    """kill -9 in the middle of a fit: no hang, and what was done is not lost."""
    monkeypatch.setattr("sgpc_framework.adapters.dask.cluster.ARRIVAL", 3.0)
    design, log = quick(max_basis=8), tmp_path / "fit.log"
    design.fit(*data).save(tmp_path / "unbroken.sgpc")
    told = []

    def kill_at_a_stage(progress):
        told.append(progress.basis)
        if len(told) == 11:
            processes.scheduler.kill()
            processes.scheduler.wait()

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
        Processes(tmp_path, workers=2) as processes,
        processes.client.as_current(),
        pytest.raises(sgpc.ClusterError, match=r"scheduler does not answer.*same checkpoint"),
    ):
        design.fit(*on_workers(*data), progress=kill_at_a_stage, checkpoint=log)
    kept = log.stat().st_size
    assert len(told) < 16  # it has not ended
    design.fit(*data, checkpoint=log).save(tmp_path / "resumed.sgpc")
    assert log.stat().st_size > kept
    files = [(tmp_path / f"{name}.sgpc").read_bytes() for name in ("unbroken", "resumed")]
    assert files[0] == files[1]


def test_a_fit_is_resumed_with_another_scheduler(client, data, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from sgpc_framework.cli import main

    monkeypatch.setattr("sgpc_framework.cli.dask_options.CONNECTING", "1s")
    X, y = data
    pd.DataFrame(X).assign(label=y).set_axis([*"abc", "label"], axis=1).to_parquet(
        tmp_path / "rows.parquet"
    )
    run, log, model = CliRunner(), str(tmp_path / "fit.log"), tmp_path / "model.sgpc"
    command = ["fit", str(tmp_path / "rows.parquet"), "--target", "label", "--config", "fast"]
    command += ["--max-basis", "3", "--checkpoint", log, "-o", str(model)]
    done = run.invoke(main, [*command, "--dask", client.scheduler.address])
    assert done.exit_code == 0, done.output
    first = model.read_bytes()
    model.unlink()
    nowhere = run.invoke(main, ["resume", log, "--dask", "tcp://127.0.0.1:1"])
    assert "no scheduler answers at 'tcp://127.0.0.1:1'" in nowhere.output
    again = run.invoke(main, ["resume", log, "--dask", client.scheduler.address])
    assert again.exit_code == 0, again.output
    assert model.read_bytes() == first


def test_costs_reach_a_model_that_was_fitted_there(client, data, tmp_path):
    from click.testing import CliRunner

    from sgpc_framework.cli import main

    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    cheap, dear = tmp_path / "cheap.sgpc", tmp_path / "dear.sgpc"
    command = ["fit", str(tmp_path / "rows.parquet"), "--target", "label", "--config", "fast"]
    command += ["--max-basis", "3", "--dask", client.scheduler.address, "--json"]
    run = CliRunner()
    plain = run.invoke(main, [*command, "-o", str(cheap)])
    costly = run.invoke(main, [*command, "-o", str(dear), "--cost", "yes=50"])
    assert (plain.exit_code, costly.exit_code) == (0, 0), plain.output + costly.output
    missed = [(y == "yes") & (sgpc.load(each).predict(frame) == "no") for each in (cheap, dear)]
    assert missed[0].any()
    assert not missed[1].any()
    wrong = np.mean(sgpc.load(dear).predict(frame) != y)
    assert json.loads(costly.stdout)["training_error"] == pytest.approx(wrong)
    strange = run.invoke(main, [*command, "-o", str(dear), "--cost", "maybe=5"])
    assert strange.exit_code != 0
    assert "sgpc decide" in strange.output
    with pytest.raises(sgpc.InputError, match="maybe"):
        TableClassifier.fit(
            dd.from_pandas(frame, npartitions=2),
            "label",
            quick(),
            costs={"maybe": 5.0},
            progress=lambda _: pytest.fail("it was fitted"),
        )
