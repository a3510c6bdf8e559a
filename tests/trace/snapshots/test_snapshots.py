# SPDX-License-Identifier: Apache-2.0
"""Snapshots that PyTorch took, read in place of traces: beside what Python's pickle reads in them,
beside memory_stats, and beside what memtrace recorded of the same run."""

import json
import os
import pickle
import re
import subprocess
from pathlib import Path

import pytest

import compare
import snapshot_programs
import recordings
import runs
import pickle_truth

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def taken(built, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("snapshots")
    recordings.run_each(HERE / "takes_snapshots.py", snapshot_programs.QUICK, folder, devices=2)
    return folder


@pytest.fixture(scope="session")
def loaded(taken):
    known = {}

    def load(name: str) -> tuple[dict, list, list[dict]]:
        """The snapshot, memory_stats of its devices, and its trace's records."""
        if name not in known:
            known[name] = (pickle_truth.load(taken / f"{name}.pickle"),
                           json.loads((taken / f"{name}.json").read_text()),
                           runs.dump(taken / f"{name}.pickle"))
        return known[name]

    return load


@pytest.fixture(scope="session")
def reports(taken):
    known = {}

    def load(name: str) -> tuple[dict, dict]:
        """The reports on the snapshot and on the recording."""
        if name not in known:
            known[name] = tuple(runs.report([taken / f"{name}.{kind}"], taken)
                                for kind in ("pickle", "mtrace"))
        return known[name]

    return load


every_whole = pytest.mark.parametrize("name", snapshot_programs.WHOLE)
every_late = pytest.mark.parametrize("name", snapshot_programs.LATE)


@every_whole
def test_every_event_total_and_block_is_pytorchs(loaded, name):
    snapshot, stats, lines = loaded(name)
    for device in range(len(stats)):
        found = compare.compare({**snapshot, "memory_stats": stats}, lines, device)
        assert found.events > 0 and found.totals > 0
        assert found.differences == 0, "\n".join(found.shown)
        assert (found.with_frames > 0) == (name != "no_frames")
    if name == "streams":
        assert found.streams > 1 and found.deferred > 0
    if name == "expandable":
        assert found.kinds["segment_map"] > 0


@pytest.mark.parametrize("name", snapshot_programs.QUICK)
def test_the_end_is_that_of_the_snapshot(loaded, reports, name):
    snapshot, stats, lines = loaded(name)
    report, _ = reports(name)
    assert report["run"]["source"] == "pytorch_snapshot"
    facts = report["run"]["snapshot"]
    assert facts["history"] == snapshot_programs.HISTORY[name]
    assert facts["events_lead_to_segments"] is True
    assert facts["contradictions"] == facts["skipped_events"] == 0
    for device in range(len(stats)):
        left = {}
        for line in lines:
            if line.get("device") != device:
                continue
            if line["kind"] == "alloc":
                left[line["address"]] = line["block"]
            elif line["kind"] == "free_requested":
                left.pop(line["address"], None)
        assert left == pickle_truth.blocks_at_end(snapshot, device)


@every_whole
def test_peaks_are_those_of_memory_stats(reports, loaded, name):
    report, _ = reports(name)
    for device, stats in zip(report["devices"], loaded(name)[1], strict=True):
        assert device["peak_allocated_bytes"] == stats["allocated_bytes.all.peak"]
        assert device["peak_reserved_bytes"] == stats["reserved_bytes.all.peak"]


@every_late
def test_what_was_there_before_the_history(loaded, reports, name):
    snapshot, _, lines = loaded(name)
    report, _ = reports(name)
    before = pickle_truth.blocks_at_start(snapshot, 0)
    assert before, "the history is whole: nothing was tested"
    events = len([one for one in snapshot["device_traces"][0] if one["action"] in compare.KINDS])
    allocator = [line for line in lines if line["kind"] in compare.KINDS]
    start = allocator[:len(allocator) - events]
    assert {line["address"]: line["size"] for line in start if line["kind"] == "alloc"} == before
    assert sum(line["size"] for line in start if line["kind"].startswith("segment")) == \
        pickle_truth.reserved_at_start(snapshot, 0)
    assert report["run"]["snapshot"]["allocated_before_bytes"] > 0


def without_moments(value):
    """The part of a diagnosis that does not name events and times, of which a recording has more."""
    if isinstance(value, dict):
        return {key: without_moments(one) for key, one in value.items()
                if key not in ("event", "time_ns", "pid", "retry_ns", "collection_ns")}
    return [without_moments(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", snapshot_programs.SAME_FRAGMENTATION)
def test_fragmentation_is_that_of_the_recording(reports, name):
    for ours, recorded in zip(*(report["fragmentation"] for report in reports(name)), strict=True):
        assert ours["inexact"] is None and recorded["inexact"] is None
        for key in ("cause", "matters", "summary", "lower_bound_bytes", "lower_bound_active_bytes",
                    "peak_reserved_bytes", "at_peak"):
            assert without_moments(ours[key]) == without_moments(recorded[key]), key
        mine, its = ([{key: one[key] for key in ("frames", "bytes", "blocks", "block_bytes")}
                      for one in made["pinning_sites"]] for made in (ours, recorded))
        assert mine == its


def told(report: dict) -> set[tuple]:
    """The report on PyTorch's memory, without what needs the GPU's size, without categories, and
    without the number of steps, of which a recording misses the first where its agent comes late, and what they need more
    on average."""
    return {(one["subject"].split(":")[0],
             re.sub(r" over \d+ steps|, [\d.]+ \w+ on average", "", one["summary"].split(": out of memory")[0]))
            for one in report["verdicts"] if one["subject"].startswith(("device", "site"))}


@every_whole
def test_verdicts_are_those_of_the_recording(reports, loaded, name):
    ours, recorded = reports(name)
    assert told(ours) == told(recorded)
    marks = sum(one["name"].startswith("Optimizer.step#") and one["stage"] == "END"
                for one in loaded(name)[0]["external_annotations"])
    if marks == 0:
        assert ours["steps"]["count"] == recorded["steps"]["count"]
    elif name != "two_devices":  # where each optimizer steps on a device of its own
        assert ours["steps"]["count"] == marks
    if name == "leaking":
        assert any("accumulates" in text for _, text in told(ours))


def test_what_if_is_that_of_the_recording(taken):
    def table(kind: str) -> dict:
        target = taken / "replay.json"
        subprocess.run([runs.memtrace(), "replay", taken / f"varying.{kind}", "--json", target],
                       check=True, capture_output=True, env=runs.environment())
        device, = json.loads(target.read_text())["devices"]
        assert device["exactness"]["exact"] is True
        return {one["alloc_conf"]: one["peak_reserved_bytes"] for one in device["options"]}

    assert table("pickle") == table("mtrace")


def test_every_command_takes_one(taken, tmp_path):
    one, other = taken / "training.pickle", taken / "leaking.pickle"

    def run(*line) -> subprocess.CompletedProcess:
        return subprocess.run([runs.memtrace(), *map(str, line)], capture_output=True, text=True,
                              env=runs.environment(), cwd=tmp_path, check=False)

    text = run("report", one)
    assert text.returncode == 0 and "A PyTorch memory snapshot" in text.stdout
    assert "A snapshot does not tell: memory outside PyTorch" in text.stdout
    assert len(text.stdout.splitlines()) <= 36
    page = tmp_path / "page.html"
    assert run("report", one, "--html", page).returncode == 0 and page.stat().st_size > 100_000
    assert run("diff", one, other).returncode == 0
    assert run("check", one, "--max-peak", "1GiB").returncode == 0
    assert run("check", one, "--max-peak", "1MiB").returncode == 1
    before = sorted(os.listdir(taken))
    assert run("scrub", one).returncode != 0
    assert sorted(os.listdir(taken)) == before


def test_cpp_frames_are_not_the_programs(reports):
    report, recorded = reports("all_frames")
    assert report["run"]["snapshot"]["stacks"] == "all"
    assert report["run"]["snapshot"]["backward_known_by"] == "frames"
    sites = report["devices"][0]["at_peak"]["call_sites"]
    assert any(one["frames"] for one in sites) and all(frame["file"].endswith(".py") for one in sites for frame in one["frames"])
    for mine, its in zip(report["devices"][0]["phases"], recorded["devices"][0]["phases"]):
        if mine["phase"] == "backward":
            assert mine["allocated_bytes"] == its["allocated_bytes"]


def test_what_the_program_named(loaded):
    _, _, lines = loaded("named")
    named = [line for line in lines if line["kind"] == "storage"]
    assert [line["name"] for line in named] == ["keys and values"] * 4


def test_memory_that_a_program_names_is_what_it_was_without(reports, loaded, tmp_path):
    """Four tensors of 3 MiB have the name; it says nothing of what they are."""
    named, _ = reports("named")
    peak = named["devices"][0]["at_peak"]
    assert [one["name"] for one in peak["names"]] == ["keys and values"]
    assert sum(one["bytes"] for one in peak["names"]) == 4 * (3 << 20)
    snapshot = pickle.loads(pickle.dumps(loaded("named")[0]))
    for event in snapshot["device_traces"][0]:
        event["user_metadata"] = ""
    (tmp_path / "nameless.pickle").write_bytes(pickle.dumps(snapshot))
    nameless = runs.report([tmp_path / "nameless.pickle"], tmp_path)
    assert nameless["devices"][0]["at_peak"]["names"] == []
    assert nameless["devices"][0]["at_peak"]["categories"] == peak["categories"]
