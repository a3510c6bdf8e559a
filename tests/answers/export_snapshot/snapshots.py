# SPDX-License-Identifier: Apache-2.0
"""A snapshot that memtrace exported beside PyTorch's own of the same run, and what a viewer needs of one.

Compared exactly: the events of each device in their order with action, address, size, stream, free memory of the device
and Python frames; segments and blocks with all their sizes, states, streams and pools; the allocator's settings. What
differs by intent is named in DIFFERENT_BY_INTENT and checked to be so and not otherwise."""

import pickle
import pickletools
from dataclasses import dataclass, field
from pathlib import Path

DIFFERENT_BY_INTENT = """
- events and blocks have `category` and `user_metadata` besides, and no `compile_context`
- where PyTorch has no frame, the export has the forward call or the thread, marked by a first frame whose file is
  `<backward of>` or `<no Python frame>`
- segments have the frames that made them; PyTorch's have none with stacks="python"
- inactive blocks have a requested_size of 0; PyTorch leaves there what was asked for last
- the export's last event of a device is the taking of the snapshot, which PyTorch has in the next snapshot only
- time_us comes from the recorder's own clock
- a frame without a line has 0; PyTorch has 2**64 - 1
"""
MARKS = ("<backward of>", "<no Python frame>")
UNKNOWN_LINE = 2**64 - 1
# The opcodes that the unpickler of MemoryViz.js reads, as of May 2026 and before.
VIEWERS_OPCODES = {
    "APPENDS", "BINGET", "BININT", "BININT1", "BININT2", "EMPTY_DICT", "EMPTY_LIST", "FRAME", "LONG1", "LONG_BINGET",
    "MARK", "MEMOIZE", "PROTO", "SETITEMS", "SHORT_BINUNICODE", "STOP", "TUPLE2", "APPEND", "NEWFALSE", "BINPUT",
    "BINUNICODE", "EMPTY_TUPLE", "NEWTRUE", "NONE", "BINFLOAT", "TUPLE", "TUPLE1", "TUPLE3", "LONG_BINPUT", "LIST", "DICT",
    "SETITEM",
}
SEGMENT_FACTS = ("device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream",
                 "segment_type", "segment_pool_id", "is_expandable")
MOST_SHOWN = 10


def load(file: Path) -> dict:
    with open(file, "rb") as opened:
        return pickle.load(opened)


@dataclass
class Compared:
    events: int = 0
    with_frames: int = 0
    marked: int = 0  # events without a frame in PyTorch's
    segments: int = 0
    blocks: int = 0
    states: set = field(default_factory=set)
    different: int = 0
    shown: list[str] = field(default_factory=list)

    def check(self, what: str, truth, got) -> None:
        if truth == got:
            return
        self.different += 1
        if len(self.shown) < MOST_SHOWN:
            self.shown.append(f"{what}: PyTorch {truth}, export {got}")


def frames_of(entry: dict) -> list[tuple]:
    return [(one["filename"], 0 if one["line"] == UNKNOWN_LINE else one["line"], one["name"]) for one in entry["frames"]]


def facts_of(event: dict) -> tuple:
    where = event["device_free"] if event["action"] == "oom" else event["addr"]
    return event["action"], where, event["size"], event["stream"]


def compare_frames(found: Compared, what: str, truth: dict, got: dict) -> None:
    wanted, has = frames_of(truth), frames_of(got)
    if wanted:
        found.with_frames += 1
        found.check(f"frames of {what}", wanted, has)
    else:
        found.marked += 1
        found.check(f"mark of {what}", True, bool(has) and has[0][0] in MARKS)


def without_last_snapshots(events: list[dict]) -> list[dict]:
    """Without the taking of the snapshot that ended the run."""
    while events and events[-1]["action"] == "snapshot":
        events = events[:-1]
    return events


def compare(truth: dict, got: dict) -> Compared:
    found = Compared()
    found.check("devices with events", *([index for index, one in enumerate(snapshot["device_traces"]) if one]
                                         for snapshot in (truth, got)))
    for index, wanted in enumerate(truth["device_traces"]):
        events = got["device_traces"][index] if index < len(got["device_traces"]) else []
        events = without_last_snapshots(events)
        found.check(f"events of device {index}", len(wanted), len(events))
        for number, (one, other) in enumerate(zip(wanted, events)):
            found.events += 1
            found.check(f"event {number} of device {index}", facts_of(one), facts_of(other))
            if one["action"] != "snapshot":
                compare_frames(found, f"event {number} {facts_of(one)}", one, other)
    found.check("segments", *([one["address"] for one in snapshot["segments"]] for snapshot in (truth, got)))
    for one, other in zip(truth["segments"], got["segments"]):
        found.segments += 1
        for fact in SEGMENT_FACTS:
            found.check(f"{fact} of segment {one['address']:#x}", one[fact], other[fact])
        compare_blocks(found, one, other)
    found.check("allocator_settings", truth["allocator_settings"], got["allocator_settings"])
    return found


