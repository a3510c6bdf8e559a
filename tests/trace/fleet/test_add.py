# SPDX-License-Identifier: Apache-2.0
"""A run becomes one small file that says what the report says, once, whoever adds it and however often."""

import getpass
import json
import re
import shutil
import socket
import subprocess

import pytest
from stored import files_in, rows_in

import runs

MOST_BYTES = 50_000  # of a rank


def only_file(store):
    made, = [path for path in store.rglob("*.parquet")]
    return made


def test_a_run_is_one_small_file(recorded, fleet, tmp_path):
    for name, run in recorded.items():
        done = fleet("add", tmp_path / name, run.folder, "--project", "a b/c")
        assert done.status == 0 and "1 added" in done.err
        path = only_file(tmp_path / name)
        assert re.fullmatch(r"date=\d{4}-\d\d-\d\d/project=a%20b%2Fc/run=[0-9a-f]{16}/summary\.parquet",
                            str(path.relative_to(tmp_path / name)))
        rows = rows_in(path)
        assert len(rows) == len(run.said)
        assert path.stat().st_size <= MOST_BYTES * len(rows)
        assert {row["project_name"] for row in rows} == {"a b/c"} and len({row["run_id"] for row in rows}) == 1


def test_peaks_are_those_of_pytorch(recorded, real_rows):
    for name, run in recorded.items():
        for row, said in zip(real_rows[name], run.said, strict=True):
            device, = row["devices"]
            assert device["peak_allocated_bytes"] == said["allocated"]
            assert device["peak_reserved_bytes"] == said["reserved"]
            assert row["ran_out_of_memory"] == said["failed"]
            assert sum(one["bytes"] for one in row["categories"]) == said["allocated"]


def test_it_says_what_the_report_says(recorded, real_rows):
    for name in ("steady", "leaks", "fails"):
        report, row = recorded[name].report, real_rows[name][0]
        run, device, whole = report["run"], report["devices"][0], report["completeness"]
        assert (row["torch"], row["python"], row["host"], row["started_ns"]) == (
            run["torch"], run["python"], run["host"], run["started_ns"])
        assert json.loads(row["command"]) == run["command"] and row["script"] == "trains"
        assert row["memtrace"] and row["mode"] == "standard" and row["events"] == whole["events"]
        assert row["devices"][0]["gpu"] == device["name"]
        assert row["devices"][0]["capacity_bytes"] == device["capacity_bytes"]
        assert row["devices"][0]["needed_bytes"] == device["used"]["used_bytes"]
        assert {(one["phase"], one["peak_allocated_bytes"]) for one in row["phases"]} == {
            (one["phase"], one["peak_allocated_bytes"]) for one in device["phases"]}
        assert {(one["phase"], one["category"], one["bytes"]) for one in row["phase_categories"]} == {
            (phase["phase"], one["category"], one["bytes"]) for phase in device["phases"] for one in phase["categories"]}
        assert [(one["subject"], one["shape"], one["bytes_per_step"], one["summary"]) for one in row["verdicts"]] == [
            (one["subject"], one["shape"], one["bytes_per_step"], one["summary"]) for one in report["verdicts"]]
        assert [(one["advice"], one["saves_bytes"], one["proof"]) for one in row["advice"]] == [
            (one["id"], one["saves_bytes"], one["proof"]) for one in report["advice"]]
        assert [(one["cause"], one["matters"]) for one in row["fragmentation"]] == [
            (one["cause"], one["matters"]) for one in report["fragmentation"]]
        assert [(one["requested_bytes"], one["capacity_bytes"], one["caught"]) for one in row["out_of_memory"]] == [
            (one["requested_bytes"], one["capacity_bytes"], one["caught"]) for one in report["oom"]]
        assert (name == "fails") == bool(row["out_of_memory"])
        leaks = {one["subject"] for one in row["verdicts"] if one["is_leak"]}
        assert ("device:0" in leaks) == (name != "steady")


