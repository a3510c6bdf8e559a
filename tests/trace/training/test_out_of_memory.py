# SPDX-License-Identifier: Apache-2.0
"""A run out of memory raises PyTorch's own error, and the report agrees with its message."""

import re

import pytest

import programs
import recordings
import runs

UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
SIZE = r"([\d.]+) (bytes|KiB|MiB|GiB)"
PROGRAM = programs.path("out_of_memory")
PARTS = {
    "requested": rf"Tried to allocate {SIZE}\.",
    "capacity": rf"total capacity of {SIZE}",
    "free": rf"of which {SIZE} is free",
    "in_use": rf"this process has {SIZE} memory in use",
    "allocated": rf"Of the allocated memory {SIZE} is allocated by PyTorch",
    "unallocated": rf"{SIZE} is reserved by PyTorch but unallocated",
}


def numbers(message: str) -> dict[str, tuple[float, int]]:
    """Each number of the message as it was printed, with its unit in bytes."""
    found = {}
    for name, pattern in PARTS.items():
        match = re.search(pattern, message)
        assert match, f"PyTorch's message has no {name}: {message}"
        found[name] = float(match.group(1)), UNITS[match.group(2)]
    return found


def as_printed(bytes_: int, unit: int) -> float:
    return bytes_ if unit == 1 else round(bytes_ / unit, 2)


def segment_for(request: int) -> int:
    """The size that PyTorch asks the driver for, and names in its message: 2 MiB for small requests, 20 MiB
    below 10 MiB, else whole 2 MiB."""
    if request <= 1 << 20:
        return 2 << 20
    if request < 10 << 20:
        return 20 << 20
    return -(-request // (2 << 20)) * (2 << 20)


def line_that_holds_memory() -> int:
    for number, text in enumerate(PROGRAM.read_text().splitlines(), 1):
        if "the line that the report has to name" in text:
            return number
    raise AssertionError


@pytest.mark.parametrize("setting", ["", "expandable_segments:True",
                                     pytest.param("max_split_size_mb:32", marks=pytest.mark.slow)])
@pytest.mark.parametrize("caught", [True, False], ids=["caught", "uncaught"])
def test_report_agrees_with_pytorchs_message(caught, setting, built, tmp_path):
    machine = {} if runs.on_real_gpu() else {"memory": "3GiB"}
    outcome = recordings.run(
        [runs.python(), PROGRAM, *(["--caught"] if caught else [])], tmp_path / "trace",
        env={"PYTORCH_CUDA_ALLOC_CONF": setting} if setting else {}, **machine,
    ).expect(0 if caught else 1)
    message = outcome.stdout.decode()
    assert message.startswith("CUDA out of memory. Tried to allocate")
    if not caught:
        assert b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate" in outcome.stderr
    assert ("went on" in message) is caught

    said = numbers(message)
    report = runs.report(outcome.traces, tmp_path)
    assert len(report["oom"]) == 1
    oom = report["oom"][0]
    sums = {
        "requested": segment_for(oom["requested_bytes"]),
        "capacity": oom["capacity_bytes"],
        "free": oom["free_bytes"],
        "in_use": oom["capacity_bytes"] - oom["free_bytes"],  # no other process uses the GPU
        "allocated": oom["allocated_bytes"],
        "unallocated": oom["reserved_bytes"] - oom["allocated_bytes"],
    }
    for name, (printed, unit) in said.items():
        assert as_printed(sums[name], unit) == pytest.approx(printed, abs=0.0051), name
    file, line = re.search(r"raised in (.*):(\d+)", message).groups()
    assert (oom["frames"][0]["file"], oom["frames"][0]["line"]) == (file, int(line))
    assert oom["caught"] is caught

    text = runs.report_text(outcome.traces)
    (line,) = [line for line in text.splitlines() if "tried to allocate" in line]
    size, unit = re.search(r"Tried to allocate ([\d.]+) (\w+)", message).groups()
    assert f"message says {float(size):g} {unit}," in line or f"tried to allocate {float(size):g} {unit} " in line


def test_report_names_the_line_and_the_holder(built, tmp_path):
    outcome = recordings.run([runs.python(), PROGRAM, "--caught"], tmp_path / "trace",
                             **({} if runs.on_real_gpu() else {"memory": "3GiB"})).expect(0)
    oom = runs.report(outcome.traces, tmp_path)["oom"][0]
    kept = int(re.search(rb"kept (\d+)", outcome.stdout).group(1))
    assert any(frame["user"] and frame["file"] == str(outcome.ran(PROGRAM)) for frame in oom["frames"])
    holder = oom["holders"][0]
    assert [frame for frame in holder["frames"] if frame["user"]][0]["line"] == (
        line_that_holds_memory()
    )
    assert holder["blocks"] == kept
    # Each kept tensor is nine times the logits of its step, in blocks of 512 bytes or more.
    assert holder["bytes"] >= sum(9 * (700 + step) * 1000 * 4 for step in range(kept))
