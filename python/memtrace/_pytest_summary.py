# SPDX-License-Identifier: Apache-2.0
"""The plugin's summary at the end: the tests with the highest peaks, and the line that took most."""

from __future__ import annotations

import os
import time
from collections import Counter

from memtrace._pytest_limits import size
from memtrace._pytest_trace import events_of_this_process

# A trace of many million events is not read to its end for this.
MOST_SECONDS = 10


class Seen:
    """The figures that reports gave for each test; of one that ran again the last run counts."""

    def __init__(self):
        self.used = {}
        self.lines = {}
        self.limited = set()
        self.unchecked = set()

    def report(self, report) -> None:
        told = getattr(report, "memtrace", None)
        if not isinstance(told, dict):
            return
        if "limited" in told:
            if told["limited"]:
                self.limited.add(report.nodeid)
                if not told["checked"]:
                    self.unchecked.add(report.nodeid)
        elif told["peak"] > 0:
            self.used[report.nodeid] = told

    def top(self, count: int) -> list[str]:
        """The highest peaks, and each test that broke its limit."""
        by_peak = sorted(self.used, key=lambda name: (-self.used[name]["peak"], name))
        return [name for place, name in enumerate(by_peak) if place < count or self.used[name]["broken"]]

    def what_was_not_checked(self, start: str) -> str | None:
        if self.unchecked:
            return (f"memtrace: {_tests(self.unchecked)} of GPU memory that were not checked, because memtrace does "
                    f"not record here: start with {start}.")
        if self.limited and not self.used:
            return (f"memtrace: {_tests(self.limited)} of GPU memory, and no test used any; where there is no GPU, "
                    "`memtrace dry-run -- pytest` simulates one.")
        return None


def _tests(names) -> str:
    return "one test has limits" if len(names) == 1 else f"{len(names)} tests have limits"


def table(names, seen: Seen) -> list[str]:
    rows = [("peak", "left over", "test", None)]
    for name in names:
        used = seen.used[name]
        left = "" if used["left"] is None else short(used["left"])
        told = f"{name}, over its limit" if used["broken"] else name
        rows.append((short(used["peak"]), left, told, seen.lines.get(name)))
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    made = []
    for peak, left, told, line in rows:
        made.append(f"{peak:>{first}}  {left:>{second}}  {told}")
        if line:
            made.append(" " * (first + second + 4) + f"most of it: {line}")
    return made


def short(count: int) -> str:
    return "0" if count == 0 else size(count).split(" (")[0]


def lines_of(names, root: str) -> dict[str, str]:
    """For each of these tests the line that held most at its peak, from this process's recording."""
    wanted, found, current = set(names), {}, None
    if not wanted:
        return {}
    until = time.monotonic() + MOST_SECONDS
    for event in events_of_this_process():
        if time.monotonic() > until:
            return {}
        if event["kind"] == "phase":
            if event["name"] in wanted and event["source"] == "user":
                if event["action"] == "begin":
                    current = Blocks()
                elif current is not None:
                    found[event["name"]] = current.largest_line(root)
                    current = None
        elif current is not None:
            current.see(event)
    return {name: line for name, line in found.items() if line}


class Blocks:
    """The memory allocated since a test began, by line, on each device."""

    def __init__(self):
        self.at = {}
        self.now, self.peak = Counter(), Counter()
        self.by_place, self.at_peak = {}, {}

    def see(self, event) -> None:
        bytes_, key = event.get("block"), (event["device"], event.get("address"))
        if bytes_ is None:
            return
        device = event["device"]
        places = self.by_place.setdefault(device, Counter())
        if bytes_ > 0:
            place = place_of(event)
            self.at[key] = (bytes_, place)
            self.now[device] += bytes_
            places[place] += bytes_
        elif key in self.at:
            self.note_peak(device)
            bytes_, place = self.at.pop(key)
            self.now[device] -= bytes_
            places[place] -= bytes_

    def note_peak(self, device) -> None:
        if self.now[device] > self.peak[device]:
            self.peak[device] = self.now[device]
            self.at_peak[device] = self.by_place[device].copy()

    def largest_line(self, root: str) -> str | None:
        for device in self.by_place:
            self.note_peak(device)
        if not self.peak:
            return None
        device = max(self.peak, key=self.peak.get)
        known = [(bytes_, place) for place, bytes_ in self.at_peak[device].items() if place is not None]
        if not known:
            return None
        bytes_, (of, file, line, function) = max(known)
        if file.startswith(root + os.sep):
            file = os.path.relpath(file, root)
        return f"{short(bytes_)} at {of}{file}:{line} {function}"


# Where installed packages and the standard library are: not the user's code.
_NOT_THE_USERS = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep


def place_of(event) -> tuple:
    """Its category, and the innermost frame of the user's code, else the innermost one.

    In a backward pass that is the line of the forward pass that it belongs to.
    """
    def is_users(frame) -> bool:
        file = frame["file"]
        return not (file.startswith(("<", _STANDARD_LIBRARY)) or any(part in file for part in _NOT_THE_USERS))

    stack, of = event.get("stack"), ""
    if event.get("forward"):
        stack, of = event["forward"], "the backward pass of "
    frame = next(filter(is_users, stack or []), stack[0] if stack else None)
    return (of, frame["file"], frame["line"], frame["function"]) if frame else None
