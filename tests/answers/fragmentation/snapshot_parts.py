# SPDX-License-Identifier: Apache-2.0
"""The parts that docs/fragmentation.md defines, worked out from PyTorch's own snapshot and history, slowly and
without any code of the analyzer."""

from dataclasses import dataclass, field

MIB = 1 << 20
REASONS = ("pending_frees", "private_pools", "other_streams", "small_pool", "expandable_tails",
           "segment_rounding", "empty_segments", "survivors", "split")


def rounded(size: int) -> int:
    return max(512, -(-size // 512) * 512)


def powers(size: int, divisions: int) -> int:
    """As PyTorch rounds a request with roundup_power2_divisions."""
    if divisions < 2 or size <= 512 * divisions:
        return rounded(size)
    floor = 1 << (size.bit_length() - 1)
    if floor == size:
        return size
    step = floor // divisions
    return -(-size // step) * step


@dataclass
class Event:
    action: str
    address: int
    size: int
    stream: int
    pool: tuple
    mark: str = ""


@dataclass
class Truth:
    events: list
    peak: int  # index of the event "snapshot" at the peak
    parts: dict = field(default_factory=lambda: dict.fromkeys(REASONS, 0))
    used_again: dict = field(default_factory=lambda: dict.fromkeys(REASONS, 0))


def events_of(witness: dict) -> list[Event]:
    events = [Event(action, address, size, stream, tuple(pool))
              for action, address, size, stream, pool in witness["history"]]
    marks = iter(witness["marks"])
    for event in events:
        if event.action == "snapshot":
            event.mark = next(marks)
    return events


def last_mark(events: list[Event], what: str) -> int:
    return max(i for i, event in enumerate(events) if event.mark == what)


def lower_bounds(events: list[Event]) -> tuple[int, int]:
    live = active = most = most_active = 0
    for event in events:
        if event.action == "alloc":
            live += rounded(event.size)
            active += rounded(event.size)
        elif event.action == "free_requested":
            live -= rounded(event.size)
        elif event.action == "free_completed":
            active -= rounded(event.size)
        most, most_active = max(most, live), max(most_active, active)
    return most, most_active


def request_at(events: list[Event], at: int) -> Event:
    """The latest that reserved a large segment; where there is none, the latest of all."""
    found = latest = None
    large = False
    for event in events[:at]:
        if event.action in ("segment_alloc", "segment_map"):
            large = large or event.size > 2 * MIB
        elif event.action in ("alloc", "oom"):
            latest = event
            if large:
                found = event
            large = False
    return found or latest


def outlives_its_step(events: list[Event], at: int, address: int) -> bool:
    born = max(i for i in range(at) if events[i].action == "alloc" and events[i].address == address)
    end = next((i for i in range(born, len(events)) if events[i].mark == "step"), None)
    freed = next((i for i in range(born, len(events))
                  if events[i].action == "free_requested" and events[i].address == address), None)
    if end is None:
        return freed is None
    return freed is None or freed > end


def used_until(events: list[Event], at: int, begin: int, end: int) -> int:
    """How far later allocations inside of [begin, end) reach before anything else happens to it."""
    until = begin
    for event in events[at:]:
        over = event.address < end and event.address + event.size > begin
        if event.action in ("segment_free", "segment_unmap") and over:
            break
        if event.action != "alloc":
            continue
        last = event.address + rounded(event.size)
        if last <= begin or event.address >= end:
            continue
        if event.address < begin or last > end:
            break
        until = max(until, last)
    return until


def high_water(events: list[Event], at: int, segment: dict) -> int:
    begin, end = segment["address"], segment["address"] + segment["bytes"]
    got = max(i for i in range(at)
              if events[i].action == "segment_alloc" and events[i].address == begin)
    return max((event.address + rounded(event.size) for event in events[got:at]
                if event.action == "alloc" and begin <= event.address < end), default=begin)


def whole_segments(segments: list[dict]) -> list[dict]:
    """A snapshot has the mapped ranges of expandable segments: those of one pool and stream are one
    segment, as long as there is one only."""
    made, expandable = [], {}
    for segment in segments:
        if not segment["expandable"]:
            made.append(segment)
            continue
        key = (segment["stream"], tuple(segment["pool"]), segment["small"])
        if key not in expandable:
            expandable[key] = {**segment, "blocks": []}
            made.append(expandable[key])
        expandable[key]["blocks"] += segment["blocks"]
    return made


def reason_in_own(segment: dict, index: int, pinned: bool) -> str:
    blocks = segment["blocks"]
    if segment["expandable"]:
        behind = all(block[3] == "inactive" for block in blocks[index:])
        return "expandable_tails" if behind else "split"
    if all(block[3] == "inactive" for block in blocks):
        return "empty_segments"
    return "survivors" if pinned else "split"


def is_pinned(events: list[Event], at: int, segment: dict) -> bool:
    in_use = [block for block in segment["blocks"] if block[3] != "inactive"]
    if 4 * sum(block[1] for block in in_use) > segment["bytes"]:
        return False
    return any(outlives_its_step(events, at, block[0]) for block in in_use
               if block[3] == "active_allocated")


def parts(truth: Truth, segments: list[dict]) -> None:
    events, at = truth.events, truth.peak
    request = request_at(events, at)
    for segment in whole_segments(segments):
        pinned = is_pinned(events, at, segment)
        for index, (address, size, _, state) in enumerate(segment["blocks"]):
            if state == "active_allocated":
                continue
            end = address + size
            used = used_until(events, at, address, end)
            fresh = end
            if state != "inactive":
                why = "pending_frees"
            elif tuple(segment["pool"]) != request.pool:
                why = "private_pools"
            elif segment["stream"] != request.stream:
                why = "other_streams"
            elif segment["small"] and rounded(request.size) > MIB:
                why = "small_pool"
            else:
                why = reason_in_own(segment, index, pinned)
                if not segment["expandable"]:
                    fresh = min(end, max(address, high_water(events, at, segment)))
            truth.parts[why] += fresh - address
            truth.parts["segment_rounding"] += end - fresh
            truth.used_again[why] += min(used, fresh) - address
            truth.used_again["segment_rounding"] += max(used, fresh) - fresh


def of_peak(witness: dict) -> Truth:
    events = events_of(witness)
    truth = Truth(events, last_mark(events, "peak"))
    parts(truth, witness["peak"])
    return truth


def rounding(segments: list[dict], divisions: int) -> tuple[int, int, int]:
    """Requested bytes of the allocated blocks, and what rounding and unsplit tails add."""
    requested = multiples = tails = 0
    for segment in segments:
        for _, size, asked, state in segment["blocks"]:
            if state == "active_allocated":
                requested += asked
                multiples += powers(asked, divisions) - asked
                tails += size - powers(asked, divisions)
    return requested, multiples, tails


def blocked(witness: dict) -> list[tuple[int, int, int]]:
    """The requests that reserved memory or ran out of it: size, free in all and in one piece."""
    found = []
    for request in witness["before"]:
        size = rounded(request["bytes"])
        pieces = [block[1] for segment in request["heap"] for block in segment["blocks"]
                  if block[3] == "inactive" and segment["stream"] == request["stream"] and
                  segment["pool"] == [0, 0] and segment["small"] == (size <= MIB)]
        if sum(pieces) >= size > max(pieces, default=0):
            found.append((size, sum(pieces), max(pieces)))
    return found
