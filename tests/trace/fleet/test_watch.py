# SPDX-License-Identifier: Apache-2.0
"""A watched folder: each run is added once its traces are finished, and no sooner."""

import os
import shutil
import signal
import subprocess
import sys
import time

import runs


def test_a_watched_folder(recorded, tmp_path):
    folder, store = tmp_path / "traces", tmp_path / "store"
    folder.mkdir()
    watcher = subprocess.Popen(
        [sys.executable, "-m", "memtrace.fleet", "add", store, "--watch", folder, "--every", "0.05", "--quiet", "1e6"],
        stderr=subprocess.PIPE, text=True,
        env=runs.environment({"PYTHONPATH": str(runs.ROOT / "python"), "MEMTRACE_COMMAND": str(runs.memtrace())}))
    try:
        assert "watching" in watcher.stderr.readline()
        source, = recorded["leaks"].folder.glob("*.mtrace")
        growing = folder / "one" / source.name
        growing.parent.mkdir()
        growing.write_bytes(source.read_bytes()[:-100])  # still recording
        shutil.copytree(recorded["steady"].folder, folder / "two")
        assert "1 added" in watcher.stderr.readline()
        assert len(list(store.rglob("*.parquet"))) == 1
        shutil.copy(source, growing)
        assert "1 added" in watcher.stderr.readline()
        assert len(list(store.rglob("*.parquet"))) == 2
        watcher.send_signal(signal.SIGTERM)
        assert watcher.wait() == 0
    finally:
        watcher.kill()
        watcher.wait()


def test_what_was_killed_is_taken_when_it_is_quiet(recorded, tmp_path):
    from memtrace.fleet import watch

    source, = recorded["leaks"].folder.glob("*.mtrace")
    trace = tmp_path / source.name
    trace.write_bytes(source.read_bytes()[:-100])
    watched = watch.Watch(str(tmp_path), False, 600)
    assert watched.ready() == []
    os.utime(trace, (time.time() - 700,) * 2)
    assert watched.ready() == [[trace]] and watched.ready() == []
    watched.put_back([trace])  # as where the store could not be written
    assert watched.ready() == [[trace]]