def test_who_leaks_is_there_with_what_keeps_it(real_rows):
    first = real_rows["leaks"][0]["culprits"][0]
    assert first["subject"] == "device:0" and first["file"].endswith("trains.py") and "history" in first["kept_by"]


def test_series_keep_their_bounds(recorded, real_rows):
    steps = recorded["leaks"].report["steps"]["series"][0]["steps"]
    series = real_rows["leaks"][0]["series"]
    assert len(steps) == 30 and sum(one["last_step"] - one["first_step"] + 1 for one in series) == len(steps)
    assert max(one["end_high_bytes"] for one in series) == max(one["end_allocated_bytes"] for one in steps)


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000])
def test_thinned_series_hold_every_step_within_bounds(count):
    from memtrace.fleet import thin

    steps = [{"peak_allocated_bytes": (7919 * step) % 1009, "end_allocated_bytes": (104729 * step) % 997, "end_ns": step}
             for step in range(count)]
    rows = thin.steps(2, steps)
    assert len(rows) == min(count, thin.POINTS)
    covered = []
    for row in rows:
        part = steps[row["first_step"]:row["last_step"] + 1]
        covered += part
        for name, column in (("peak", "peak_allocated_bytes"), ("end", "end_allocated_bytes")):
            assert row[f"{name}_low_bytes"] == min(one[column] for one in part)
            assert row[f"{name}_high_bytes"] == max(one[column] for one in part)
        assert row["end_ns"] == part[-1]["end_ns"] and row["device"] == 2
    assert covered == steps


def test_a_summary_stays_small_whatever_is_in_it(real_rows):
    """As much as the schema lets there be, in texts that cannot be compressed."""
    import copy
    import random

    from memtrace.fleet import schema, summarize

    chance = random.Random(2)
    row = copy.deepcopy(real_rows["fails"][0])
    for name in ("lines", "verdicts", "culprits", "advice", "counters"):
        row[name] = [{key: f"{chance.getrandbits(1200):x}" if isinstance(value, str) else value
                      for key, value in (row[name] or [{"counter": "", "times": 1}])[0].items()}
                     for _ in range(schema.LISTS[name].most)]
    assert len(summarize.as_parquet([row])) > 2 * MOST_BYTES
    content = summarize.fitted([row])
    made, = rows_in(content)
    assert len(content) <= MOST_BYTES and made["series"] == row["series"] and made["devices"] == row["devices"]
    assert made["verdicts"] and made["verdicts"] == row["verdicts"][:len(made["verdicts"])]


def test_adding_twice_changes_nothing(recorded, fleet, tmp_path):
    store = tmp_path / "store"
    folders = [run.folder for run in recorded.values()]
    assert "4 added" in fleet("add", store, *folders).err
    before = files_in(store)
    elsewhere = shutil.copytree(recorded["leaks"].folder, tmp_path / "elsewhere")
    done = fleet("add", store, *folders, elsewhere)
    assert done.status == 0 and "5 already there" in done.err and "added" not in done.err
    assert files_in(store) == before


def test_a_folder_of_folders_is_several_runs(recorded, fleet, tmp_path):
    for name in ("steady", "ranks"):
        shutil.copytree(recorded[name].folder, tmp_path / "all" / name)
    assert "2 added" in fleet("add", tmp_path / "store", tmp_path / "all").err
    assert "3 added" in fleet("add", tmp_path / "each", tmp_path / "all", "--each").err


def test_a_run_that_grew_is_replaced(recorded, fleet, tmp_path):
    whole, = recorded["leaks"].folder.glob("*.mtrace")
    growing = tmp_path / "growing" / whole.name
    growing.parent.mkdir()
    growing.write_bytes(whole.read_bytes()[:-60])
    store = tmp_path / "store"
    done = fleet("add", store, growing)
    assert done.status == 0 and "1 added" in done.err and "is cut off; its summary holds what is left" in done.err
    first = rows_in(only_file(store))[0]
    assert first["truncated"]
    shutil.copy(whole, growing)
    assert "1 replaced" in fleet("add", store, growing).err
    second = rows_in(only_file(store))[0]
    assert not second["truncated"] and second["events"] > first["events"] and second["run_id"] == first["run_id"]
    growing.write_bytes(whole.read_bytes()[:-60])
    assert "1 already there" in fleet("add", store, growing).err
    assert rows_in(only_file(store))[0] == second


