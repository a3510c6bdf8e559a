# SPDX-License-Identifier: Apache-2.0
"""A killed process leaves a trace with everything that had been done when it died."""

import os
import signal
import struct
import time

import pytest

import runs
from pairs import counted, events, script

pytestmark = pytest.mark.usefixtures("built")


def acknowledged(file) -> tuple[int, int, int]:
    """Process id, completed allocations and frees; zeros before the program's first word."""
    data = file.read_bytes() if file.exists() else b""
    return struct.unpack("<qqq", data) if len(data) == 24 else (0, 0, 0)


def killed_after(events_wanted: int, number: int, folder) -> tuple[runs.Outcome, tuple]:
    file = folder / "acknowledged"
    process = runs.start(script("acknowledges", str(file)), folder / "trace")
    until = time.monotonic() + 240
    while acknowledged(file)[1] < events_wanted and process.poll() is None:
        assert time.monotonic() < until, "the program does not get on"
        time.sleep(0.01)
    pid = acknowledged(file)[0]
    if process.poll() is None:
        os.kill(pid, number)
    return runs.finish(process, folder / "trace", 60), acknowledged(file)


@pytest.mark.parametrize(("number", "wanted"), [
    (signal.SIGKILL, 50), (signal.SIGKILL, 3000), (signal.SIGTERM, 1000),
])
def test_a_kill_loses_nothing(number, wanted, tmp_path):
    outcome, (pid, allocated, freed) = killed_after(wanted, number, tmp_path)
    assert outcome.status in (-number, 128 + number), outcome.stderr
    assert pid > 0 and allocated >= wanted
    assert len(outcome.traces) == 1
    lines = events(outcome.traces[0])
    assert counted(lines, "alloc") >= allocated
    assert counted(lines, "free_requested") >= freed
    with_totals = [line for line in lines
                   if line["kind"] in ("alloc", "free_requested") and "allocated" in line]
    assert len(with_totals) >= wanted // 2
    for line in with_totals:
        assert line["allocated"] == line["replayed_allocated"]
    report = runs.report(outcome.traces, tmp_path)
    assert report["completeness"]["clean_exit"] is False
    assert report["completeness"]["dropped_events"] == 0
