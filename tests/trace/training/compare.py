# SPDX-License-Identifier: Apache-2.0
"""A trace beside what PyTorch recorded of the same run, event by event, with no tolerance."""

from dataclasses import dataclass, field

KINDS = {
    "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map",
    "segment_unmap", "oom",
}
MOST_SHOWN = 10


@dataclass
class Comparison:
    events: int = 0           # that PyTorch recorded
    kinds: dict[str, int] = field(default_factory=dict)
    streams: int = 0          # different ones
    deferred: int = 0         # frees that were completed later than requested
    stacks: int = 0           # events whose frames were compared
    frames: int = 0
    with_frames: int = 0      # events that have at least one frame
    totals: int = 0           # events whose allocated and reserved were compared
    missing: int = 0          # events that the trace lacks
    extra: int = 0            # events that PyTorch does not have
    different: int = 0        # events with another action, address, size, stream or pool
    different_stacks: int = 0
    different_totals: int = 0
    peak_allocated: int = 0
    peak_reserved: int = 0
    different_stats: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def show(self, text: str) -> None:
        if len(self.shown) < MOST_SHOWN:
            self.shown.append(text)

    @property
    def differences(self) -> int:
        return (self.missing + self.extra + self.different + self.different_stacks
                + self.different_totals + len(self.different_stats))


def of_pytorch(entry: dict) -> tuple:
    where = entry["device_free"] if entry["action"] == "oom" else entry["addr"]
    pool = entry.get("pool_id")
    return (entry["action"], where, entry["size"], entry["stream"],
            tuple(pool) if pool is not None else None)


def of_trace(line: dict, with_pool: bool) -> tuple:
    where = line["device_free"] if line["kind"] == "oom" else line["address"]
    return (line["kind"], where, line["size"], line["stream"],
            tuple(line["pool"]) if with_pool else None)


def known_line(line: int) -> int:
    """0 where Python knows no line: PyTorch stores its -1 in an unsigned number."""
    return 0 if line == 2**64 - 1 else line


def pytorch_frames(entry: dict) -> list[tuple]:
    return [(frame["filename"], known_line(frame["line"]), frame["name"])
            for frame in entry.get("frames", [])]


def trace_frames(line: dict) -> list[tuple]:
    return [(frame["file"], frame["line"], frame["function"]) for frame in line["stack"]]


def recorded_events(lines: list[dict], device: int) -> list[dict]:
    """The allocator's events up to the snapshot that ended PyTorch's record."""
    events = []
    for line in lines:
        if line.get("device") != device:
            continue
        if line["kind"] == "snapshot":
            break
        if line["kind"] in KINDS:
            events.append(line)
    return events


def compare_one(entry: dict, line: dict, found: Comparison) -> bool:
    wanted = of_pytorch(entry)
    got = of_trace(line, wanted[-1] is not None)
    if wanted != got:
        found.different += 1
        found.show(f"PyTorch {wanted}, trace {got} (record {line['n']})")
        return False
    frames = pytorch_frames(entry)
    found.stacks += 1
    found.frames += len(frames)
    found.with_frames += bool(frames)
    if frames != trace_frames(line):
        found.different_stacks += 1
        found.show(f"{wanted} (record {line['n']}):\n  PyTorch {frames}\n  trace   {trace_frames(line)}")
    return True


def compare_events(entries: list[dict], lines: list[dict], found: Comparison) -> None:
    """In order; where they differ, both go on behind the difference that explains most."""
    at = 0
    for position, entry in enumerate(entries):
        if at == len(lines):
            found.missing += len(entries) - position
            found.show(f"the trace ends before PyTorch's {of_pytorch(entry)}")
            return
        wanted = of_pytorch(entry)
        with_pool = wanted[-1] is not None
        if wanted != of_trace(lines[at], with_pool):
            upcoming = [of_trace(line, with_pool) for line in lines[at:at + 64]]
            if wanted in upcoming:
                skipped = upcoming.index(wanted)
                found.extra += skipped
                found.show(f"the trace alone has {upcoming[:skipped][:3]}")
                at += skipped
            else:
                found.missing += 1
                found.show(f"the trace lacks {wanted}")
                continue
        compare_one(entry, lines[at], found)
        at += 1
    found.extra += len(lines) - at
    if at < len(lines):
        found.show(f"the trace alone has, at its end, {of_trace(lines[at], True)}")