def test_what_is_no_trace_is_named_and_the_others_are_added(recorded, fleet, tmp_path):
    (tmp_path / "short.mtrace").write_bytes(b"MEMTRACE")
    (tmp_path / "text.mtrace").write_text("not at all")
    done = fleet("add", tmp_path / "store", tmp_path / "short.mtrace", tmp_path / "text.mtrace", tmp_path / "nowhere",
                 recorded["steady"].folder)
    assert done.status == 1 and "1 added, 3 not added" in done.err
    sentences = done.err.splitlines()
    for name in ("short.mtrace: is no trace", "text.mtrace: is no trace", "nowhere: is not there"):
        assert len([one for one in sentences if name in one]) == 1
    assert len(list((tmp_path / "store").rglob("*.parquet"))) == 1


def test_a_rank_that_cannot_be_read_is_named_and_the_others_are_added(recorded, fleet, tmp_path):
    folder = shutil.copytree(recorded["ranks"].folder, tmp_path / "run")
    (folder / "gone.mtrace").write_text("x" * 5000)
    store = tmp_path / "store"
    for expected in ("1 added", "1 already there"):
        done = fleet("add", store, folder)
        assert done.status == 1 and expected in done.err
        assert "gone.mtrace: is no trace of memtrace" in done.err and "and is missing in its run" in done.err
    assert len(rows_in(only_file(store))) == 2


def test_leaks_are_those_that_check_refuses(recorded, real_rows):
    for name, status in (("steady", 0), ("leaks", 1)):
        done = subprocess.run([runs.memtrace(), "check", recorded[name].folder, "--no-leaks"], capture_output=True)
        assert done.returncode == status, done.stdout
        leaks = any(one["is_leak"] and one["is_headline"] for one in real_rows[name][0]["verdicts"])
        assert leaks == (status == 1)


def test_scrubbed_there_are_no_paths_and_no_names(recorded, fleet, tmp_path):
    fleet("add", tmp_path / "store", recorded["fails"].folder, recorded["ranks"].folder, "--scrub", "--project", "p")
    files = list((tmp_path / "store").rglob("*.parquet"))
    assert len(files) == 2
    for path in files:
        rows = rows_in(path)
        text = json.dumps(rows)
        assert all(row["scrubbed"] and row["user_name"] is None and row["trace"] is None for row in rows)
        for secret in (str(recorded["fails"].folder.parent), "programs/trains"):
            assert secret not in text
        host, user = socket.gethostname(), getpass.getuser()
        assert {row["host"] for row in rows} == {"host1"} and (len(host) < 3 or host not in text)
        assert user == "root" or not re.search(rf"\b{re.escape(user)}\b", text)
        assert any(one["file"] and one["file"].endswith("trains.py") for one in rows[0]["lines"])


def test_user_and_labels(recorded, fleet, tmp_path):
    fleet("add", tmp_path, recorded["steady"].folder, "--user", "grace", "--label", "release=1.2", "--label", "team=a")
    row, = rows_in(only_file(tmp_path))
    assert row["user_name"] == "grace" and row["project_name"] == "trains"
    assert {one["label"]: one["label_value"] for one in row["labels"]} == {"release": "1.2", "team": "a"}


@pytest.mark.parametrize(("command", "script"), [
    (["python", "-u", "/a/b/train.py", "--lr", "1"], "train"), (["python", "-m", "pkg.train"], "train"),
    (["torchrun", "--nproc", "2", "x.py"], "x"), (["/opt/bin/serve", "--port", "1"], "serve"), ([], "unknown")])
def test_the_script_of_a_command(command, script):
    from memtrace.fleet import facts

    assert facts.script_of(command) == script
