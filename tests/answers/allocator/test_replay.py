# SPDX-License-Identifier: Apache-2.0
"""memtrace replay: figures of a recorded run, documents by replay.schema.json, bad input in one
sentence. Whether predictions come true: what_if/."""

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import runs

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "what_if"))

import predictions  # noqa: E402

SCHEMA = json.loads((runs.ROOT / "analyzer/show/what_if/replay.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
RECORDED = predictions.Case("variable_lengths", "max split 32")


@pytest.fixture(scope="module")
def recording(built, tmp_path_factory) -> tuple[Path, dict]:
    """The trace, and PyTorch's own statistics."""
    folder = tmp_path_factory.mktemp("replay")
    seen = predictions.perform([RECORDED], folder)
    return folder / f"{RECORDED.name}.mtrace", seen[RECORDED.name]


def replay(*arguments) -> subprocess.CompletedProcess:
    return runs.memtrace_says("replay", *arguments)


def document(*arguments) -> dict:
    return runs.document(VALIDATOR, "replay", *arguments)


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_recorded_options_are_the_first_row_and_exact(recording):
    trace, seen = recording
    made = document(trace)
    first = made["options"][0]
    assert first["recorded"] and first["alloc_conf"] == "max_split_size_mb:32"
    assert first["exact"] and made["devices"][0]["exactness"]["first_difference"] is None
    assert first["peak_reserved_bytes"] == seen["reserved_bytes.all.peak"]
    assert first["peak_allocated_bytes"] == seen["allocated_bytes.all.peak"]
    assert first["peak_active_bytes"] == seen["active_bytes.all.peak"]
    assert first["retries"] == seen["num_alloc_retries"]
    assert first["driver_calls_by_kind"]["allocations"] == seen["num_device_alloc"]
    assert first["driver_calls_by_kind"]["frees"] == seen["num_device_free"]
    # The usual options beside: other rows, none of them recorded, none twice.
    texts = [option["alloc_conf"] for option in made["options"]]
    assert "expandable_segments:True" in texts and len(set(texts)) == len(texts)
    assert sum(option["recorded"] for option in made["options"]) == 1


def test_what_was_asked_for_is_at_the_top(recording):
    trace, _ = recording
    made = document(trace, "--alloc-conf", "expandable_segments:True", "--alloc-conf", "")
    assert [option["alloc_conf"] for option in made["options"]] == [
        "max_split_size_mb:32", "expandable_segments:True", ""]
    assert made["alloc_conf"] == "expandable_segments:True" and not made["recorded"]
    assert document(trace, "--alloc-conf", "max_split_size_mb:32")["recorded"]


def test_another_gpu(recording):
    trace, _ = recording
    here = document(trace, "--alloc-conf", "expandable_segments:True")
    outside = here["devices"][0]["outside_bytes"]
    there = document(trace, "--alloc-conf", "expandable_segments:True", "--gpu", "h100-80")
    assert there["devices"][0]["total_bytes"] > 79 << 30
    assert there["capacity_bytes"] == there["devices"][0]["total_bytes"] - outside
    assert there["oom"] is None and there["peak_reserved_bytes"] == here["peak_reserved_bytes"]


def test_out_of_memory_is_told_with_its_line(recording):
    trace, _ = recording
    made = document(trace, "--memory", "1GiB")
    assert made["oom"]["requested_bytes"] > 0
    assert any("workloads.py" in frame["file"] for frame in made["oom"]["frames"])
    assert made["smallest_fit"]["capacity_bytes"] > made["capacity_bytes"]
    printed = replay(trace, "--memory", "1GiB")
    assert printed.returncode == 0 and "out of memory at event" in printed.stdout
    assert "\x1b" not in printed.stdout


def test_the_smallest_fit_fits(recording):
    trace, _ = recording
    made = document(trace, "--alloc-conf", "expandable_segments:True")
    smallest = made["smallest_fit"]["capacity_bytes"] + made["devices"][0]["outside_bytes"]
    assert document(trace, "--alloc-conf", "expandable_segments:True", "--memory",
                    f"{smallest}B")["oom"] is None


BAD_OPTIONS = [
    ("max_split_size_mb:19", "CachingAllocator option max_split_size_mb too small, must be >= 20"),
    ("foo:1", "Unrecognized key 'foo' in CUDA allocator config."),
    ("backend:cudaMallocAsync", "whose rules are not public"),
]


@pytest.mark.parametrize("text, words", BAD_OPTIONS)
def test_refused_options(recording, text, words):
    done = replay(recording[0], "--alloc-conf", text)
    assert done.returncode == 1 and done.stdout == ""
    assert words in done.stderr and len(done.stderr.splitlines()) == 1


def test_what_does_not_fit_is_said_first(recording):
    printed = replay(recording[0], "--memory", "1GiB").stdout.splitlines()
    assert re.fullmatch(r"does not fit 1GiB \(needs [\d.]+ [GM]iB of 1 GiB\)(; with \S+ it does)?", printed[0])
    assert printed[1] == "" and str(recording[0]) in printed[2]
    assert not replay(recording[0], "--gpu", "h200").stdout.startswith(("does", "with some"))


@pytest.mark.parametrize("arguments, status, words", [
    (["--gpu", "rtx309"], 2, "rtx3090"),
    (["--memory", "lots"], 2, "with its unit, such as --memory 24GiB"),
    (["--memory", "1GiB", "--gpu", "h100-80"], 2, "not both"),
])
def test_bad_devices(recording, arguments, status, words):
    done = replay(recording[0], *arguments)
    assert done.returncode == status and words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_bad_traces(examples, tmp_path):
    done = replay()
    assert done.returncode == 2 and "name a trace" in done.stderr
    done = replay(examples / "no_gpu_memory.mtrace")
    assert done.returncode == 1 and "holds no allocation on a GPU" in done.stderr
    done = replay(tmp_path / "missing.mtrace")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    damaged = tmp_path / "damaged.mtrace"
    damaged.write_bytes(b"\x00" * 4096)
    done = replay(damaged)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1


def test_traces_made_by_hand_do_not_crash(examples):
    replayed = set()
    for trace in sorted(examples.glob("*.mtrace")):
        done = replay(trace, "--json", "-")
        assert done.returncode in (0, 1), (trace, done.stderr)
        if done.returncode == 0:
            VALIDATOR.validate(json.loads(done.stdout))
            replayed.add(trace.stem)
    assert {"clean", "named", "out_of_memory"} <= replayed
