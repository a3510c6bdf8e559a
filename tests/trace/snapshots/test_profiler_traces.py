# SPDX-License-Identifier: Apache-2.0
"""Traces of torch.profiler with memory events in place of a recording: beside what Python's json
reads in them, beside memory_stats, and beside what memtrace recorded of the same run."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

import recordings
import runs

HERE = Path(__file__).resolve().parent
NAMES = ["leaking", "bounded", "late"]
STEPS = 16
every = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="session")
def profiled(built, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("profiled")
    recordings.run_each(HERE / "profiled.py", NAMES, folder)
    return folder


@pytest.fixture(scope="session")
def reports(profiled):
    """The reports on the profiler's trace and on the recording."""
    return {name: tuple(runs.report([profiled / f"{name}.{kind}"], profiled)
                        for kind in ("json", "mtrace")) for name in NAMES}


def events_in(file: Path) -> list[dict]:
    """Events of CUDA's memory, by time."""
    found = [one for one in json.loads(file.read_text())["traceEvents"]
             if one["name"] == "[memory]" and one["args"]["Device Type"] == 1]
    return sorted(found, key=lambda one: one["ts"])


@every
def test_each_event_and_total_is_the_profilers(profiled, name):
    expected = events_in(profiled / f"{name}.json")
    lines = runs.dump(profiled / f"{name}.json")
    blocks = [one for one in lines if one["kind"].startswith("reported_")]
    totals = [one for one in lines if one["kind"] == "report"]
    seen, held = set(), []
    for one in expected:  # freed without having been allocated: was there before
        address = one["args"]["Addr"]
        if address not in seen and one["args"]["Bytes"] < 0:
            held.append((address, -one["args"]["Bytes"]))
        seen.add(address)
    assert len(held) == (2 if name == "late" else 0)
    start = len(held)
    assert [(one["address"], one["block"]) for one in blocks[:start]] == held
    assert len(expected) > 300 and len(blocks) == len(totals) == len(expected) + start
    for block, one in zip(blocks[start:], expected):
        told = one["args"]
        assert block["kind"] == ("reported_alloc" if told["Bytes"] > 0 else "reported_free")
        assert (block["address"], block["block"]) == (told["Addr"], abs(told["Bytes"]))
    for total, one in zip(totals[start:], expected):
        assert (total["allocated"], total["reserved"]) == (one["args"]["Total Allocated"],
                                                           one["args"]["Total Reserved"])


@every
def test_peaks_are_those_of_memory_stats_and_of_the_recording(profiled, reports, name):
    stats = json.loads((profiled / f"{name}.stats.json").read_text())
    ours, recorded = (report["devices"][0] for report in reports[name])
    assert ours["peak_allocated_bytes"] == stats["allocated_bytes.all.peak"]
    assert ours["peak_reserved_bytes"] == stats["reserved_bytes.all.peak"]
    if name != "late":
        assert ours["peak_allocated_bytes"] == recorded["peak_allocated_bytes"]
        assert ours["peak_reserved_bytes"] == recorded["peak_reserved_bytes"]


@every
def test_what_the_report_says_of_it(profiled, reports, name):
    report, _ = reports[name]
    facts = report["run"]["snapshot"]
    assert report["run"]["source"] == "profiler_trace"
    assert facts["history"] == ("late" if name == "late" else "whole")
    first = events_in(profiled / f"{name}.json")[0]["args"]
    assert facts["allocated_before_bytes"] == first["Total Allocated"] - first["Bytes"]
    assert facts["events_lead_to_segments"] is True
    assert facts["contradictions"] == facts["skipped_events"] == 0
    assert report["completeness"]["total_mismatches"] == report["completeness"]["unknown_frees"] == 0
    assert report["steps"]["count"] == STEPS


def grows(report: dict) -> bool:
    return any(one["subject"] == "device:0" and "accumulates" in one["summary"]
               for one in report["verdicts"])


@every
def test_it_grows_where_the_recording_does(reports, name):
    assert [grows(report) for report in reports[name]] == [name == "leaking"] * 2


def run(*line, cwd) -> subprocess.CompletedProcess:
    return subprocess.run([runs.memtrace(), *map(str, line)], capture_output=True, text=True,
                          env=runs.environment(), cwd=cwd, check=False)


def test_every_command_takes_one(profiled, tmp_path):
    one, other = profiled / "bounded.json", profiled / "leaking.json"
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(other.read_bytes()))
    assert run("dump", packed, cwd=tmp_path).stdout == run("dump", other, cwd=tmp_path).stdout
    text = run("report", packed, cwd=tmp_path)
    assert text.returncode == 0 and "A trace of PyTorch's profiler, not a recording" in text.stdout
    assert "A profiler's trace does not tell: lines" in text.stdout
    assert "each total that the profiler tells equal" in text.stdout
    late = run("report", profiled / "late.json", cwd=tmp_path)
    assert "were allocated already: peaks are those since" in late.stdout
    page = tmp_path / "page.html"
    assert run("report", one, "--html", page, cwd=tmp_path).returncode == 0
    assert page.stat().st_size > 100_000
    assert run("diff", one, other, cwd=tmp_path).returncode == 0
    assert run("check", one, "--no-leaks", cwd=tmp_path).returncode == 0
    assert run("check", other, "--no-leaks", cwd=tmp_path).returncode == 1
    assert run("check", one, "--max-peak", "1MiB", cwd=tmp_path).returncode == 1
    before = sorted(os.listdir(profiled))
    assert run("scrub", one, cwd=profiled).returncode != 0
    assert sorted(os.listdir(profiled)) == before


def test_what_cannot_be_read_is_refused_in_a_sentence(profiled, tmp_path):
    whole = (profiled / "leaking.json").read_bytes()
    stripped = json.loads(whole)
    stripped["traceEvents"] = [one for one in stripped["traceEvents"] if one["name"] != "[memory]"]
    bad = {
        "timeline.json.gz": ((profiled / "leaking.timeline.json.gz").read_bytes(),
                             "is a memory timeline of PyTorch's profiler"),
        "cut.json": (whole[:len(whole) // 2], "is JSON that is cut off"),
        "cut.json.gz": (gzip.compress(whole)[:20000], "is JSON that is cut off"),
        "without.json": (json.dumps(stripped).encode(), "without memory events"),
        "other.json": (b'{"weights": [1, 2]}', "is JSON, but no trace"),
    }
    for name, (content, expected) in bad.items():
        (tmp_path / name).write_bytes(content)
        for command in ("report", "dump"):
            said = run(command, name, cwd=tmp_path)
            assert said.returncode == 2 and said.stdout == ""
            assert expected in said.stderr and len(said.stderr.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == sorted(bad)
