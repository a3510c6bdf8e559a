# SPDX-License-Identifier: Apache-2.0
"""The lists in a summary's row for a process (schema.LISTS), out of the report's JSON."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

from memtrace.fleet import schema, thin

Report = Dict[str, Any]
Row = Dict[str, Any]
_MOST_TEXT = 400  # characters of one text; a sentence is shorter


def _place(frames: List[Row]) -> Row:
    """The innermost frame of the user's own code; else the innermost."""
    frame = next((one for one in frames if one["user"]), frames[0] if frames else None)
    return {"file": frame["file"] if frame else None, "line": frame["line"] if frame else None,
            "function": frame["function"] if frame else None}


def _devices_of(report: Report, pid: int) -> List[Row]:
    return [one for one in report["devices"] if one["pid"] == pid]


def _needed(device: Row, outside: Optional[int]) -> int:
    """The most that the run needed of the device: without what other processes had of it."""
    used = device["used"]
    if used:
        others = sum(one["bytes"] for one in used["parts"] if one["part"] == "other_processes")
        return used["used_bytes"] - others
    return (device["peak_reserved_bytes"] or device["peak_allocated_bytes"]) + (outside or 0)


def _mends(report: Report, pid: int, index: int) -> Optional[str]:
    alone = [one["id"] for one in report["advice"]
             if one["pid"] == pid and one["device"] == index and one["mends_out_of_memory"]]
    return alone[0] if alone else None


def devices(report: Report, pid: int) -> List[Row]:
    rows = []
    told = {one["pid"]: {device["index"]: device for device in one["devices"]} for one in report["ranks"]}
    for device in _devices_of(report, pid):
        ranks = told.get(pid, {}).get(device["index"])
        outside = ranks["outside_bytes"] if ranks else None
        peak, at_peak, room = device["peak_allocated"], device["at_peak"], device["room"]
        rows.append({
            "device": device["index"], "gpu": device["name"], "capacity_bytes": device["capacity_bytes"],
            "peak_allocated_bytes": device["peak_allocated_bytes"],
            "peak_requested_bytes": peak["requested_bytes"] if peak else None,
            "peak_reserved_bytes": device["peak_reserved_bytes"],
            "peak_used_bytes": device["used"]["used_bytes"] if device["used"] else None,
            "outside_bytes": outside, "needed_bytes": _needed(device, outside),
            "unexplained_bytes": device["unexplained_bytes"], "peak_ns": at_peak["time_ns"],
            "peak_step": at_peak["step"], "peak_phase": at_peak["phase"], "retries": device["retries"],
            "largest_batch_factor": room["batch_factor"] if room else None,
            "mends": _mends(report, pid, device["index"])})
    return rows


def categories(report: Report, pid: int) -> List[Row]:
    return [{"device": device["index"], **{name: one[name] for name in ("category", "bytes", "blocks", "evidence")}}
            for device in _devices_of(report, pid) for one in device["at_peak"]["categories"]]


def phases(report: Report, pid: int) -> List[Row]:
    return [{"device": device["index"], **{name: one[name] for name in
                                           ("phase", "peak_allocated_bytes", "allocated_bytes", "freed_bytes")}}
            for device in _devices_of(report, pid) for one in device["phases"]]


def phase_categories(report: Report, pid: int) -> List[Row]:
    return [{"device": device["index"], "phase": phase["phase"], "category": one["category"], "bytes": one["bytes"]}
            for device in _devices_of(report, pid) for phase in device["phases"] for one in phase["categories"]]


def lines(report: Report, pid: int) -> List[Row]:
    rows = []
    for device in _devices_of(report, pid):
        summed: Dict[Any, Row] = {}
        for site in device["at_peak"]["call_sites"]:
            place = _place(site["forward_frames"] or site["frames"])
            key = (*place.values(), site["category"])
            held = summed.setdefault(key, {"device": device["index"], **place, "category": site["category"],
                                           "bytes": 0, "blocks": 0})
            held["bytes"] += site["bytes"]
            held["blocks"] += site["blocks"]
        rows += summed.values()
    return sorted(rows, key=lambda row: -row["bytes"])


def series(report: Report, pid: int) -> List[Row]:
    return [row for one in report["steps"]["series"] if one["pid"] == pid for row in thin.steps(one["device"], one["steps"])]


def _device_of(subject: str) -> Optional[int]:
    kind, _, rest = subject.partition(":")
    number = rest.partition(":")[0]
    return int(number) if kind in ("device", "reserved", "outside") and number.isdigit() else None


