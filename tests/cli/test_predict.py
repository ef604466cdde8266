"""``sgpc predict``: what it reads and writes, rows that are no good, and files without end."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import sgpc_framework as sgpc_package
from sgpc_framework.tables import TableClassifier, read_table, table_pieces

HEADING = "predicted,probability_no,probability_yes"


def shop(rows, seed=0):
    rng = np.random.default_rng(seed)
    age, city = rng.integers(18, 80, rows), rng.choice(["Oslo", "Rome"], rows)
    return {"id": np.arange(rows) + 500, "age": age, "city": city, "bought": age > 45}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("shop") / "shop.sgpc"
    data = shop(60)
    data["bought"] = np.where(data["bought"], "yes", "no")
    design = sgpc_package.build("paper", max_basis=4, max_iterations=1)
    TableClassifier.fit(data, "bought", design, drop=["id"]).save(path)
    return path


@pytest.fixture
def new(tmp_path):
    path = tmp_path / "new.csv"
    data = shop(9, seed=1)
    rows = zip(data["id"], data["age"], data["city"], strict=True)
    path.write_text("id,age,city\n" + "".join(f"{i},{a},{c}\n" for i, a, c in rows))
    return path


BAD = "id,age,city\n1,20,Oslo\n2,,Rome\n3,abc,Rome\n4,50,Paris\n5,60,Rome,more\n6,inf,\n7,70,Rome\n"


def test_a_name_that_says_parquet_is_parquet(sgpc, model, new, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "out.parquet"
    result = sgpc("predict", model, new, "--keep", "id", "-o", out)
    assert result.exit_code == 0, result.output
    table = parquet.read_table(out)
    assert table.column_names == ["id", *HEADING.split(",")]
    classifier = sgpc_package.load(model)
    expected = classifier.predict_proba(read_table(new))
    assert np.array_equal(table["probability_yes"].to_numpy(), expected[:, 1])
    assert table["predicted"].to_pylist() == classifier.predict(read_table(new)).tolist()


def test_whole_numbers_of_parquet_stay_whole(sgpc, model, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    data = shop(5)
    columns = {"id": data["id"], "age": data["age"] * 1.0, "city": data["city"].tolist()}
    parquet.write_table(pyarrow.table(columns), tmp_path / "in.parquet")
    out = tmp_path / "out.pq"
    assert sgpc("predict", model, tmp_path / "in.parquet", "--keep", "id", "-o", out).exit_code == 0
    assert parquet.read_table(out)["id"].to_pylist() == data["id"].tolist()


def test_packed_text_and_names_that_promise_something_else(sgpc, model, new, tmp_path):
    out = tmp_path / "out.csv.gz"
    assert sgpc("predict", model, new, "-o", out).exit_code == 0
    assert gzip.decompress(out.read_bytes()).decode() == sgpc("predict", model, new).stdout
    result = sgpc("predict", model, new, "-o", tmp_path / "out.npz")
    assert "predictions are written as CSV or Parquet" in result.stderr
    assert not (tmp_path / "out.npz").exists()


def run(*arguments, given=b"", check=True):
    command = [sys.executable, "-m", "sgpc_framework", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, input=given, capture_output=True, check=check, env=environment)


def test_standard_input_and_output(sgpc, model, new):
    expected = sgpc("predict", model, new, "--keep", "id").stdout
    ran = run("predict", model, "-", "--keep", "id", "-o", "-", given=new.read_bytes())
    assert ran.stdout.decode() == expected
    ran = run("predict", model, "-", given=b"age,city\n1,Paris\n", check=False)
    assert ran.returncode == 1
    assert b"standard input: row 1 (line 2), column 'city'" in ran.stderr


def test_bad_rows_are_left_out_and_kept_with_their_reasons(sgpc, model, tmp_path):
    data, rejected = tmp_path / "bad.csv", tmp_path / "rejected.csv"
    data.write_text(BAD)
    result = sgpc(
        "predict", model, data, "--keep", "id", "--on-bad-row", "skip", "--rejected", rejected
    )
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["id"] for row in rows] == ["1", "7"]
    assert f"5 of 7 rows were left out: see {rejected}" in result.stderr
    refused = list(csv.DictReader(io.StringIO(rejected.read_text())))
    assert [(row["row"], row["line"], row["id"]) for row in refused] == [
        (str(i), str(i + 1), str(i)) for i in (2, 3, 4, 5, 6)
    ]
    reasons = [row["reason"] for row in refused]
    assert reasons[0] == "column 'age': the value is missing"
    assert reasons[1] == "column 'age': wanted a number, as in training, found 'abc'"
    assert reasons[2].endswith("words seen in training, found 'Paris'")
    assert reasons[3] == "wanted 3 fields, as in the first row, found 4"
    assert reasons[4].count(";") == 1, "two columns, two reasons"
    good = tmp_path / "good.csv"
    good.write_text("id,age,city\n1,20,Oslo\n7,70,Rome\n")
    assert sgpc("predict", model, good, "--keep", "id").stdout == result.stdout


def test_bad_rows_end_it_unless_they_may_be_left_out(sgpc, model, tmp_path):
    data = tmp_path / "bad.csv"
    data.write_text(BAD.replace(",more", ""))
    out = tmp_path / "out.csv"
    result = sgpc("predict", model, data, "-o", out)
    assert result.exit_code == 1
    assert not out.exists()
    result = sgpc("predict", model, data, "--on-bad-row", "skip")
    assert "4 of 7 rows were left out\n  row 2: column 'age'" in result.stderr
    result = sgpc("predict", model, data, "--rejected", out)
    assert result.exit_code == 2


def test_a_file_without_a_good_row_has_a_heading(sgpc, model, tmp_path):
    data = tmp_path / "bad.csv"
    data.write_text("age,city\n,Rome\n")
    assert sgpc("predict", model, data, "--on-bad-row", "skip").stdout == HEADING + "\n"
    result = sgpc("predict", model, data, "--on-bad-row", "skip", "--json")
    assert json.loads(result.stdout) == []


def test_pieces_are_the_whole(sgpc, model, new, monkeypatch):
    whole = sgpc("predict", model, new, "--keep", "id").stdout
    assert len(json.loads(sgpc("predict", model, new, "--json").stdout)) == 9
    monkeypatch.setattr(table_pieces, "PIECE_CELLS", 6)  # two rows
    assert len(list(table_pieces.read_pieces(new))) == 5
    ours = list(csv.DictReader(io.StringIO(sgpc("predict", model, new, "--keep", "id").stdout)))
    theirs = list(csv.DictReader(io.StringIO(whole)))
    for one, other in zip(ours, theirs, strict=True):
        assert (one["id"], one["predicted"]) == (other["id"], other["predicted"])
        assert float(one["probability_yes"]) == pytest.approx(float(other["probability_yes"]))


def test_rows_keep_their_numbers_in_later_pieces(model, tmp_path, sgpc, monkeypatch):
    monkeypatch.setattr(table_pieces, "PIECE_CELLS", 4)
    data = tmp_path / "late.csv"
    data.write_text("age;city\n1,5;Oslo\n2,5;Oslo\n3,5;Rome\nx;Rome\n4,5;Rome\n")
    result = sgpc("predict", model, data, "-o", tmp_path / "out.csv")
    assert "row 4 (line 5), column 'age': wanted a number" in result.stderr
    result = sgpc("predict", model, data, "--on-bad-row", "skip")
    assert len(result.stdout.splitlines()) == 5


SCRIPT = """
import resource, sys
from sgpc_framework.__main__ import main
try:
    main()
except SystemExit:
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def test_memory_does_not_grow_with_the_file(model, tmp_path):
    peaks = []
    for pieces in (1, 8):
        data = tmp_path / "large.csv"
        with data.open("w") as file:
            file.write("age,city\n")
            for _ in range(pieces):
                file.write("41,Oslo\n" * 20_000)
        command = [sys.executable, "-c", SCRIPT, "predict", model, data, "-o", tmp_path / "o.csv"]
        ran = subprocess.run(command, capture_output=True, check=True)
        peaks.append(int(ran.stderr.split()[-1]))
    assert (tmp_path / "o.csv").read_text().count("\n") == 160_001
    assert peaks[1] < peaks[0] + 20_000, "kilobytes; the file alone would be as large as text"
