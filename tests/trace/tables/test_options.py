# SPDX-License-Identifier: Apache-2.0
"""export's options with tables: a window, one rank, a folder that is there, and what a machine lacks."""

import os
import signal
import sqlite3
import subprocess
import time

import pytest

import exports
import runs


def ask(database, query: str) -> list:
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
        return opened.execute(query).fetchall()


def test_a_window_has_its_events_and_what_lived_in_it(two_ranks, database, tmp_path):
    ends = dict(ask(database, "SELECT step, end_event FROM steps WHERE rank = 0"))
    made = exports.export(two_ranks.traces[:1], "sqlite", tmp_path / "part.db", "--from", "step:4", "--to", "step:6")
    (first, last), = ask(made, "SELECT min(event), max(event) FROM events")
    assert ends[3] < first and last <= ends[6]
    whole = ask(database, f"SELECT * FROM events WHERE rank = 0 AND event BETWEEN {first} AND {last}")
    part = ask(made, "SELECT * FROM events")
    assert len(part) == len(whole) > 100
    # The numbers of frames and stacks are the export's own.
    own = ask(made, "SELECT event, kind, address, block_bytes, allocated_bytes, line FROM events ORDER BY event")
    assert own == ask(database, "SELECT event, kind, address, block_bytes, allocated_bytes, line FROM events"
                                f" WHERE rank = 0 AND event BETWEEN {first} AND {last} ORDER BY event")
    lived = (f"SELECT address, block_bytes, allocated_event, category, line FROM blocks WHERE rank = 0 AND "
             f"allocated_event <= {last} AND (freed_event IS NULL OR freed_event >= {first}) ORDER BY allocated_event")
    assert ask(made, lived) == ask(database, lived)
    assert ask(made, "SELECT peak_allocated_bytes FROM devices") == [(two_ranks.said[0]["peak"],)]


def test_one_rank_of_several(two_ranks, tmp_path):
    made = exports.export(two_ranks.traces, "sqlite", tmp_path / "one.db", "--rank", "1")
    assert ask(made, "SELECT DISTINCT rank FROM blocks") == [(1,)]
    assert ask(made, "SELECT process, rank FROM processes") == [(0, 1)]


def test_a_folder_is_replaced_only_if_it_is_an_export(two_ranks, tmp_path):
    pytest.importorskip("pyarrow", reason="pip install pyarrow")
    target = exports.export(two_ranks.traces[:1], "parquet", tmp_path / "run")
    done = exports.command(two_ranks.traces[:1], "parquet", target)
    assert done.returncode == 1 and "is there already; choose another name, or --force" in done.stderr
    exports.export(two_ranks.traces[1:], "parquet", target, "--force")
    (target / "thesis.txt").write_text("years of work")
    done = exports.command(two_ranks.traces[:1], "parquet", target, "--force")
    assert done.returncode == 1 and "not a folder of .parquet files alone, so it is not replaced" in done.stderr
    assert (target / "thesis.txt").read_text() == "years of work"
    assert len(list(target.iterdir())) == len(exports.TABLES) + 1
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_without_pyarrow_the_remedy_is_said_before_anything_is_read(two_ranks, tmp_path):
    empty = tmp_path / "python"
    empty.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'pyarrow'\" >&2\nexit 1\n")
    empty.chmod(0o755)
    for form in ("arrow", "parquet"):
        done = subprocess.run([runs.memtrace(), "export", two_ranks.traces[0], "--format", form, "-o", tmp_path / "out"],
                              capture_output=True, text=True, env=runs.environment({"MEMTRACE_PYTHON": str(empty)}))
        assert done.returncode == 1
        sentence, = done.stderr.splitlines()
        assert f"--format {form} needs Python with pyarrow" in sentence and "pip install pyarrow" in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["python"]


def test_the_installed_command_takes_its_own_python(two_ranks, tmp_path):
    pytest.importorskip("pyarrow", reason="pip install pyarrow")
    code = "import sys; from memtrace._command import main; sys.argv[0] = 'memtrace'; main()"
    done = subprocess.run([runs.python(), "-c", code, "export", two_ranks.traces[0], "--format", "arrow", "-o",
                           tmp_path / "run"], capture_output=True, text=True,
                          env=runs.environment({"MEMTRACE_BUILD": str(runs.build()), "PATH": "/nowhere",
                                                "PYTHONPATH": str(runs.ROOT / "python")}))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "events.arrow").stat().st_size > 1000


def test_where_nothing_can_be_written(two_ranks, tmp_path):
    for form in ("sqlite", "parquet"):
        done = exports.command(two_ranks.traces[:1], form, tmp_path / "no" / "such")
        assert done.returncode == 1 and "cannot be written" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_taken_away_when_it_is_interrupted(two_ranks, tmp_path):
    """While Python, which here waits, would write the tables."""
    waits = tmp_path / "python"
    waits.write_text("#!/bin/sh\ncase \"$2\" in 'import pyarrow') exit 0;; esac\nexec sleep 30\n")
    waits.chmod(0o755)
    started = subprocess.Popen([runs.memtrace(), "export", two_ranks.traces[0], "--format", "parquet", "-o",
                                tmp_path / "out"], stderr=subprocess.PIPE, start_new_session=True,
                               env=runs.environment({"MEMTRACE_PYTHON": str(waits)}))
    while not list(tmp_path.glob("out.part-*/columns/tables.json")):
        assert started.poll() is None, started.stderr.read()
        time.sleep(0.02)
    os.killpg(started.pid, signal.SIGINT)
    assert started.wait() == -signal.SIGINT
    assert [path.name for path in tmp_path.iterdir()] == ["python"]
