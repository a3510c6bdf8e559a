# SPDX-License-Identifier: Apache-2.0
"""Files of older and newer versions answer one question together; what cannot be read is named and left out."""

import json

import made_reports as made
import pytest
from stored import rows_in


def typed(found, known):
    """The types that columns in which nothing is have today."""
    import pyarrow as pa

    if pa.types.is_list(found):
        return pa.list_(typed(found.value_type, known.value_type if known and pa.types.is_list(known) else None))
    if pa.types.is_struct(found):
        known_fields = {field.name: field.type for field in known} if known and pa.types.is_struct(known) else {}
        return pa.struct([pa.field(field.name, typed(field.type, known_fields.get(field.name))) for field in found])
    return known or pa.string() if pa.types.is_null(found) else found


def rewritten(path, change_rows, version=None):
    """The file at `path` again, as another version would have written it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from memtrace.fleet import schema

    rows = change_rows(rows_in(path))
    today = {field.name: field.type for field in schema.arrow_schema()}
    fields = [pa.field(field.name, typed(field.type, today.get(field.name))) for field in pa.Table.from_pylist(rows).schema]
    with pq.ParquetWriter(path, pa.schema(fields), store_schema=False) as writer:
        writer.add_key_value_metadata({"memtrace_fleet": str(version or 1000)})
        writer.write_table(pa.Table.from_pylist(rows, schema=pa.schema(fields)))


def without(names, inside):
    """Rows that lack these columns, and of these lists these fields."""
    def change(rows):
        for row in rows:
            for name in names:
                del row[name]
            for name, fields in inside.items():
                row[name] = [{field: value for field, value in one.items() if field not in fields} for one in row[name]]
        return rows
    return change


def with_more(rows):
    for row in rows:
        row["schema_version"] = 1007
        row["carbon_grams"] = 3.5
        row["kernels"] = [{"kernel": "gemm", "times": 3}]
        row["devices"] = [{**one, "power_watts": 350} for one in row["devices"]]
    return rows


@pytest.fixture
def store(real_rows, tmp_path):
    rows = [made.row(real_rows["leaks"][0]) for _ in range(3)]
    made.put(tmp_path, rows)
    return tmp_path, sorted(tmp_path.rglob("*.parquet"))


def ask(fleet, place, query, *options):
    done = fleet("report", place, "--json", "-", "--sql", query, *options)
    return done, json.loads(done.out)["questions"][0]["rows"] if done.out else None


@pytest.mark.parametrize("compacted", [False, True])
def test_old_today_and_newer_in_one_query(fleet, store, compacted):
    place, (old, _, newer) = store
    rewritten(old, without(["workers", "counters", "advice"], {"devices": ["mends", "retries"], "culprits": ["fix"]}))
    rewritten(newer, with_more, 1007)
    if compacted:
        assert fleet("compact", place).status == 0
    query = """SELECT r.run, r.workers, d.gpu, d.retries, d.mends, c.kept_by, c.fix FROM ranks r JOIN devices d USING (process)
               JOIN culprits c USING (process) WHERE c.subject = 'device:0' ORDER BY r.run"""
    done, rows = ask(fleet, place, query)
    assert done.status == 0, done.err
    assert len(rows) == 3 and len({row["gpu"] for row in rows}) == 1 and all("history" in row["kept_by"] for row in rows)
    assert [row["workers"] is None for row in rows] == [True, False, False]
    assert [row["retries"] is None for row in rows] == [True, False, False]
    assert [row["fix"] is None for row in rows] == [True, False, False]
    _, leaking = ask(fleet, place, "SELECT count(*) AS runs FROM leaking_runs WHERE subject = 'device:0'")
    assert leaking == [{"runs": 3}]


def test_only_old_files(fleet, store):
    place, paths = store
    for path in paths:
        rewritten(path, without(["labels", "advice"], {"devices": ["mends"]}))
    done = fleet("report", place)
    assert done.status == 0 and "leaking_runs: 3" in done.out


def wrong_kind(rows):
    return [{**row, "events": str(row["events"])} for row in rows]


def wrong_field(rows):
    return [{**row, "devices": [{**one, "gpu": 3} for one in row["devices"]]} for row in rows]


@pytest.mark.parametrize(("change", "version", "sentence"), [
    (lambda rows: rows, 2001, "has version 2 of the schema, and this memtrace reads 1"),
    (wrong_kind, 1000, "events is string and not int64"),
    (wrong_field, 1000, "devices.gpu is int64 and not string"),
])
@pytest.mark.parametrize("many", [False, True])
def test_a_wrong_schema_is_left_out_with_a_sentence(fleet, store, change, version, sentence, many):
    place, (wrong, *_) = store
    rewritten(wrong, change, version)
    if many:
        target = place / "date=2026-11-10" / "project=many" / "run=many" / "x.parquet"
        target.parent.mkdir(parents=True)
        wrong = wrong.rename(target)
    done = fleet("report", place, "--json", "-")
    told = json.loads(done.out)
    assert done.status == 1 and told["runs"] == 2
    assert len(told["left_out"]) == 1 and sentence in told["left_out"][0] and str(wrong) in told["left_out"][0]
    assert done.err.splitlines() == [f"memtrace: {told['left_out'][0]}"]


def test_what_is_no_summary(fleet, store):
    import pyarrow as pa
    import pyarrow.parquet as pq

    place, (foreign, broken, _) = store
    pq.write_table(pa.table({"a": [1]}), foreign)
    broken.write_bytes(broken.read_bytes()[:2000])
    done = fleet("report", place, "--json", "-")
    told = json.loads(done.out)
    assert done.status == 1 and told["runs"] == 1
    assert sorted(one.split(": ", 1)[1][:22] for one in told["left_out"]) == ["is no Parquet file, so", "is no summary of memtr"]
    foreign.unlink()
    broken.unlink()
    assert fleet("report", place).status == 0


def test_nothing_that_can_be_read(fleet, store):
    place, paths = store
    for path in paths:
        path.write_text("nonsense")
    done = fleet("report", place)
    assert done.status == 1 and "holds no summary that can be read" in done.err and not done.out
