# SPDX-License-Identifier: Apache-2.0
"""export --format arrow and parquet: pyarrow, pandas, DuckDB and polars give the report's numbers, to the byte."""

import pytest

import exports

pyarrow = pytest.importorskip("pyarrow", reason="pip install pyarrow")


def tables_of(folder) -> dict:
    import pyarrow.feather
    import pyarrow.parquet

    made = {}
    for path in folder.iterdir():
        read = {".arrow": pyarrow.feather.read_table, ".parquet": pyarrow.parquet.read_table}[path.suffix]
        made[path.stem] = read(path)
    return made


def test_the_folders_hold_a_file_a_table(arrow, parquet):
    assert {path.name for path in arrow.iterdir()} == {f"{name}.arrow" for name in exports.TABLES}
    assert {path.name for path in parquet.iterdir()} == {f"{name}.parquet" for name in exports.TABLES}


def test_types_are_those_that_every_reader_has(arrow, parquet):
    fields = 0
    for folder in (arrow, parquet):
        for name, table in tables_of(folder).items():
            for field in table.schema:
                kind = field.type.value_type if pyarrow.types.is_dictionary(field.type) else field.type
                assert kind in (pyarrow.int64(), pyarrow.float64(), pyarrow.string()), f"{name}.{field.name}"
                assert field.name.isidentifier() and field.name == field.name.lower()
                fields += 1
            assert table.schema.metadata[b"memtrace_schema"] == b"1"
    assert fields > 300


def test_arrow_parquet_and_sqlite_hold_the_same_rows(arrow, parquet, database):
    import sqlite3

    left, right = tables_of(arrow), tables_of(parquet)
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
        for name in exports.TABLES:
            cursor = opened.execute(f"SELECT * FROM {name}")
            columns = [column[0] for column in cursor.description]
            assert left[name].column_names == right[name].column_names == columns
            rows = left[name].to_pylist()
            assert rows == right[name].to_pylist()
            assert sorted(map(str, rows)) == sorted(str(dict(zip(columns, row))) for row in cursor), name


def test_duckdb_over_parquet(parquet, two_ranks):
    duckdb = pytest.importorskip("duckdb", reason="pip install duckdb")
    opened = duckdb.connect()
    for name in ("blocks", "devices", "steps", "events", "verdicts"):
        opened.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{parquet}/{name}.parquet')")
    assert {row[:2]: row[2] for row in opened.execute(exports.PEAK_BY_CATEGORY).fetchall()} == exports.by_category(
        two_ranks.report)
    assert {row[:3]: row[3] for row in opened.execute(exports.PEAK_BY_MODULE).fetchall()} == exports.by_module(
        two_ranks.report)
    assert opened.execute(exports.STEPS).fetchall() == exports.step_rows(two_ranks.report)
    assert dict(opened.execute("SELECT rank, count(*) FROM events GROUP BY 1").fetchall()) == {
        process["run"]["rank"]: process["completeness"]["events"] for process in two_ranks.report["processes"]}
    assert {row[:2]: row[2:] for row in opened.execute(
        "SELECT rank, subject, shape, bytes_per_step FROM verdicts").fetchall()} == exports.rates(two_ranks.report)


def test_duckdb_over_arrow(arrow, two_ranks):
    duckdb = pytest.importorskip("duckdb", reason="pip install duckdb")
    held = tables_of(arrow)
    opened = duckdb.connect()
    for name in ("blocks", "devices"):
        opened.register(name, held[name])
    assert {row[:2]: row[2] for row in opened.execute(exports.PEAK_BY_CATEGORY).fetchall()} == exports.by_category(
        two_ranks.report)


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_pandas(form, arrow, parquet, two_ranks):
    pandas = pytest.importorskip("pandas", reason="pip install pandas")
    if form == "arrow":
        blocks, devices, steps = (pandas.read_feather(arrow / f"{name}.arrow") for name in ("blocks", "devices", "steps"))
    else:
        blocks, devices, steps = (pandas.read_parquet(parquet / f"{name}.parquet")
                                  for name in ("blocks", "devices", "steps"))
    both = blocks.merge(devices, on=["process", "device"], suffixes=("", "_d"))
    event = both.peak_allocated_event
    at_peak = both[(both.allocated_event <= event) & (both.freed_event.isna() | (both.freed_event > event))]
    what = at_peak.category.astype(str).where(
        ~(at_peak.category_since_event > at_peak.peak_allocated_event), at_peak.category_before.astype(str))
    assert at_peak.block_bytes.groupby([at_peak["rank"], what]).sum().to_dict() == exports.by_category(two_ranks.report)
    wanted = ["rank", "step", "end_event", "end_allocated_bytes", "peak_event", "peak_allocated_bytes"]
    assert [tuple(row) for row in steps[wanted].to_numpy().tolist()] == exports.step_rows(two_ranks.report)


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_polars(form, arrow, parquet, two_ranks):
    polars = pytest.importorskip("polars", reason="pip install polars")
    if form == "arrow":
        blocks, devices = (polars.read_ipc(arrow / f"{name}.arrow") for name in ("blocks", "devices"))
    else:
        blocks, devices = (polars.read_parquet(parquet / f"{name}.parquet") for name in ("blocks", "devices"))
    event = polars.col("peak_allocated_event")
    found = (blocks.join(devices, on=["process", "device"])
             .filter(polars.col("allocated_event") <= event)
             .filter(polars.col("freed_event").is_null() | (polars.col("freed_event") > event))
             .with_columns(polars.when(polars.col("category_since_event") > event)
                           .then(polars.col("category_before").cast(polars.String))
                           .otherwise(polars.col("category").cast(polars.String)).alias("what"))
             .group_by("rank", "what").agg(polars.col("block_bytes").sum()))
    assert {row[:2]: row[2] for row in found.rows()} == exports.by_category(two_ranks.report)


def test_the_tables_of_python_say_the_same(parquet, two_ranks, monkeypatch):
    """memtrace.read() builds events, blocks and steps by itself, from the dump."""
    import sys

    import pyarrow.parquet

    import runs

    monkeypatch.syspath_prepend(str(runs.ROOT / "python"))
    monkeypatch.setenv("PATH", f"{runs.memtrace().parent}:/usr/bin:/bin")
    import memtrace

    recording = memtrace.read(two_ranks.traces[1])
    for table, key in (("blocks", "allocated_event"), ("steps", "step"), ("events", "event")):
        rows = getattr(recording, table)("rows")
        if table == "events":  # those of the allocator and of CUDA; the dump's other lines are no timed records
            rows = [row for row in rows if row["kind"] in ("alloc", "free_requested", "segment_alloc", "cuda_call")]
        ours = [row for row in pyarrow.parquet.read_table(parquet / f"{table}.parquet").to_pylist()
                if row["rank"] == 1]
        if table == "events":
            ours = [row for row in ours if row["kind"] in ("alloc", "free_requested", "segment_alloc", "cuda_call")]
        assert len(rows) == len(ours) > 0
        ours.sort(key=lambda row: row[key])
        rows.sort(key=lambda row: row[key])
        for name in rows[0].keys() - {"trace"}:
            # The dump leaves these out where the allocator reported nothing, and stream 0.
            same = [(left[name], right[name]) for left, right in zip(rows, ours) if left[name] is not None]
            assert same or name == "freed_event", name
            assert [pair for pair in same if pair[0] != pair[1]] == [], f"{table}.{name}"
    sys.modules.pop("memtrace", None)
