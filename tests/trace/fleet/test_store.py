# SPDX-License-Identifier: Apache-2.0
"""Writers that are killed, that do the same at once, or whose disk is full: nothing is lost, nothing is there twice."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import made_reports as made
import pytest
from stored import files_in

import runs


def in_child(action) -> int:
    """The exit status of another process that does it; negative: the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(action() or 0)
        except BaseException:  # the child must not go on as a test
            os._exit(99)
    status = os.waitpid(child, 0)[1]
    return os.waitstatus_to_exitcode(status)


def counted(fleet, store) -> dict:
    return json.loads(fleet("report", store, "--json", "-").out)


READS_ALL = """
import os, sys, time, pyarrow.parquet
from memtrace.fleet.__main__ import main
before = len(os.listdir("/proc/self/task"))
for arguments in (["add", *sys.argv[1:]], ["compact", sys.argv[1]], ["add", *sys.argv[1:]]):
    assert main(arguments) == 0
end = time.monotonic() + 10
while (more := len(os.listdir("/proc/self/task")) - before) and time.monotonic() < end:
    time.sleep(0.01)  # one that was joined goes a moment later; those of Arrow's stay
print(more)
"""


def test_what_is_there_is_read_without_threads_of_arrows(recorded, fleet, tmp_path):
    """They outlive main(): where Python ends while one of them holds an object of Python's, the process is aborted."""
    fleet("add", tmp_path / "store", recorded["steady"].folder)
    done = subprocess.run([sys.executable, "-c", READS_ALL, str(tmp_path / "store"), str(recorded["steady"].folder)],
                          env={**os.environ, "PYTHONPATH": str(runs.ROOT / "python")}, capture_output=True, text=True)
    assert done.stdout == "0\n" and done.stderr.count("1 already there") == 2, done.stderr


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_writer_that_is_killed(recorded, fleet, tmp_path, monkeypatch, moment):
    """Before its file has its name: the store is as before, and the run can be added again."""
    store = tmp_path / "store"
    fleet("add", store, recorded["steady"].folder)
    before = files_in(store)

    def dies():
        setattr(os, moment, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        fleet("add", store, recorded["leaks"].folder, "--jobs", "1")

    assert in_child(dies) == -signal.SIGKILL
    left = {name: content for name, content in files_in(store).items() if name not in before}
    assert len(left) == 1 and all(name.endswith(".tmp") for name in left)
    assert counted(fleet, store)["runs"] == 1
    assert "1 added" in fleet("add", store, recorded["leaks"].folder).err
    assert counted(fleet, store)["runs"] == 2
    unfinished, = left
    os.utime(store / unfinished, (time.time() - 7200,) * 2)
    fleet("compact", store)
    assert not list(store.rglob("*.tmp")) and counted(fleet, store)["runs"] == 2


def test_two_that_add_the_same_at_once(recorded, fleet, tmp_path):
    store = tmp_path / "store"
    folders = [recorded[name].folder for name in ("steady", "leaks", "ranks")]
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            try:
                os._exit(fleet("add", store, *folders).status)
            finally:
                os._exit(99)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]
    assert len(files_in(store)) == 3
    told = counted(fleet, store)
    assert (told["runs"], told["processes"], told["left_out"]) == (3, 4, [])


def test_a_full_disk(recorded, fleet, tmp_path):
    """A limit of the process stands for the disk: writes fail with EFBIG from there on."""
    store = tmp_path / "store"
    fleet("add", store, recorded["steady"].folder)
    before = files_in(store)
    told = tmp_path / "told"
    report = recorded["leaks"].report  # the command's own report would not fit either

    def limited():
        from memtrace.fleet import summarize

        summarize.report_of = lambda *_: report
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        said = fleet("add", store, recorded["leaks"].folder)
        told.write_text(said.err)
        return said.status

    assert in_child(limited) == 1
    sentence = told.read_text().splitlines()[0]
    assert "cannot be written: File too large; nothing was changed" in sentence
    assert files_in(store) == before and not [one for one in store.rglob("run=*") if not list(one.iterdir())]
    assert "1 added" in fleet("add", store, recorded["leaks"].folder).err


def test_where_nothing_may_be_written(recorded, fleet, tmp_path):
    (tmp_path / "file").write_text("")
    done = fleet("add", tmp_path / "file" / "store", recorded["steady"].folder)
    assert done.status == 1 and "cannot be written: Not a directory" in done.err


def test_the_same_process_in_two_runs_counts_once(real_rows, fleet, tmp_path):
    """As where the ranks of a run were added one by one, and then together: the one with most events counts."""
    whole = [made.row(row, run_id="b" * 16, process=str(number) * 16) for number, row in enumerate(real_rows["ranks"])]
    part = made.row(real_rows["ranks"][0], run_id="a" * 16, process="0" * 16, events=1)
    made.put(tmp_path, [*whole, part])
    told = counted(fleet, tmp_path)
    assert (told["runs"], told["processes"]) == (1, 2)
    rows = json.loads(fleet("report", tmp_path, "--json", "-", "--sql", "SELECT run, process FROM ranks").out)
    assert {row["run"] for row in rows["questions"][0]["rows"]} == {"b" * 16}


def test_a_store_that_fsspec_knows(recorded, fleet, tmp_path):
    """Not a folder: here the one in memory, which like object stores has no rename."""
    import fsspec

    place = f"memory://fleet-{tmp_path.name}"
    folders = [recorded[name].folder for name in ("steady", "fails")]
    assert "2 added" in fleet("add", place, *folders).err
    assert "2 already there" in fleet("add", place, *folders).err
    before = counted(fleet, place)
    assert before["runs"] == 2 and before["questions"][2]["rows"][0]["saved_by"]
    assert fleet("compact", place).status == 0
    assert len(fsspec.filesystem("memory").find(place)) == 1
    after = counted(fleet, place)
    assert after["questions"] == before["questions"]


@pytest.mark.parametrize("place", ["s4://bucket/fleet", "nowhere/at/all"])
def test_a_store_that_is_not_there(fleet, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    done = fleet("report", place)
    assert done.status == 1 and len(done.err.splitlines()) == 1 and place in done.err


def test_an_empty_store(fleet, tmp_path):
    done = fleet("report", tmp_path)
    assert done.status == 1 and f"{tmp_path}: holds no summaries; memtrace fleet add {tmp_path} TRACE…" in done.err
