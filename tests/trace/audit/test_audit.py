# SPDX-License-Identifier: Apache-2.0
"""MEMTRACE_CUPTI=1 and memtrace audit on the simulated CUPTI: what both saw, what one missed, and
that a profiler of the program finds CUPTI as if memtrace were not there."""

import json
import subprocess
from pathlib import Path

import jsonschema
import pytest

import programs
import recordings
import runs

CALLS_CUDA = Path(__file__).resolve().parent / "programs" / "calls_cuda.py"
SCHEMA = json.loads((runs.ROOT / "analyzer/show/audit/audit.schema.json").read_text())
WITNESS = {"MEMTRACE_CUPTI": "1"}

pytestmark = pytest.mark.usefixtures("built")


def run(program: str, output: Path | None, *arguments, env=WITNESS, status=0) -> runs.Outcome:
    path = CALLS_CUDA if program == "calls_cuda" else programs.path(program)
    return recordings.run([runs.python(), path, *arguments], output, env=env, cold=True).expect(status)


def audit(folder: Path, status: int) -> dict:
    line = [str(runs.memtrace()), "audit", str(folder), "--json", "-"]
    done = subprocess.run(line, capture_output=True, env=runs.environment(), check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    return document["traces"][0]


def text_of(folder: Path) -> str:
    return subprocess.run([str(runs.memtrace()), "audit", str(folder)], capture_output=True,
                          text=True, env=runs.environment(), check=False).stdout


def test_both_see_what_four_threads_allocate(tmp_path):
    run("calls_cuda", tmp_path)
    found = audit(tmp_path, 0)
    assert found["verdict"] == "same"
    # Four threads make 200 each, and one of unified memory.
    assert found["both"]["allocations"] == found["hooks"]["allocations"] == 801
    assert found["both"]["releases"] == found["cupti"]["releases"] == 801
    assert found["hooks"] == found["cupti"]
    assert found["not_compared"]["outside"] == found["not_compared"]["at_the_edge"] == 0
    assert found["witness"]["lost_records"] == found["witness"]["unreadable_records"] == 0
    device, = found["devices"]
    assert device["migrated_to_device_bytes"] == 4 << 20
    assert "same: both saw the same" in text_of(tmp_path)


def test_what_no_hook_can_see_is_named(tmp_path):
    outcome = run("calls_cuda", tmp_path, "unseen")
    found = audit(tmp_path, 3)
    hidden, = found["missed_by_hooks"]
    assert hidden["address"] == int(outcome.stdout)
    assert hidden["bytes"] == 12345
    assert hidden["kind"] == "device"
    assert found["missed_by_cupti"] == found["other_size"] == []
    assert found["both"]["allocations"] == 801
    assert "missed by memtrace: 1" in text_of(tmp_path)


def test_a_killed_program_is_judged_as_far_as_records_came(tmp_path):
    run("calls_cuda", tmp_path, "killed", status=-9)
    found = audit(tmp_path, 0)
    assert not found["witness"]["ended"]
    assert found["both"]["allocations"] >= 800


def test_without_the_variable_there_is_no_witness(tmp_path):
    outcome = run("calls_cuda", tmp_path, env={})
    assert not [one for one in runs.dump(outcome.traces[0]) if one.get("operation") == "witness"]
    found = audit(tmp_path, 4)
    assert found["verdict"] == "no_witness"
    assert found["witness"]["reason"] is None


def test_another_profiler_that_was_there_first_keeps_cupti(tmp_path):
    outcome = run("calls_cuda", tmp_path, "profiled_first")
    assert outcome.stderr.count(b"another profiler holds CUPTI") == 1
    found = audit(tmp_path, 4)
    assert found["witness"]["reason"] == "another profiler holds CUPTI"
    assert runs.report(outcome.traces, tmp_path)["completeness"]["dropped_events"] == 0


def test_a_scrubbed_trace_is_audited_alike(tmp_path):
    run("calls_cuda", tmp_path, "unseen")
    copies = tmp_path / "copies"
    subprocess.run([str(runs.memtrace()), "scrub", str(tmp_path), "--output", str(copies)],
                   check=True, capture_output=True, env=runs.environment())
    original, copy = audit(tmp_path, 3), audit(copies, 3)
    for part in ("both", "hooks", "cupti", "witness", "missed_by_hooks", "devices"):
        assert copy[part] == original[part]


@pytest.mark.parametrize("settings, verdict", [
    ("backend:cudaMallocAsync", "same"),
    # Mapped memory is none of CUPTI's kinds: that nothing was compared is no agreement.
    ("expandable_segments:True", "nothing_compared"),
])
def test_pytorchs_other_allocators(tmp_path, settings, verdict):
    outcome = run("profiled_training", tmp_path, env={**WITNESS, "PYTORCH_CUDA_ALLOC_CONF": settings})
    found = audit(tmp_path, {"same": 0, "nothing_compared": 4}[verdict])
    assert found["verdict"] == verdict
    if verdict == "same":
        assert found["both"]["allocations"] >= 200
    else:
        mapped, = [one for one in found["not_compared"]["only_hooks"] if "cuMemMap" in one["what"]]
        assert mapped["count"] >= 1
    device, = runs.report(outcome.traces, tmp_path)["devices"]
    assert device["activity"]["kernels"] == found["devices"][0]["kernels"] >= 200
    assert device["activity"]["busy_ns"] == found["devices"][0]["busy_ns"]
    assert "as CUPTI says" in runs.report_text(outcome.traces)


def test_paged_optimizer_states_move_to_the_device_once(tmp_path):
    outcome = run("paged_optimizer", tmp_path)
    device, = audit(tmp_path, 0)["devices"]
    assert device["migrated_to_device_bytes"] == int(outcome.stdout)
    assert device["migrated_to_host_bytes"] == 0


def test_training_is_seen_by_both_until_torch_profiler_comes(tmp_path):
    """The profiler shows the same with memtrace, with a second witness, and without both."""
    bare = run("profiled_training", None, "profile", env={})
    assert bare.stdout.startswith(b"kernels ")
    assert int(bare.stdout.split()[1]) >= 20
    outcome = run("profiled_training", tmp_path, "profile")
    assert outcome.stdout == bare.stdout
    assert outcome.stderr.count(b"another profiler of the program has taken CUPTI") == 1
    found = audit(tmp_path, 0)
    assert found["witness"]["reason"] == "another profiler of the program has taken CUPTI"
    assert found["both"]["allocations"] >= 3
    assert found["both"]["releases"] >= 1
    # Later events are not compared.
    assert found["not_compared"]["outside"] >= 1
    device, = found["devices"]
    assert device["kernels"] >= 200
    assert 0 < device["busy_ns"] <= found["witness"]["listened_ns"]
