# SPDX-License-Identifier: Apache-2.0
"""Who holds a device: what the driver says is in use is the sum of the report's parts, and on the
simulated GPU nothing is left unexplained (runs.report checks that of every report of the tests)."""

import sys
from pathlib import Path

import pytest

import programs
import recordings
import runs

PROGRAMS = Path(__file__).parent / "programs"
MIB = 1 << 20
CONTEXT = 256 * MIB  # of the simulated driver (simulator/constants.def)

# By kind of memory, what the parts must be: bytes as the program asked for them. Calls by ctypes
# come from libffi.
EXPECTED = {
    "plain": {"calls": 512 + MIB - 1 + 3 * MIB + 700 + 7 * MIB, "context": CONTEXT,
              # Two small ones and 1 MiB - 1 share pages; 3 and 7 MiB have 4 and 8.
              "rounding": 2 * MIB - 512 - (MIB - 1) - 700 + MIB + MIB},
    "virtual": {"calls": 24 * MIB, "context": CONTEXT},
    # The pools reserve 32 MiB at a time: 64 for 40 (3 of them free), 160 for 140.
    "pools": {"calls": 180 * MIB, "context": CONTEXT, "pools_unused": 44 * MIB},
    "contexts": {"calls": 66 * MIB, "context": 2 * CONTEXT},
    "refused": {"calls": 46 * MIB, "context": CONTEXT},
    "reset": {"calls": 120 * MIB, "context": CONTEXT},
    # Blocks of 8 and 16 MiB, and a small one that has a page.
    "arrays": {"calls": 24 * MIB + 1024, "context": CONTEXT, "rounding": 2 * MIB - 1024},
    "managed": {"calls": 2 * MIB, "context": CONTEXT},
}


def parts_of(device: dict) -> dict[str, int]:
    """By name; calls of libraries and the program together."""
    parts: dict[str, int] = {}
    for one in device["used"]["parts"]:
        is_call = one["part"] == "program" or one["part"].startswith("library:")
        name = "calls" if is_call else one["part"]
        parts[name] = parts.get(name, 0) + one["bytes"]
    return parts


def run(folder: Path, program: str, *arguments: str, **machine) -> tuple[list[int], list[dict]]:
    """The lines that the program printed, and the devices of the report."""
    command = [sys.executable, PROGRAMS / program] if program.endswith(".py") else [runs.python(), programs.path(program)]
    outcome = recordings.run([*command, *arguments], folder, **machine).expect(0)
    return [int(line) for line in outcome.stdout.split()], runs.report(outcome.traces, folder)["devices"]


@pytest.mark.parametrize("kind", EXPECTED)
def test_each_kind_of_memory(built, tmp_path, kind):
    (said,), (device,) = run(tmp_path, "kinds.py", kind)
    assert device["used"]["used_bytes"] == said
    assert parts_of(device) == EXPECTED[kind]
    assert device["unexplained_bytes"] == 0


def test_other_processes_are_told_apart(built, tmp_path):
    (said,), devices = run(tmp_path, "two_processes.py")
    by_use = sorted(devices, key=lambda device: -device["used"]["used_bytes"])
    assert by_use[0]["used"]["used_bytes"] == said
    assert parts_of(by_use[0]) == {"calls": 100 * MIB, "context": CONTEXT,
                                   "other_processes": 300 * MIB + CONTEXT}
    assert all(device["unexplained_bytes"] == 0 for device in devices)


def check_training(devices: list[dict], said: list[int]) -> None:
    assert len(devices) == len(said)
    for device, last in zip(sorted(devices, key=lambda one: one["index"]), said):
        assert device["unexplained_bytes"] == 0
        assert device["used"]["used_bytes"] >= last
        parts = parts_of(device)
        assert parts["context"] == CONTEXT
        assert parts["pytorch_allocated"] > 0


def test_training_on_two_devices(built, tmp_path):
    said, devices = run(tmp_path, "every_device", devices=2)
    check_training(devices, said)


@pytest.mark.slow
def test_training_with_pools_of_cuda(built, tmp_path):
    said, devices = run(tmp_path, "every_device", devices=2,
                        env={"PYTORCH_ALLOC_CONF": "backend:cudaMallocAsync"})
    check_training(devices, said)
    assert parts_of(devices[0])["pools_unused"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("program", sorted(programs.having("each_setting")))
def test_training_programs(built, tmp_path, program):
    """out_of_memory.py, too, has nothing unexplained, in tests of its own."""
    arguments = [] if program == "mt5_trainer" else ["--steps", "3"]
    outcome = recordings.run([runs.python(), programs.path(program), *arguments], tmp_path)
    devices = runs.report(outcome.expect(0).traces, tmp_path)["devices"]
    assert len(devices) == 1
    for device in devices:
        assert device["used"] is not None
        assert device["unexplained_bytes"] == 0
