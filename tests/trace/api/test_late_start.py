# SPDX-License-Identifier: Apache-2.0
"""memtrace.start() in a process that was started without the library: what was there before is PyTorch's own
snapshot, what follows is what a recording from the beginning has of it."""

import json

import pytest

import environments
import records
import runs

pytestmark = pytest.mark.usefixtures("built")
VARIABLES = {"PYTHONPATH": str(runs.ROOT / "python"), "MEMTRACE_COMMAND": str(runs.memtrace())}
EVENTS = ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_map", "segment_free")


def run(folder, *arguments, traced=False, env=None, python=None):
    """What the program says, the lines of its trace, and its report."""
    folder.mkdir()
    output = folder / "traces"
    done = runs.run([python or runs.python(), records.PROGRAMS / "late_start.py", "--output", output, *arguments],
                    output if traced else None, env={**VARIABLES, **(env or {})})
    traces = runs.traces_in(output)
    said = json.loads(done.expect(0).stdout)
    trace, = traces
    assert said.get("stopped", str(trace)) == str(trace)
    return said, runs.dump(trace), runs.report(traces, folder)


def after_start(lines):
    begin = next(i for i, line in enumerate(lines) if line["kind"] == "counter" and line["name"] == "from here on")
    return [(line["kind"], line["address"], line["size"],
             [(frame["line"], frame["function"]) for frame in line.get("stack", ())])
            for line in lines[begin:] if line["kind"] in EVENTS]


def called_by_name(lines):
    """The last thing that the program does: a function of CUDA that it looks up by name."""
    return any(line["kind"] == "cuda_call" and line["api"] == "cudaMalloc" and line["size"] == 3 << 20 for line in lines)


def check_late(said, lines, report):
    there = [line for line in lines if [frame["file"] for frame in line.get("stack", ())] == ["<before the recording>"]]
    held = [[line["device"], line["address"], line["size"]] for line in there if line["kind"] == "alloc"]
    assert sorted(held) == sorted(said["found"]) and len(held) > 10
    assert report["completeness"]["allocated_before_bytes"] == sum(
        (size + 511) // 512 * 512 for _, _, size in said["found"])
    assert sum(line["kind"] == "alloc" for line in lines) - len(held) == said["allocations"]
    device, = report["devices"]
    assert device["peak_allocated_bytes"] == said["peak"]
    assert report["completeness"]["total_mismatches"] == report["completeness"]["unknown_frees"] == 0
    assert report["steps"]["count"] == 24 and called_by_name(lines)
    parts = {one["category"]: one["bytes"] for one in device["at_peak"]["categories"]}
    weights = sum(parameter for parameter in (256 * 1024, 1024, 1024 * 256, 256)) * 4
    assert parts["weights"] == weights and parts["optimizer_states"] >= 2 * weights
    assert 0 < parts["gradients"] <= weights
    assert report["headline"]["text"].startswith("LEAKS · 1 MiB a step at late_start.py:32 · kept by `kept`")


def test_a_training_that_runs_already(tmp_path):
    said, lines, report = run(tmp_path / "late")
    assert said["active"]
    check_late(said, lines, report)


def test_its_events_are_those_of_a_recording_from_the_beginning(tmp_path):
    _, late, _ = run(tmp_path / "late")
    _, whole, _ = run(tmp_path / "whole", traced=True)
    assert after_start(late) == after_start(whole)
    assert len(after_start(late)) > 1000


@pytest.mark.parametrize("setting", ["expandable_segments:True", "backend:cudaMallocAsync"])
def test_under_other_settings(setting, tmp_path):
    said, lines, report = run(tmp_path / "late", env={"PYTORCH_CUDA_ALLOC_CONF": setting})
    assert said["active"] and report["completeness"]["total_mismatches"] == 0
    assert report["steps"]["count"] == 24
    assert report["completeness"]["allocated_before_bytes"] > 8 << 20
    assert report["headline"]["text"].startswith("LEAKS · 1 MiB a step at late_start.py:32 · kept by `kept`")


def test_before_the_gpu_is_used(tmp_path):
    said, lines, report = run(tmp_path / "late", "--before", "0")
    assert said["path"] is None and said["found"] == []
    assert sum(line["kind"] == "alloc" for line in lines) == said["allocations"]
    assert report["devices"][0]["peak_allocated_bytes"] == said["peak"]
    assert report["steps"]["count"] == 24
    assert report["completeness"]["allocated_before_bytes"] is None


def test_before_pytorch_is_imported(tmp_path):
    said, lines, report = run(tmp_path / "late", "--first")
    assert said["active"] and report["completeness"]["allocated_before_bytes"] is None
    assert report["steps"]["count"] == 30 and report["completeness"]["total_mismatches"] == 0
    assert report["headline"]["text"].startswith("LEAKS · 1 MiB a step at late_start.py:")
    assert called_by_name(lines)


def test_stop_ends_it_for_good(tmp_path):
    said, lines, report = run(tmp_path / "late", "--stop")
    check_late(said, lines, report)
    assert report["completeness"]["clean_exit"]
    assert "cannot be recorded again" in said["again"] and not said["active_at_the_end"]


@pytest.mark.parametrize("setting", [{"MEMTRACE_DISABLE": "1"}, {"MEMTRACE_DEEP_BINDING": "0"}], ids=str)
def test_where_it_may_not_it_says_so(setting, tmp_path):
    failed = runs.run([runs.python(), records.PROGRAMS / "late_start.py"], None, env={**VARIABLES, **setting})
    assert failed.status == 1 and b"RuntimeError: nothing is recorded: MEMTRACE_DISABLE" in failed.stderr


def test_a_process_that_is_recorded_goes_on_as_it_is(tmp_path):
    said, _, report = run(tmp_path / "whole", traced=True)
    assert said["path"] and report["completeness"]["allocated_before_bytes"] is None
    assert report["steps"]["count"] == 30


@pytest.mark.slow
@pytest.mark.parametrize("version", [environments.Version("2.11.0", python) for python in ("3.10", "3.12", "3.13", "3.14")]
                         + [environments.Version("2.15.0", "3.15")], ids=lambda version: version.name)
def test_under_other_pythons(version, tmp_path):
    try:
        python = environments.installed(version)
    except environments.Unavailable as why:
        pytest.skip(str(why))
    check_late(*run(tmp_path / "late", python=python))
