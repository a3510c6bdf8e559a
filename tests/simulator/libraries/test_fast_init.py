# SPDX-License-Identifier: Apache-2.0
"""dry-run --fast-init: the values of large weights on the host are left out, and nothing else is another."""
import subprocess
from pathlib import Path

import pytest

import recordings
import runs

PROGRAM = Path(__file__).resolve().parent / "programs" / "initialised.py"
# Orders that come from hashed strings are the same in both runs, or frees within a call may change places.
SETTLED = {"PYTHONHASHSEED": "0"}
# The program's requests to the device, and answers. The others depend on when the agent had time to look, or on time.
EVENTS = ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap",
          "oom", "cuda_call", "saved", "step", "phase")
BESIDE = ("n", "t_ns", "thread", "scope", "module", "root")


@pytest.fixture(scope="module")
def both(built, tmp_path_factory):
    """Outcomes without and with it."""
    outcomes = []
    for value in ("0", "1"):
        folder = tmp_path_factory.mktemp(f"fast_init_{value}")
        environment = {**SETTLED, "MEMTRACE_SIM_FAST_INIT": value}
        outcomes.append(recordings.run([runs.python(), PROGRAM], folder, env=environment, cold=True).expect(0))
    return outcomes


def lines(outcome):
    return dict(line.split(" ", 1) for line in outcome.stdout.decode().splitlines())


def events(outcome):
    trace, = outcome.traces
    return [{key: value for key, value in event.items() if key not in BESIDE}
            for event in runs.dump(trace, stacks=False) if event["kind"] in EVENTS]


def test_large_weights_are_zeros_and_take_no_memory(both):
    real, fast = map(lines, both)
    assert all(float(value) > 0 for value in real["LARGE"].split())
    assert len(real["LARGE"].split()) == 11
    assert [float(value) for value in fast["LARGE"].split()] == [0.0] * 11
    # 50 million parameters in 4 bytes, and a copy of them in 2: 300 MiB.
    assert int(real["HOST"]) > 250
    assert int(fast["HOST"]) < int(real["HOST"]) / 4


def test_what_else_a_program_sees_is_the_same(both):
    real, fast = map(lines, both)
    assert set(real) >= {"numbers", "made", "small", "stats"}
    for name in ("numbers", "made", "small", "stats"):
        assert real[name] == fast[name]


def test_the_device_gets_the_same_requests_in_the_same_order(both):
    real, fast = map(events, both)
    assert sum(event["kind"] == "alloc" for event in real) > 300
    assert real == fast


def test_the_option_is_the_variable(built):
    command = [str(runs.memtrace()), "dry-run", "--bare", "--fast-init", "--", runs.python(), "-c",
               "import torch; print(torch.nn.Linear(1024, 1024).weight.abs().max().item())"]
    done = subprocess.run(command, capture_output=True, text=True, env=runs.environment(), timeout=300)
    assert done.stdout == "0.0\n", done.stderr