def compare_totals(lines: list[dict], found: Comparison) -> None:
    """The allocator's own statistics after each event, against the sums of the recorded ones."""
    for line in lines:
        if line["kind"] not in ("alloc", "free_requested"):
            continue
        if "allocated" not in line:
            found.different_totals += 1
            found.show(f"record {line['n']} has no report of the allocator")
            continue
        found.totals += 1
        found.peak_allocated = max(found.peak_allocated, line["allocated"])
        found.peak_reserved = max(found.peak_reserved, line["reserved"])
        said = line["allocated"], line["reserved"]
        summed = line["replayed_allocated"], line["replayed_reserved"]
        if said != summed:
            found.different_totals += 1
            found.show(f"record {line['n']}: the allocator says {said}, the sums are {summed}")


def compare_stats(stats: dict, lines: list[dict], found: Comparison) -> None:
    def check(name: str, got: int) -> None:
        if stats.get(name) != got:
            found.different_stats.append(f"{name}: memory_stats {stats.get(name)}, trace {got}")
            found.show(found.different_stats[-1])

    reported = [line for line in lines if "allocated" in line]
    check("allocated_bytes.all.peak", found.peak_allocated)
    check("reserved_bytes.all.peak", found.peak_reserved)
    if reported:
        check("allocated_bytes.all.current", reported[-1]["allocated"])
    # Requested bytes count until the free is completed, allocated ones until it is requested.
    requested = sum(line["size"] * {"alloc": 1, "free_completed": -1}.get(line["kind"], 0)
                    for line in lines)
    check("requested_bytes.all.current", requested)
    counts = {kind: sum(line["kind"] == kind for line in lines) for kind in KINDS}
    check("allocation.all.allocated", counts["alloc"])
    check("allocation.all.freed", counts["free_requested"])
    check("active.all.freed", counts["free_completed"])
    check("num_ooms", counts["oom"])
    reserved = sum(
        line["size"] * {"segment_alloc": 1, "segment_map": 1, "segment_free": -1,
                        "segment_unmap": -1}.get(line["kind"], 0)
        for line in lines
    )
    check("reserved_bytes.all.current", reserved)


def live_at_end(lines: list[dict]) -> tuple[set, set]:
    """Segments that were not expandable, and blocks whose free is not completed."""
    segments, blocks = {}, {}
    for line in lines:
        address, pool = line.get("address"), tuple(line["pool"])
        if line["kind"] == "segment_alloc":
            segments[address] = (address, line["size"], line["stream"], pool)
        elif line["kind"] == "segment_free":
            del segments[address]
        elif line["kind"] == "alloc":
            blocks[address] = (address, line["size"], line["stream"], pool)
        elif line["kind"] == "free_completed":
            del blocks[address]
    return set(segments.values()), set(blocks.values())


def compare_end(segments: list[dict], lines: list[dict], found: Comparison) -> None:
    """The segments in PyTorch's snapshot, private pools included, and those that the events leave."""
    there = {
        (one["address"], one["total_size"], one["stream"], tuple(one["segment_pool_id"]))
        for one in segments if not one["is_expandable"]
    }
    used = {
        (block["address"], block["requested_size"], one["stream"], tuple(one["segment_pool_id"]))
        for one in segments for block in one["blocks"] if block["state"] != "inactive"
    }
    for name, truth, got in zip(("segments", "blocks"), (there, used), live_at_end(lines)):
        if truth != got:
            found.different_stats.append(
                f"{name} at the end: PyTorch alone has {sorted(truth - got)[:3]}, "
                f"the trace alone {sorted(got - truth)[:3]}"
            )
            found.show(found.different_stats[-1])


def compare(truth: dict, lines: list[dict], device: int = 0) -> Comparison:
    found = Comparison()
    entries = [entry for entry in truth["device_traces"][device] if entry["action"] in KINDS]
    events = recorded_events(lines, device)
    found.events = len(entries)
    for entry in entries:
        found.kinds[entry["action"]] = found.kinds.get(entry["action"], 0) + 1
    found.streams = len({entry["stream"] for entry in entries})
    found.deferred = sum(
        one["action"] == "free_requested" and other["action"] != "free_completed"
        for one, other in zip(entries, [*entries[1:], {"action": None}])
    )
    compare_events(entries, events, found)
    compare_totals(events, found)
    compare_stats(truth["memory_stats"][device], events, found)
    if not found.missing + found.extra + found.different:
        here = [one for one in truth["segments"] if one["device"] == device]
        compare_end(here, events, found)
    return found
