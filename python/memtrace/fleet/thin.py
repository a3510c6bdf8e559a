# SPDX-License-Identifier: Apache-2.0
"""Series of steps with fewer points, whose bounds are those of all that they stand for."""

from __future__ import annotations

from typing import Any, Dict, List, Sequence

POINTS = 64


def steps(device: int, series: Sequence[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Thins a device's steps, as the report lists them: rows of schema.LISTS["series"], at most POINTS."""
    count = len(series)
    points = min(count, POINTS)
    rows = []
    for number in range(points):
        first, behind = number * count // points, (number + 1) * count // points
        part = series[first:behind]
        peaks = [one["peak_allocated_bytes"] for one in part]
        ends = [one["end_allocated_bytes"] for one in part]
        rows.append({"device": device, "first_step": first, "last_step": behind - 1, "end_ns": part[-1]["end_ns"],
                     "peak_low_bytes": min(peaks), "peak_high_bytes": max(peaks),
                     "end_low_bytes": min(ends), "end_high_bytes": max(ends)})
    return rows


def median_step_ns(series: Sequence[Dict[str, Any]]) -> Any:
    """None where there are not two ends to be compared."""
    ends = [one["end_ns"] for one in series]
    times = sorted(after - before for before, after in zip(ends, ends[1:]))
    return times[len(times) // 2] if times else None