def verdicts(report: Report, pid: int) -> List[Row]:
    whole = next(one["completeness"] for one in report["processes"] if one["run"]["pid"] == pid)
    in_doubt = whole["dropped_events"] != 0 or whole["damage"] is not None  # frees that were lost look like a leak
    rows = []
    for one in report["verdicts"]:
        if one["pid"] == pid:
            kind = one["subject"].partition(":")[0]
            rows.append({
                **{name: one[name] for name in (
                    "subject", "shape", "answer", "bytes_per_step", "bytes_per_step_low", "bytes_per_step_high", "steps_to_oom",
                    "confidence", "negligible", "more_steps_needed", "summary")},
                "device": _device_of(one["subject"]), "is_leak": one["is_leak"] and not in_doubt,
                "is_headline": kind not in ("site", "category", "module")})
    return rows


def culprits(report: Report, pid: int) -> List[Row]:
    rows = []
    for verdict in report["verdicts"]:
        for number, one in enumerate(verdict["culprits"] if verdict["pid"] == pid else [], 1):
            keeper = one["retained_by"][0] if one["retained_by"] else None
            fix = one["fix"] or verdict["fix"]
            rows.append({
                "subject": verdict["subject"], "place": number, **_place(one["forward"] or one["frames"]),
                **{name: one[name] for name in ("category", "phase", "bytes_per_step", "share", "bytes", "confidence")},
                "kept_by": keeper["path"] if keeper else None, "container": keeper["container"] if keeper else None,
                "fix": fix["id"] if fix else None, "what_to_do": fix["change"] if fix else None})
    return sorted(rows, key=lambda row: (not row["subject"].startswith("device:"), row["place"]))


def fragmentation(report: Report, pid: int) -> List[Row]:
    return [{"device": one["device"], "cause": one["cause"], "matters": one["matters"],
             "peak_reserved_bytes": one["peak_reserved_bytes"], "lower_bound_bytes": one["lower_bound_bytes"],
             "unused_bytes": one["at_peak"]["unused_bytes"] if one["at_peak"] else None,
             "blocked_requests": one["blocked_requests"]["count"], "driver_calls": one["pressure"]["driver_calls"],
             "summary": one["summary"]} for one in report["fragmentation"] if one["pid"] == pid]


def advice(report: Report, pid: int) -> List[Row]:
    reserved = {one["index"]: one["peak_reserved_bytes"] for one in _devices_of(report, pid)}
    rows = []
    for number, one in enumerate([one for one in report["advice"] if one["pid"] == pid], 1):
        of_device = reserved.get(one["device"])
        share = one["saves_bytes"] / of_device if of_device and one["saves_bytes"] is not None else None
        rows.append({
            "place": number, "advice": one["id"], "what_to_do": one["change"], "saves_share": share,
            **{name: one[name] for name in ("title", "amount", "device", "subject", "saves_bytes",
                                            "saves_capacity_bytes", "proof", "mends_out_of_memory", "cost")}})
    return rows


def combined(report: Report, pid: int) -> List[Row]:
    return [{"device": one["device"], "advice": "+".join(one["ids"]), "saves_bytes": one["saves_bytes"],
             "peak_reserved_bytes": one["peak_reserved_bytes"], "proof": one["proof"]}
            for one in report["advice_combined"] if one["pid"] == pid]


def out_of_memory(report: Report, pid: int) -> List[Row]:
    names = ("device", "time_ns", "requested_bytes", "free_bytes", "largest_free_block_bytes", "reserved_bytes",
             "allocated_bytes", "capacity_bytes", "caught")
    return [{**{name: one[name] for name in names}, **_place(one["frames"])}
            for one in report["oom"] if one["pid"] == pid]


def counters(report: Report, pid: int) -> List[Row]:
    told = next(one["counters"] for one in report["processes"] if one["run"]["pid"] == pid)
    return [{"counter": one["name"], "times": one["times"], "least": one["least"], "most": one["most"],
             "latest": one["last"]} for one in told]


_MAKERS: Dict[str, Callable[[Report, int], List[Row]]] = {
    made.__name__: made for made in (devices, categories, phases, phase_categories, lines, series, verdicts, culprits,
                                     fragmentation, advice, combined, out_of_memory, counters)}


def _short(row: Row) -> Row:
    return {name: value[:_MOST_TEXT - 1] + "…" if isinstance(value, str) and len(value) > _MOST_TEXT else value
            for name, value in row.items()}


def of_process(report: Report, pid: int) -> Dict[str, List[Row]]:
    """All lists that the report fills, each with its most rows at most."""
    return {name: [_short(row) for row in make(report, pid)[:schema.LISTS[name].most]]
            for name, make in _MAKERS.items()}
