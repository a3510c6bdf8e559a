# SPDX-License-Identifier: Apache-2.0
"""The effect of a notebook's cell on the GPU's memory, from a report: as text and as a small table."""

from __future__ import annotations

import html
import json
import linecache
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from memtrace import _tool

LINES = 5
PHASES_KEPT = 4096  # docs/attribution.md


@dataclass
class DeviceUse:
    """The memory of one phase on one device."""

    index: int
    times: int
    peak_bytes: int
    stayed_bytes: int
    lines: list = field(default_factory=list)  # (bytes, where, source)


def uses_of(content: dict, phase: str, where) -> list[DeviceUse]:
    """Rows for each device on which the phase allocated; `where` names a frame."""
    found = []
    for device in content["devices"]:
        for row in device["phases"]:
            if row["source"] == "user" and row["phase"] == phase:
                stayed = row["allocated_bytes"] - row["freed_bytes"]
                use = DeviceUse(device["index"], row["times"], row["peak_allocated_bytes"], stayed)
                use.lines = _lines_at(content, device["index"], row["peak_event"], where)
                found.append(use)
    return found


def is_full(content: dict) -> bool:
    """Whether a recording has all the names of phases that it keeps."""
    return any(sum(row["source"] == "user" for row in device["phases"]) >= PHASES_KEPT
               for device in content["devices"])


def _lines_at(content: dict, index: int, event, where) -> list:
    """The lines whose memory was in use at an event, largest first."""
    if event is None:
        return []
    traces = [process["trace"] for process in content["processes"]]
    with tempfile.TemporaryDirectory(prefix="memtrace-") as folder:
        target = Path(folder) / "moment.json"
        _tool.run(["report", *traces, "--at", f"event:{event}", "--json", str(target)])
        moment = json.loads(target.read_text(encoding="utf-8"))
    sums: dict[tuple, int] = {}
    for device in moment["devices"]:
        if device["index"] != index or device["at_moment"] is None:
            continue
        for site in device["at_moment"]["call_sites"]:
            frame = _frame_of(site)
            sums[frame] = sums.get(frame, 0) + site["bytes"]
    largest = sorted(sums.items(), key=lambda one: -one[1])[:LINES]
    return [(size, *_named(frame, where)) for frame, size in largest]


def _frame_of(site: dict):
    frames = site["forward_frames"] or site["frames"]
    for frame in frames:
        if frame["user"]:
            return frame["file"], frame["line"]
    return (frames[0]["file"], frames[0]["line"]) if frames else None


def _named(frame, where) -> tuple[str, str]:
    if frame is None:
        return "no Python line", ""
    file, line = frame
    return f"{where(file) or os.path.basename(file)}:{line}", linecache.getline(file, line).strip()


def size_text(size: int) -> str:
    magnitude = float(abs(size))
    for unit in ("B", "KiB", "MiB", "GiB"):
        if magnitude < 1024 or unit == "GiB":
            break
        magnitude /= 1024
    return f"{'-' if size < 0 else ''}{round(magnitude, 2):.12g} {unit}"


def _stayed_text(size: int) -> str:
    if size == 0:
        return "nothing stayed, nothing from before went"
    return f"{size_text(size)} stayed" if size > 0 else f"{size_text(-size)} from before went"


def heading(use: DeviceUse, phase: str) -> str:
    times = "" if use.times in (None, 1) else f" ({use.times} times)"
    peak = size_text(use.peak_bytes)
    return f"{phase}{times}, cuda:{use.index}: peak {peak} allocated; {_stayed_text(use.stayed_bytes)}"


def warning_of(content: dict) -> str:
    """The report's first line, where it says what is wrong: empty where memory is no problem so far."""
    headline = content["headline"]
    return headline["text"] if headline["state"] in ("out_of_memory", "leaks") else ""


def as_text(uses: list[DeviceUse], phase: str, warning: str = "") -> str:
    lines = [warning] if warning else []
    for use in uses:
        lines.append(heading(use, phase))
        lines += [f"{size_text(size):>12}  {place}  {source}".rstrip() for size, place, source in use.lines]
    return "\n".join(lines)


def as_html(uses: list[DeviceUse], phase: str, warning: str = "") -> str:
    parts = [f"<p><b>{html.escape(warning)}</b></p>"] if warning else []
    for use in uses:
        rows = "".join(
            f"<tr><td style='text-align:right'>{size_text(size)}</td><td>{html.escape(place)}</td>"
            f"<td style='text-align:left'><code>{html.escape(source)}</code></td></tr>"
            for size, place, source in use.lines)
        parts.append(f"<table><caption style='text-align:left'>{html.escape(heading(use, phase))}</caption>"
                     f"<tr><th>in use at the peak</th><th>line</th><th></th></tr>{rows}</table>")
    return "".join(parts)
