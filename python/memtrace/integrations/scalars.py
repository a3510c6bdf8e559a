# SPDX-License-Identifier: Apache-2.0
"""Up to four numbers about the running process, for a tracker's curves."""

from __future__ import annotations

import time

import memtrace
from memtrace.integrations._quiet import quietly

PEAK_ALLOCATED = "memtrace/peak_allocated_bytes"
PEAK_RESERVED = "memtrace/peak_reserved_bytes"
GROWTH = "memtrace/growth_bytes_per_step"
STEPS_TO_OOM = "memtrace/steps_to_oom"

EVERY_S = 60.0


@quietly("reading the recording", dict)
def scalars(report=None) -> dict:
    """The numbers, by names that stay; of the device with the largest peak where there are several.

    Without a report, that of the running process as it is now: the recording is read for it, which
    takes longer the longer the recording is. Empty where memtrace does not record.
    """
    if report is None:
        report = memtrace.report() if memtrace.is_active() else None
    if report is None:
        return {}
    content = report.as_dict()
    devices = content["devices"]
    if not devices:
        return {}
    fullest = max(devices, key=lambda device: device["peak_allocated_bytes"])
    found = {PEAK_ALLOCATED: fullest["peak_allocated_bytes"], PEAK_RESERVED: fullest["peak_reserved_bytes"]}
    for verdict in content["verdicts"]:
        if verdict["subject"] == f"device:{fullest['index']}" and verdict["pid"] == fullest["pid"]:
            found[GROWTH] = verdict["bytes_per_step"]
            found[STEPS_TO_OOM] = verdict["steps_to_oom"]
    return {name: value for name, value in found.items() if value is not None}


class Pace:
    """Says when it is time to read the recording again: every so many seconds, and not at once."""

    def __init__(self, every_s: float):
        self._every_s = every_s
        self._next = time.monotonic() + every_s

    def is_due(self) -> bool:
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + self._every_s
        return True

    def put_off(self) -> None:
        """A reading has just ended: the time that it took itself does not count."""
        self._next = time.monotonic() + self._every_s


class PhaseStack:
    """The phases that callbacks open and close at different events; memtrace's own must pair."""

    def __init__(self):
        self._open = []

    def begin(self, name: str) -> None:
        entered = memtrace.phase(name)
        entered.__enter__()
        self._open.append((name, entered))

    def innermost(self):
        return self._open[-1][0] if self._open else None

    def end(self, name: str) -> None:
        """Ends the phase and those inside it; nothing where it is not open."""
        if name not in [one for one, _ in self._open]:
            return
        while self._open:
            ended, entered = self._open.pop()
            entered.__exit__(None, None, None)
            if ended == name:
                return

    def end_all(self) -> None:
        while self._open:
            self._open.pop()[1].__exit__(None, None, None)
