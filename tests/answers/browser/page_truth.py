# SPDX-License-Identifier: Apache-2.0
"""The names that a page gives its numbers (page/README.md), and what each has to be: from the JSON of `memtrace report`, or,
of the moment, from the columns of the page's file. Where several rows have one name, any of their numbers."""

import math
from pathlib import Path

import page_contents

Truth = dict[str, set[float]]


def of_report(told: dict, index: int, pid: int) -> Truth:
    """For the device that the page shows."""
    def own(rows: list[dict]) -> list[dict]:
        return [one for one in rows if one["pid"] == pid and one["device"] in (index, None)]

    device, = (one for one in told["devices"] if (one["index"], one["pid"]) == (index, pid))
    reserved, capacity = device["peak_reserved_bytes"], device["capacity_bytes"]
    known: Truth = {}

    def tell(name: str, value: float | None) -> None:
        if value is not None:
            known.setdefault(name, set()).add(value)

    tell("peak_allocated", device["peak_allocated_bytes"])
    tell("peak_reserved", reserved)
    tell("capacity", capacity)
    tell("events", told["completeness"]["events"])
    for row in device["at_peak"]["categories"]:
        tell(f"category:{row['category']}", row["bytes"])
    for one in device["outside_pool"]:
        tell(f"outside:{one['owner']}", one["bytes"])
    if reserved is not None:
        tell("part:cached", reserved - device["at_peak"]["allocated_bytes"])
        if capacity is not None:
            others = sum(one["bytes"] for one in device["outside_pool"]) + (device["unexplained_bytes"] or 0)
            tell("part:free", capacity - reserved - others)
    tell("part:unexplained", device["unexplained_bytes"])
    for place, one in enumerate(told["advice"]):
        tell(f"advice:{place}", one["saves_bytes"])
    tell("what_if:now", reserved)
    for one in own(told["advice_combined"]):
        tell("what_if:together", one["peak_reserved_bytes"])
        tell("together:leaves", one["peak_reserved_bytes"])
        tell("together:saves", one["saves_bytes"])
    for place, one in enumerate(told["verdicts"]):
        tell(f"verdict:{place}:growth", one["bytes_per_step"])
        for i, culprit in enumerate(one["culprits"]):
            tell(f"verdict:{place}:culprit:{i}", culprit["bytes_per_step"])
        if (one["subject"], one["pid"]) == (f"device:{index}", pid):
            tell("growth", one["bytes_per_step"])
            tell("steps_to_oom", one["steps_to_oom"])
    for one in own(told["fragmentation"]):
        tell("fragmentation:reserved", one["peak_reserved_bytes"])
        tell("fragmentation:allocated", one["peak_allocated_bytes"])
        tell("fragmentation:lower_bound", one["lower_bound_bytes"])
        for when in ("at_peak", "at_out_of_memory"):
            for reason, size in (one[when] or {}).get("unused", {}).items():
                tell(f"fragmentation:{when}:{reason}", size)
            tell(f"fragmentation:{when}:unused", (one[when] or {}).get("unused_bytes"))
    for one in told["ranks"]:
        for held in one["devices"]:
            who = one["pid"] if one["rank"] is None else one["rank"]
            tell(f"rank:{who}:allocated", held["peak_allocated_bytes"])
            tell(f"rank:{who}:reserved", held["peak_reserved_bytes"])
    failures = own(told["oom"])
    if failures:
        decisive = next((one for one in failures if not one["caught"]), failures[0])
        for name, value in {
            "capacity": decisive["capacity_bytes"], "allocated": decisive["allocated_bytes"],
            "unused": decisive["reserved_bytes"] - decisive["allocated_bytes"], "free": decisive["free_bytes"],
            "largest_free": decisive["largest_free_block_bytes"], "requested": decisive["requested_bytes"],
        }.items():
            tell(f"oom:{name}", value)
        if decisive["capacity_bytes"] is not None:
            tell("oom:outside", decisive["capacity_bytes"] - decisive["reserved_bytes"] - decisive["free_bytes"])
        lines: dict[str, int] = {}
        for i, holder in enumerate(decisive["holders"]):
            tell(f"oom:holder:{i}", holder["bytes"])
            lines[holder["category"]] = lines.get(holder["category"], 0) + holder["bytes"]
        for category, size in lines.items():
            tell(f"oom:category:{category}", size)
        tell("oom:no_line", decisive["allocated_bytes"] - sum(lines.values()))
    return known


def of_moment(file: Path, history: int, event: int | None = None) -> Truth:
    """At the point of the timeline with this event; without, where most was allocated."""
    def values(what: str) -> list[float]:
        return page_contents.column(file, f"{history}/timeline/{what}")

    allocated = values("allocated")
    point = allocated.index(max(allocated)) if event is None else values("event").index(event)
    left_out = values("left_out")[point]
    found = {"moment": allocated[point], "moment:reserved": values("reserved")[point],
             "icicle": allocated[point] - left_out, "icicle:left_out": left_out,
             "table": allocated[point], "table:left_out": left_out}
    for category in page_contents.facts(file)["histories"][history]["timeline"]["categories"]:
        found[f"moment:{category}"] = values(f"category/{category}")[point]
    return {name: {value} for name, value in found.items() if not math.isnan(value)}


def of_difference(told: dict) -> Truth:
    known = {}
    for place, pair in enumerate(told["devices"]):
        for name, side in (("before", pair["before"]), ("after", pair["after"])):
            for i, what in enumerate(("peak_allocated_bytes", "peak_reserved_bytes")):
                known[f"{place}:peaks:{i}:{name}"] = {side[what]}
            for table in ("categories", "modules", "lines"):
                changed = [row for row in pair[table] if row["difference_bytes"]]
                for i, row in enumerate(changed):
                    known[f"{place}:{table}:{i}:{name}"] = {row[f"{name}_bytes"]}
    return known
