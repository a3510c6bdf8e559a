# SPDX-License-Identifier: Apache-2.0
"""Makes up snapshots: a small caching allocator in Python that a loop of training steps runs on, and
the dictionary that PyTorch would give of it. For sizes that no real run has at hand, and for seeds of
the fuzzer.

python made_snapshots.py FILE EVENTS [--stacks N]   about so many events, written as they are made
python made_snapshots.py --corpus FOLDER            small ones, for tests/unit/fuzz/corpus/pickle
"""

import argparse
import gzip
import io
import json
import pickle
import random
from dataclasses import dataclass, field
from pathlib import Path

MIB = 1 << 20
BASE = 0x7F0000000000


def rounded(size: int) -> int:
    return max(512, -(-size // 512) * 512)


@dataclass
class Heap:
    """Segments with first-fit blocks, low end first; every size in multiples of 512."""

    next_address: int = BASE
    segments: dict = field(default_factory=dict)  # address → size
    free: list = field(default_factory=list)      # (address, size), of one segment each
    used: dict = field(default_factory=dict)      # address → (size, requested, segment)

    def allocate(self, requested: int, events: list, more: dict) -> int:
        size = rounded(requested)
        small = size <= MIB
        for i, (address, room, segment) in enumerate(self.free):
            if room >= size and (self.segments[segment] == 2 * MIB) == small:
                break
        else:
            segment = address = self.next_address
            room = 2 * MIB if small else max(20 * MIB, -(-size // (2 * MIB)) * 2 * MIB)
            self.next_address += room + 2 * MIB
            self.segments[segment] = room
            events.append({"action": "segment_alloc", "addr": address, "size": room, **more})
            i = len(self.free)
            self.free.append((address, room, segment))
        rest = room - size
        if rest >= (512 if small else MIB + 512):
            self.free[i] = (address + size, rest, segment)
        else:
            size = room
            del self.free[i]
        self.used[address] = (size, requested, segment)
        events.append({"action": "alloc", "addr": address, "size": requested, **more})
        return address

    def release(self, address: int, events: list, more: dict) -> None:
        size, requested, segment = self.used.pop(address)
        for action in ("free_requested", "free_completed"):
            events.append({"action": action, "addr": address, "size": requested, **more})
        end = address + size
        merged = [one for one in self.free
                  if one[2] == segment and (one[0] == end or one[0] + one[1] == address)]
        for one in merged:
            self.free.remove(one)
            address, end = min(address, one[0]), max(end, one[0] + one[1])
        self.free.append((address, end - address, segment))

    def snapshot(self) -> list:
        found = []
        for segment, size in self.segments.items():
            blocks = [(address, size, requested, "active_allocated")
                      for address, (size, requested, of) in self.used.items() if of == segment]
            blocks += [(address, size, 0, "inactive") for address, size, of in self.free if of == segment]
            found.append({
                "device": 0, "address": segment, "total_size": size, "stream": 0,
                "allocated_size": sum(one[1] for one in blocks if one[3] != "inactive"),
                "segment_type": "small" if size == 2 * MIB else "large", "segment_pool_id": (0, 0),
                "is_expandable": False, "frames": [],
                "blocks": [{"address": address, "size": size, "requested_size": requested,
                            "state": state, "frames": []}
                           for address, size, requested, state in sorted(blocks)],
            })
        return found


def frames_of(count: int) -> list[list]:
    """Stacks that share their outer frames, as a program's do."""
    outer = [{"name": "main", "filename": "train.py", "line": 80},
             {"name": "<module>", "filename": "train.py", "line": 99}]
    return [[{"name": "forward", "filename": "model.py", "line": 10 + i},
             {"name": "_call_impl", "filename": "torch/nn/modules/module.py", "line": 1787}, *outer]
            for i in range(count)]


class Steps:
    """A training loop: each step as the one before, but for a batch of varying length."""

    def __init__(self, stacks: int, seed: int = 1):
        self.heap, self.stacks = Heap(), frames_of(stacks)
        self.chance, self.time = random.Random(seed), 1_700_000_000_000_000
        self.kept = []

    def step(self) -> list:
        events: list = []
        alive = []
        for i in range(120):
            self.time += 7
            more = {"stream": 0, "time_us": self.time, "frames": self.stacks[i % len(self.stacks)],
                    "compile_context": "N/A", "user_metadata": ""}
            size = 4096 * (1 + i) if i % 3 else MIB * (1 + self.chance.randrange(8))
            alive.append(self.heap.allocate(size, events, more))
            if i % 4 == 3:
                self.heap.release(alive.pop(self.chance.randrange(len(alive))), events, more)
        for address in alive:
            self.heap.release(address, events, more)
        return events


def settings() -> dict:
    return {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
            "expandable_segments": False, "roundup_power2_divisions": {"1": 0, "2": 0}}


def small(events: int, ring: int = 0, **changes) -> dict:
    steps, trace = Steps(4), []
    while len(trace) < events:
        trace += steps.step()
    return {"segments": steps.heap.snapshot(), "device_traces": [trace[-ring:] if ring else trace],
            "allocator_settings": settings(), "external_annotations": [], **changes}


def with_everything() -> dict:
    """Each kind of event and each key that a snapshot may have."""
    stack = frames_of(1)[0]
    more = {"stream": 7, "time_us": 5, "frames": stack, "pool_id": (0, 3), "user_metadata": "cache"}
    cpp = {"name": "torch::autograd::Engine::evaluate_function()", "filename": "??", "line": 0}
    node = {"name": "torch::autograd::generated::MmBackward0::apply(x)", "filename": "a.cpp", "line": 2**64 - 1}
    trace = [
        {"action": "segment_map", "addr": BASE, "size": 20 * MIB, **more},
        {"action": "alloc", "addr": BASE, "size": 3 * MIB, **more},
        {"action": "alloc", "addr": BASE + 3 * MIB, "size": 512, **more, "frames": [node, cpp]},
        {"action": "free_requested", "addr": BASE, "size": 3 * MIB, **more},
        {"action": "oom", "device_free": 77, "size": 40 * MIB, **more},
        {"action": "free_completed", "addr": BASE + 9 * MIB, "size": 4096, **more},
        {"action": "segment_unmap", "addr": BASE + 18 * MIB, "size": 2 * MIB, **more},
        {"action": "snapshot", "addr": 0, "size": 0, **more},
        {"action": "worker_started", "addr": 0, "size": 0, **more},
    ]
    blocks = [{"address": BASE, "size": 3 * MIB, "requested_size": 3 * MIB,
               "state": "active_pending_free", "frames": stack},
              {"address": BASE + 3 * MIB, "size": 512, "requested_size": 512,
               "state": "active_allocated", "frames": []},
              {"size": 15 * MIB - 512, "requested_size": 0, "state": "inactive"}]
    segment = {"device": 0, "address": BASE, "total_size": 18 * MIB, "stream": 7,
               "segment_type": "large", "segment_pool_id": (0, 3), "is_expandable": True,
               "frames": stack, "blocks": blocks}
    marks = [{"stage": stage, "name": name, "device": 0, "time_us": time}
             for time, stage, name in ((4, "START", "Optimizer.step#SGD.step"),
                                       (6, "END", "Optimizer.step#SGD.step"), (7, "START", "mine"))]
    return {"segments": [segment], "device_traces": [trace, []], "external_annotations": marks,
            "allocator_settings": {**settings(), "expandable_segments": True, "max_split_size": 32 * MIB,
                                   "garbage_collection_threshold": 0.8,
                                   "roundup_power2_divisions": {"1": 0, "2": 4}}}


def profiler_trace() -> dict:
    """As torch.profiler writes it: blocks that were there before, of two devices and the CPU, by two
    threads, steps of its own and an optimizer's."""
    events, total = [], {0: 4 * MIB, 1: 0}
    for i, (device, address, size) in enumerate([(0, 1, MIB), (1, 1, 512), (0, 9, -2 * MIB),
                                                 (0, 1, -MIB), (1, 5, 3 * MIB), (0, 7, 512)]):
        total[device] += size
        events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "tid": 7 + i % 2,
                       "ts": 1000.5 + 9 * i, "args": {
                           "Addr": BASE + address, "Bytes": size, "Device Type": 1,
                           "Device Id": device, "Total Allocated": total[device],
                           "Total Reserved": 8 * MIB}})
    events.append({**events[0], "args": {**events[0]["args"], "Device Type": 0, "Device Id": -1}})
    events += [{"ph": "X", "cat": kind, "name": name, "tid": thread, "ts": time, "dur": 20}
               for kind, name, thread, time in (
                   ("user_annotation", "ProfilerStep#0", 7, 1000), ("user_annotation", "ProfilerStep#1", 7, 1021),
                   ("user_annotation", "Optimizer.step#SGD.step", 7, 1010),
                   ("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 8, 1001))]
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU", "totalGlobalMem": 24 << 30}],
            "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2},
            "baseTimeNanoseconds": 1_700_000_000_000_000_000, "traceEvents": events[::-1], "traceName": "x"}


def corpus(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "steps").write_bytes(pickle.dumps(small(1), 4))
    for protocol in (2, 3, 4, 5):
        (folder / f"everything{protocol}").write_bytes(pickle.dumps(with_everything(), protocol))
    (folder / "ring").write_bytes(pickle.dumps(small(300, ring=40), 4))
    (folder / "segments").write_bytes(pickle.dumps(small(1)["segments"], 4))
    profile = json.dumps(profiler_trace()).encode()
    (folder / "profiler").write_bytes(profile)
    (folder / "profiler_packed").write_bytes(gzip.compress(profile, mtime=0))
    (folder / "timeline").write_bytes(b"[[1, 2], [[0, 512], [0, 0]]]")
    (folder / "other").write_bytes(pickle.dumps({"weights": [1.5, None, True, {"a": (1, 2, 3)}]}, 4))
    (folder / "calls").write_bytes(pickle.dumps({"segments": io.BytesIO}, 4))


def big(file: Path, events: int, stacks: int) -> int:
    """Streams: batches of a thousand events go to the file as they are made."""
    steps, written = Steps(stacks), 0
    with open(file, "wb") as to:
        pickler = pickle._Pickler(to, 4)
        write = to.write
        write(pickle.PROTO + bytes([4]) + pickle.EMPTY_DICT + pickle.MARK)
        pickler.memo.clear()
        pickler.framer.current_frame = None

        def save(value):
            pickler.save(value)

        save("device_traces")
        write(pickle.EMPTY_LIST + pickle.MARK + pickle.EMPTY_LIST)
        while written < events:
            batch = steps.step()
            write(pickle.MARK)
            for event in batch:
                write(pickle.EMPTY_DICT + pickle.MARK)
                for key, value in event.items():
                    save(key)
                    save(value)
                write(pickle.SETITEMS)
            write(pickle.APPENDS)
            written += len(batch)
        write(pickle.APPENDS)
        for key, value in (("segments", steps.heap.snapshot()), ("allocator_settings", settings())):
            save(key)
            save(value)
        write(pickle.SETITEMS + pickle.STOP)
    return written


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("events", type=int, nargs="?", default=10**6)
    parser.add_argument("--stacks", type=int, default=200)
    parser.add_argument("--corpus", type=Path)
    chosen = parser.parse_args()
    if chosen.corpus:
        corpus(chosen.corpus)
    else:
        print(big(chosen.file, chosen.events, chosen.stacks), "events")