def compare_blocks(found: Compared, segment: dict, other_segment: dict) -> None:
    place = f"in segment {segment['address']:#x}"
    found.check(f"blocks {place}", len(segment["blocks"]), len(other_segment["blocks"]))
    for one, other in zip(segment["blocks"], other_segment["blocks"]):
        found.blocks += 1
        found.states.add(one["state"])
        for fact in ("address", "size", "state"):
            found.check(f"{fact} of block {one['address']:#x} {place}", one[fact], other[fact])
        if one["state"] == "inactive":
            found.check(f"free block {one['address']:#x} {place}", (0, []), (other["requested_size"], other["frames"]))
            continue
        found.check(f"requested size of block {one['address']:#x}", one["requested_size"], other["requested_size"])
        compare_frames(found, f"block {one['address']:#x}", one, other)


def foreign_opcodes(file: Path) -> set[str]:
    """Opcodes of a pickle that PyTorch's viewer does not know, and lists that it cannot append at once."""
    found, marks = set(), []
    count = 0
    with open(file, "rb") as opened:
        for opcode, argument, _ in pickletools.genops(opened):
            if opcode.name not in VIEWERS_OPCODES:
                found.add(opcode.name)
            if opcode.name == "PROTO" and not 2 <= argument <= 4:
                found.add(f"protocol {argument}")
            # Between a mark and APPENDS there are at most so many values; nested ones are taken away by their own end.
            if opcode.name == "MARK":
                marks.append(count)
                count = 0
            elif opcode.name in ("APPENDS", "SETITEMS"):
                if opcode.name == "APPENDS" and count > 1000:
                    found.add(f"APPENDS of {count}")
                count = marks.pop()
            elif opcode.name == "TUPLE2":
                count -= 1
            elif opcode.name in ("SETITEM", "APPEND"):
                count -= {"SETITEM": 2, "APPEND": 1}[opcode.name]
            elif opcode.name not in ("PROTO", "STOP", "BINPUT", "LONG_BINPUT", "MEMOIZE", "FRAME"):
                count += 1
    return found


def undo(snapshot: dict, device: int) -> tuple[dict, dict]:
    """The segments and blocks that are left at the end once all events are undone from the last to the first, as
    the viewer does it. Raises where an event does not fit to what is there after it."""
    segments = {one["address"]: one["total_size"] for one in snapshot["segments"] if one["device"] == device}
    streams = {one["address"]: one["stream"] for one in snapshot["segments"] if one["device"] == device}
    blocks = {}
    for one in snapshot["segments"]:
        if one["device"] == device:
            assert sum(block["size"] for block in one["blocks"]) == one["total_size"]
            blocks.update({block["address"]: block["state"] for block in one["blocks"] if block["state"] != "inactive"})

    def inside(address: int) -> bool:
        return any(first <= address < first + size for first, size in segments.items())

    for event in reversed(snapshot["device_traces"][device]):
        address, size, action = event.get("addr"), event["size"], event["action"]
        if action == "alloc":
            assert blocks.pop(address) == "active_allocated", event
        elif action == "free_requested":
            assert blocks[address] == "active_pending_free", event
            blocks[address] = "active_allocated"
        elif action == "free_completed":
            assert address not in blocks and inside(address), event
            blocks[address] = "active_pending_free"
        elif action == "segment_alloc":
            assert segments.pop(address) == size, event
        elif action in ("segment_free", "segment_unmap"):
            assert not inside(address), event
            segments[address], streams[address] = size, event["stream"]
        elif action == "segment_map":
            whole, length = next((one, there) for one, there in segments.items() if one <= address < one + there)
            # Neighbours that were mapped one after the other are one segment; ranges of it are taken out.
            assert address + size <= whole + length, event
            del segments[whole]
            if whole < address:
                segments[whole] = address - whole
            if address + size < whole + length:
                segments[address + size] = whole + length - address - size
        merge(segments, address) if action == "segment_unmap" else None
    return segments, blocks


def merge(segments: dict, address: int) -> None:
    """Joins a range that is there again with those beside it."""
    size = segments[address]
    if address + size in segments:
        size += segments.pop(address + size)
    segments[address] = size
    before = next((one for one, there in segments.items() if one + there == address), None)
    if before is not None:
        segments[before] += segments.pop(address)
