# SPDX-License-Identifier: Apache-2.0
"""Spark says of a fleet what DuckDB says, row by row; and makes its summaries, with executors that die and traces that
are none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "generator")]

import pyarrow.parquet  # noqa: E402

import engine_agreement as agreement  # noqa: E402
import faults  # noqa: E402
import made_fleet  # noqa: E402
import object_store  # noqa: E402
import real_runs  # noqa: E402
import settings  # noqa: E402
import spark_faults  # noqa: E402
import spark_runs  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(spark_runs.missing()), reason=spark_runs.missing() or "-")]
PERIODS = ("--before", "2026-10-26..2026-11-08", "--after", "2026-11-09..2026-11-22")


@pytest.fixture(scope="module")
def real(built, tmp_path_factory):
    named = os.environ.get("MEMTRACE_FLEET_REAL")
    folder = Path(named) if named else tmp_path_factory.mktemp("real")
    real_runs.make(settings.QUICK, folder)
    return folder


def _other_files(fleet: Path) -> None:
    """One that an older memtrace might have written: without some columns, lists and fields of lists; one that a newer
    one might have: with more of them; one that holds a run which is there already; and one that is no summary."""
    whole = sorted(fleet.rglob("*.parquet"))[0]
    table = pyarrow.parquet.ParquetFile(whole).read().slice(0, 1)

    def write(name: str, changed, metadata) -> None:
        target = fleet / "date=2026-10-26" / "project=other" / f"run={name}" / "summary.parquet"
        target.parent.mkdir(parents=True)
        with pyarrow.parquet.ParquetWriter(target, changed.schema, store_schema=False) as writer:
            if metadata:
                writer.add_key_value_metadata(metadata)
            writer.write_table(changed)

    said = pyarrow.parquet.read_metadata(whole).metadata
    devices = table.schema.field("devices").type.value_type

    def written(name: str, lacks: tuple[str, ...], devices_have: list[pyarrow.Field], besides: dict[str, tuple]) -> None:
        """Types are said, not guessed: a column may be empty in this row."""
        fields = [pyarrow.field(one.name, pyarrow.list_(pyarrow.struct(devices_have))) if one.name == "devices" else one
                  for one in table.schema if one.name not in lacks]
        fields += [pyarrow.field(column, kind) for column, (kind, _) in besides.items()]
        (row,) = table.to_pylist()
        row.update(run_id=name, process=name, **{column: value for column, (_, value) in besides.items()})
        for device in row["devices"]:
            device["of_tomorrow"] = 1.5
        write(name, pyarrow.Table.from_pylist([row], schema=pyarrow.schema(fields)), said)

    written("0" * 15 + "1", ("workers", "counters", "combined", "checkpointed"),
            [one for one in devices if one.name not in ("retries", "mends")], {})
    written("0" * 15 + "2", (), [*devices, pyarrow.field("of_tomorrow", pyarrow.float64())], {
        "of_tomorrow": (pyarrow.int64(), 7),
        "lists_of_tomorrow": (pyarrow.list_(pyarrow.struct([("a", pyarrow.int64())])), [{"a": 1}])})
    write("twice", table, said)
    write("none", pyarrow.table({"run_id": [1], "events": ["many"]}), None)


def test_it_says_what_duckdb_says(real, tmp_path):
    fleet = made_fleet.make(tmp_path, seed=11, runs=320, chosen=settings.QUICK, real=real, together=40)
    _other_files(fleet)
    prices = tmp_path / "prices.csv"
    prices.write_text("gpu,price_per_hour\nt4,0.35\na100-40,1.7\na100-80,2.5\nh200,4.5\n")
    # The files of _other_files are of October.
    for options, left_out in (((*PERIODS, "--prices", str(prices)), 1), (("--gpu", "A100", "--since", "2026-11-01"), 0)):
        duckdb, spark = (spark_runs.report(fleet, *options, *engine, status=left_out) for engine in ((), spark_runs.LOCAL))
        assert duckdb["runs"] == spark["runs"] > 50
        assert len(duckdb["left_out"]) == len(spark["left_out"]) == left_out
        for compared in agreement.compare(duckdb, spark):
            assert not compared.different, compared
        assert sum(len(question["rows"]) for question in duckdb["questions"]) > 50


def test_tasks_make_the_summaries_that_a_machine_alone_makes(real, tmp_path):
    traces = [next((real / "traces" / setting.name).glob("*.mtrace")) for setting in settings.QUICK]
    sources = faults.copies(traces, tmp_path / "traces")
    done = spark_runs.fleet("add", tmp_path / "fleet", *sources, *spark_runs.LOCAL)
    assert done.returncode == 0, done.stderr[-3000:]
    alone = tmp_path / "alone"
    assert real_runs.fleet("add", alone, *sources).returncode == 0
    rows = [[_without_time(row) for path in sorted(fleet.rglob("*.parquet"))
             for row in pyarrow.parquet.ParquetFile(path).read().to_pylist()] for fleet in (tmp_path / "fleet", alone)]
    assert rows[0] == rows[1] and len(rows[0]) == len(traces)


def _without_time(row: dict) -> dict:
    return {name: value for name, value in row.items() if name != "added_ns"}


@pytest.mark.parametrize("fault", spark_faults.ALL)
def test_nothing_is_lost_and_there_is_a_sentence(fault, real, tmp_path):
    traces = [trace for folder in sorted((real / "traces").iterdir()) for trace in sorted(folder.glob("*.mtrace"))]
    assert spark_faults.ALL[fault](tmp_path, traces)


def test_on_object_storage(real, tmp_path):
    if object_store.missing() or not object_store.jar_files():
        pytest.skip("no way from Spark to object storage: scripts/setup --spark")
    fleet = made_fleet.make(tmp_path, seed=11, runs=320, chosen=settings.QUICK, real=real, together=40)
    with object_store.serving(tmp_path / "moto.log") as server:
        import s3fs

        place = f"{object_store.BUCKET}/fleet"
        s3fs.S3FileSystem(key="test", secret="test", endpoint_url=server.url).put(f"{fleet}/", place, recursive=True)
        done = subprocess.run(
            faults.command("report", f"s3://{place}", "--json", "-", *PERIODS, *spark_runs.LOCAL, *server.spark()),
            env={**server.environment(), "SPARK_LOCAL_IP": "127.0.0.1"}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
    for compared in agreement.compare(spark_runs.report(fleet, *PERIODS), json.loads(done.stdout)):
        assert not compared.different, compared
