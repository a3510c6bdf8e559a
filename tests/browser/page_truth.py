# SPDX-License-Identifier: Apache-2.0
"""The names that a page gives its numbers (page/README.md), and what each has to be: from the JSON of `memtrace report`, or,
of the moment, from the columns of the page's file. Written beside the page's code, not from it."""

import math
import re
from pathlib import Path

import page_contents


def of_report(told: dict, device_index: int, pid: int) -> dict[str, float]:
    """Name -> number, for the device that the page shows."""
    device, = (one for one in told["devices"] if (one["index"], one["pid"]) == (device_index, pid))
    known: dict[str, float | None] = {
        "peak_allocated": device["peak_allocated_bytes"],
        "peak_reserved": device["peak_reserved_bytes"],
        "capacity": device["capacity_bytes"],
        "events": told["completeness"]["events"],
    }
    for row in device["at_peak"]["categories"]:
        known[f"category:{row['category']}"] = row["bytes"]
    outside = sum(one["bytes"] for one in device["outside_pool"])
    if device["peak_reserved_bytes"] is not None:
        known["part:cached"] = device["peak_reserved_bytes"] - device["at_peak"]["allocated_bytes"]
        if device["capacity_bytes"] is not None:
            known["part:free"] = device["capacity_bytes"] - device["peak_reserved_bytes"] - outside
    for one in device["outside_pool"]:
        known[f"outside:{one['owner']}"] = one["bytes"]
    for place, one in enumerate(told["advice"]):
        known[f"advice:{place}"] = one["saves_bytes"]
    verdict = next((one for one in told["verdicts"]
                    if (one["subject"], one["pid"]) == (f"device:{device_index}", pid)), None)
    if verdict:
        known["growth"] = verdict["bytes_per_step"]
        known["steps_to_oom"] = verdict["steps_to_oom"]
    failures = [one for one in told["oom"] if (one["device"], one["pid"]) == (device_index, pid)]
    if failures:
        decisive = next((one for one in failures if not one["caught"]), failures[0])
        known |= {
            "oom:capacity": decisive["capacity_bytes"], "oom:allocated": decisive["allocated_bytes"],
            "oom:unused": decisive["reserved_bytes"] - decisive["allocated_bytes"], "oom:free": decisive["free_bytes"],
            "oom:largest_free": decisive["largest_free_block_bytes"], "oom:requested": decisive["requested_bytes"],
        }
    return {name: value for name, value in known.items() if value is not None}


def of_moment(file: Path, history: int, event: int | None = None) -> dict[str, float]:
    """At the point of the timeline with this event; without, where most was allocated."""
    def values(what: str) -> list[float]:
        return page_contents.column(file, f"{history}/timeline/{what}")

    allocated = values("allocated")
    point = allocated.index(max(allocated)) if event is None else values("event").index(event)
    found = {"moment": allocated[point], "moment:reserved": values("reserved")[point]}
    for category in page_contents.facts(file)["histories"][history]["timeline"]["categories"]:
        found[f"moment:{category}"] = values(f"category/{category}")[point]
    return {name: value for name, value in found.items() if not math.isnan(value)}


def value_at(document, key: str) -> float:
    """devices.0.peak_allocated_bytes: the value there, for names that are paths."""
    for part in re.split(r"[.]", key):
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document
