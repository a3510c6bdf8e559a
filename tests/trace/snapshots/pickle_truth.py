# SPDX-License-Identifier: Apache-2.0
"""A snapshot's content, read by Python's own pickle and walked backwards, without any code of the
analyzer."""

import pickle
from pathlib import Path

ENDS = {"free_completed"}


def load(file: Path) -> dict:
    """With the frames of Python only, as a trace has them."""
    with open(file, "rb") as opened:
        found = pickle.load(opened)
    for trace in found["device_traces"]:
        for event in trace:
            event["frames"] = [one for one in event.get("frames", []) if is_python(one["filename"])]
    return found


def is_python(file: str) -> bool:
    return file.endswith(".py") or file.startswith("<")


def blocks_at_start(snapshot: dict, device: int) -> dict[int, int]:
    """Address → requested bytes of what was there before the first event, by undoing them all."""
    there = {
        block["address"]: block["requested_size"]
        for segment in snapshot["segments"] if segment["device"] == device
        for block in segment["blocks"] if block["state"] != "inactive"
    }
    for event in reversed(snapshot["device_traces"][device]):
        if event["action"] == "alloc":
            del there[event["addr"]]
        elif event["action"] == "free_completed":
            assert event["addr"] not in there
            there[event["addr"]] = event["size"]
    return there


def reserved_at_start(snapshot: dict, device: int) -> int:
    sign = {"segment_alloc": -1, "segment_map": -1, "segment_free": 1, "segment_unmap": 1}
    return sum(one["total_size"] for one in snapshot["segments"] if one["device"] == device) + sum(
        sign.get(event["action"], 0) * event["size"] for event in snapshot["device_traces"][device])


def blocks_at_end(snapshot: dict, device: int) -> dict[int, int]:
    return {
        block["address"]: block["size"]
        for segment in snapshot["segments"] if segment["device"] == device
        for block in segment["blocks"] if block["state"] == "active_allocated"
    }
