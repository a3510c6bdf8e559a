# SPDX-License-Identifier: Apache-2.0
"""export --format sqlite: the views say what the report says, and the blocks are PyTorch's, to the byte."""

import sqlite3
import subprocess

import pytest

import exports


@pytest.fixture(scope="module")
def asked(database):
    opened = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    yield opened
    opened.close()


def test_the_file_is_whole_and_says_what_it_is(asked, database):
    assert asked.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert asked.execute("PRAGMA user_version").fetchone() == (1,)
    assert asked.execute("PRAGMA application_id").fetchone() == (int.from_bytes(b"mtrc", "big"),)
    assert asked.execute("SELECT program FROM made_by").fetchone() == ("memtrace",)
    names = {name for name, in asked.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")}
    assert set(exports.TABLES) <= names
    assert [one.name for one in database.parent.iterdir()] == [database.name], "something was left beside it"


def test_every_column_holds_its_type(asked):
    """SQLite would store a text in a column of integers."""
    checked = 0
    for table, column, kind in asked.execute("SELECT table_name, column_name, type FROM schema_columns").fetchall():
        found = {one for one, in asked.execute(f"SELECT DISTINCT typeof({column}) FROM {table}")}
        assert found <= {kind.lower(), "null"}, f"{table}.{column}"
        checked += 1
    assert checked > 150


def test_all_events_are_there(asked, two_ranks):
    counted = dict(asked.execute("SELECT rank, count(*) FROM events GROUP BY rank"))
    assert counted == {process["run"]["rank"]: process["completeness"]["events"]
                       for process in two_ranks.report["processes"]}
    assert asked.execute("SELECT count(*) FROM (SELECT DISTINCT process, event FROM events)").fetchone() == (
        sum(counted.values()),)


def test_the_peak_is_the_reports_and_pytorchs(asked, two_ranks):
    rows = asked.execute("SELECT rank, category, bytes FROM peak_by_category").fetchall()
    assert {(rank, what): size for rank, what, size in rows} == exports.by_category(two_ranks.report)
    rows = asked.execute("SELECT rank, root, module, bytes FROM peak_by_module").fetchall()
    assert {tuple(row[:3]): row[3] for row in rows} == exports.by_module(two_ranks.report)
    for view in ("peak_by_category", "peak_by_module", "peak_by_line"):
        sums = dict(asked.execute(f"SELECT rank, sum(bytes) FROM {view} GROUP BY rank"))
        assert sums == {rank: said["peak"] for rank, said in enumerate(two_ranks.said)}
    assert dict(asked.execute("SELECT rank, max(reserved_bytes) FROM events GROUP BY rank")) == {
        rank: said["peak_reserved"] for rank, said in enumerate(two_ranks.said)}


def test_the_blocks_are_pytorchs(asked, two_ranks):
    for rank, said in enumerate(two_ranks.said):
        assert asked.execute("SELECT count(*), sum(bytes) FROM blocks WHERE rank = ?", (rank,)).fetchone() == (
            said["allocations"], said["requested"])
        unfreed = asked.execute("SELECT address, block_bytes FROM blocks WHERE rank = ? AND freed_event IS NULL"
                                " ORDER BY address", (rank,)).fetchall()
        assert [list(block) for block in unfreed] == said["end"]
        assert asked.execute("SELECT sum(bytes), sum(blocks) FROM never_freed WHERE rank = ?", (rank,)).fetchone() == (
            sum(size for _, size in said["end"]), len(said["end"]))


def test_what_was_live_in_the_middle_is_pytorchs_snapshot(database, two_ranks, tmp_path):
    """At the event that PyTorch's own snapshot is: the table `moment` chooses it."""
    copy = tmp_path / "copy.db"
    copy.write_bytes(database.read_bytes())
    with sqlite3.connect(copy) as opened:
        for rank, said in enumerate(two_ranks.said):
            event, = opened.execute(
                "SELECT min(event) FROM events WHERE rank = ? AND kind = 'snapshot'", (rank,)).fetchone()
            opened.execute("DELETE FROM moment")
            opened.execute("INSERT INTO moment VALUES (?)", (event,))
            live = opened.execute("SELECT address, block_bytes FROM live_blocks WHERE rank = ? ORDER BY address",
                                  (rank,)).fetchall()
            assert [list(block) for block in live] == said["middle"]
            assert len(live) > 50
            held = dict(opened.execute("SELECT category_then, sum(block_bytes) FROM live_blocks WHERE rank = ?"
                                       " GROUP BY 1", (rank,)))
            told = exports.at_event(two_ranks.traces[rank], event, tmp_path)
            assert held == told


def test_totals_can_be_rebuilt_from_what_events_add(asked):
    """The running sum of block_bytes is allocated_bytes, at every event of the allocator."""
    rows = asked.execute("""SELECT sum(coalesce(block_bytes, 0)) OVER (PARTITION BY process ORDER BY event),
        allocated_bytes FROM events WHERE allocated_bytes IS NOT NULL""").fetchall()
    assert len(rows) > 1000
    assert [row for row in rows if row[0] != row[1]] == []


def test_steps_and_their_reserved_bytes(asked, two_ranks):
    assert [tuple(row) for row in asked.execute(exports.STEPS)] == exports.step_rows(two_ranks.report)
    assert asked.execute("SELECT count(*) FROM steps").fetchone() == (40,)
    # By another way: from the events themselves.
    assert asked.execute("""
        SELECT count(*) FROM steps JOIN (
          SELECT s.process AS process, s.step AS step, max(e.reserved_bytes) AS most
          FROM steps s LEFT JOIN steps b ON b.process = s.process AND b.step = s.step - 1
          JOIN events e ON e.process = s.process AND e.event <= s.end_event
            AND e.event >= coalesce((SELECT max(x.event) FROM events x WHERE x.process = s.process
              AND x.event <= b.end_event AND x.reserved_bytes IS NOT NULL), 0)
          GROUP BY 1, 2) USING (process, step)
        WHERE peak_reserved_bytes = most""").fetchone() == (40,)
    growth = asked.execute("SELECT sum(grown_bytes) FROM growth_by_step WHERE rank = 0 AND step > 0").fetchone()[0]
    first, last = (row[3] for row in exports.step_rows(two_ranks.report) if row[0] == 0 and row[1] in (0, 19))
    assert growth == last - first > 0


def test_verdicts_are_the_reports(asked, two_ranks):
    rows = asked.execute("SELECT rank, subject, shape, bytes_per_step FROM verdicts").fetchall()
    assert {tuple(row[:2]): tuple(row[2:]) for row in rows} == exports.rates(two_ranks.report)
    keepers = asked.execute("SELECT path, keepers.bytes, line FROM keepers JOIN culprits USING (process, verdict, culprit)"
                            " ORDER BY process, verdict, culprit, keepers.rowid").fetchall()
    told = [(keeper["path"], keeper["bytes"]) for verdict in two_ranks.report["verdicts"]
            for culprit in verdict["culprits"] for keeper in culprit["retained_by"]]
    assert [row[:2] for row in keepers] == told
    assert any(path.startswith("history[") and "trains.py" in line for path, _, line in keepers)


def test_names_lines_and_stacks(asked):
    named = asked.execute("SELECT category, name, bytes, line FROM blocks WHERE name = 'request 7' AND rank = 0").fetchall()
    (category, _, size, line), = named
    assert (category, size) == ("kv_cache", 12_000_000) and "trains.py" in line
    # A stack read from its frames ends with the line of the block's site, or began below it.
    rows = asked.execute("""SELECT blocks.line, group_concat(stack_lines.line, ' ') FROM blocks
        JOIN stack_lines USING (stack) GROUP BY blocks.process, allocated_event""").fetchall()
    assert len(rows) > 100
    assert all(site in frames for site, frames in rows)
    depths = asked.execute("""SELECT stacks.depth, count(*) FROM stacks JOIN stack_lines USING (stack)
        GROUP BY stack""").fetchall()
    assert depths and all(depth == count for depth, count in depths)


def test_sites_add_up_to_the_blocks(asked):
    differing = asked.execute("""
        SELECT s.site FROM sites s JOIN (
          SELECT process, device, coalesce(site, 0) AS site, count(*) AS n, sum(block_bytes) AS b FROM blocks
          GROUP BY 1, 2, 3) AS g ON g.process = s.process AND g.device = s.device AND g.site = s.site
        WHERE n <> s.blocks OR b <> s.block_bytes""").fetchall()
    assert differing == []
    assert asked.execute("SELECT sum(peak_bytes) FROM sites WHERE rank = 0").fetchone() == asked.execute(
        "SELECT sum(bytes) FROM peak_by_line WHERE rank = 0").fetchone()


def test_the_command_line_of_sqlite_reads_it(database):
    try:
        done = subprocess.run(["sqlite3", "-readonly", database, "SELECT count(*) FROM blocks"], capture_output=True,
                              text=True, check=True)
    except FileNotFoundError:
        pytest.skip("no sqlite3 command here")
    assert int(done.stdout) > 100


def test_names_of_nsight_systems(asked):
    rows = asked.execute("SELECT memoryOperationType, sum(bytes) FROM CUDA_GPU_MEMORY_USAGE_EVENTS"
                         " WHERE name = 'cudaMalloc' AND globalPid = (SELECT pid FROM processes WHERE rank = 0)"
                         " GROUP BY 1").fetchall()
    segments, = asked.execute("SELECT sum(bytes) FROM events WHERE kind = 'segment_alloc' AND rank = 0").fetchone()
    assert dict(rows)[0] == segments
