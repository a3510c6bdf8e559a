# SPDX-License-Identifier: Apache-2.0
"""Programs whose fragmentation is known; PyTorch's own snapshots of each are written down as the truth.

python fragmented.py FOLDER NAME: FOLDER gets NAME.json.
"""

import ctypes
import gc
import json
import os
import random
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

import torch

import memtrace

MIB = 1 << 20


@dataclass
class Kind:
    run: object
    settings: str = ""
    memory_mib: int = 4 << 10
    blocked: bool = False  # snapshots before each request, to know which were blocked


def simplified(segments: list) -> list:
    return [
        {
            "address": one["address"], "bytes": one["total_size"], "stream": one["stream"],
            "pool": list(one["segment_pool_id"]), "small": one["segment_type"] == "small",
            "expandable": one["is_expandable"],
            "blocks": [[block["address"], block["size"], block["requested_size"], block["state"]]
                       for block in one["blocks"]],
        }
        for one in segments
    ]


class Watch:
    """Allocates, and looks at the heap whenever more is reserved than ever before, or as much, and more allocated."""

    def __init__(self, kind: Kind):
        torch.cuda.init()
        torch.cuda.memory._record_memory_history(enabled="all", context=None, max_entries=1 << 20)
        self.kind = kind
        self.marks = []  # what each snapshot of the history was taken for
        self.peak = self.oom = None
        self.most = (0, 0)
        self.before = []  # of each request that reserved memory: what it asked, and the heap

    def look(self, what: str) -> dict:
        snapshot = torch.cuda.memory._snapshot()
        self.marks.append(what)
        return snapshot

    def seen(self) -> None:
        now = (torch.cuda.memory_reserved(), torch.cuda.memory_allocated())
        if now > self.most:
            self.most = now
            self.peak = simplified(self.look("peak")["segments"])

    def new(self, mib: float) -> torch.Tensor:
        asked = int(mib * MIB)
        heap = simplified(self.look("before")["segments"]) if self.kind.blocked else None
        reserved = torch.cuda.memory_reserved()
        request = {"bytes": asked, "stream": torch.cuda.current_stream().cuda_stream, "heap": heap}
        try:
            made = torch.empty(asked, dtype=torch.uint8, device="cuda")
        except torch.OutOfMemoryError:
            self.oom = simplified(self.look("oom")["segments"])
            self.before.append(request)
            raise
        if torch.cuda.memory_reserved() > reserved:
            self.before.append(request)
        self.seen()
        return made

    def step(self) -> None:
        memtrace.step()
        self.look("step")

    def witness(self) -> dict:
        history = self.look("end")["device_traces"][0]
        stats = torch.cuda.memory_stats()
        return {
            "marks": self.marks, "peak": self.peak, "oom": self.oom,
            "before": self.before if self.kind.blocked else None,
            "retries": stats["num_alloc_retries"],
            "peak_reserved": stats["reserved_bytes.all.peak"],
            "peak_allocated": stats["allocated_bytes.all.peak"],
            "history": [[one["action"], one.get("addr", 0), one["size"], one["stream"],
                         list(one.get("segment_pool_id", one.get("pool_id", (0, 0))))]
                        for one in history],
        }


def growing_cat(gpu: Watch):
    """A sequence that grows by torch.cat: each request is a little larger than all before."""
    weights = gpu.new(64)
    sequence = gpu.new(12)
    for length in range(13, 75):
        longer = gpu.new(length)
        del sequence
        sequence = longer
        scores = gpu.new(length / 4)
        del scores
        gpu.step()
    return weights, sequence


def variable_lengths(gpu: Watch):
    draw = random.Random(4)
    weights = [gpu.new(6.5) for _ in range(8)]
    for _ in range(60):
        length = draw.uniform(2, 40)
        layers = [gpu.new(length * width) for width in (1, 0.37, 2.2, 0.61)]
        while layers:
            gradient = gpu.new(layers[-1].numel() / MIB * 0.93)
            layers.pop()
            del gradient
        gpu.step()
    return weights


def survivors(gpu: Watch):
    """Beside each large temporary something small is made that is kept."""
    kept, temporaries = [], []
    for _ in range(60):
        temporaries.append(gpu.new(9))
        kept.append(gpu.new(1.2))  # kept for good
    gpu.step()
    temporaries.clear()
    gpu.step()
    large = [gpu.new(19) for _ in range(20)]
    gpu.step()
    return kept, large


def second_stream(gpu: Watch):
    """A loader copies batches on a stream of its own; the main stream uses them."""
    side = torch.cuda.Stream()
    waiting = []
    for i in range(40):
        with torch.cuda.stream(side):
            batch = gpu.new(30 + i % 7)
        batch.record_stream(torch.cuda.current_stream())
        waiting.append(batch)
        if len(waiting) > 3:
            waiting.pop(0)
        work = gpu.new(25 + 3 * (i % 5))
        del work
        gpu.step()
    waiting.clear()
    batch = None
    model = [gpu.new(35) for _ in range(3)]
    return model


def busy_stream(gpu: Watch):
    """Blocks are freed while a stream that they were lent to is busy for a second."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(1_500_000_000)
    for i in range(12):
        batch = gpu.new(30)
        batch.record_stream(side)
        del batch
        if i % 4 == 3:
            gpu.step()
    return gpu.new(20)


def train_and_evaluate(gpu: Watch):
    weights = gpu.new(40)
    for epoch in range(4):
        for _ in range(6):
            layers = [gpu.new(24) for _ in range(8)]
            del layers
            gpu.step()
        layers = [gpu.new(60) for _ in range(4)]
        logits = gpu.new(33 + epoch)
        del layers, logits
        gpu.step()
    return weights


def multi_scale(gpu: Watch):
    kept = gpu.new(5)
    for size in list(range(320, 641, 32)) * 3:
        area = size * size / (320 * 320)
        maps = [gpu.new(40 * area / 2 ** level) for level in range(4)]
        del maps
        gpu.step()
    return kept


def private_pool(gpu: Watch):
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        inside = [gpu.new(30) for _ in range(4)]
    kept = inside.pop()
    del inside
    outside = [gpu.new(30) for _ in range(3)]
    gpu.step()
    return pool, kept, outside


def blocked(gpu: Watch):
    """Memory runs out although enough is free: no block is large enough."""
    kept = []
    pieces = []
    for _ in range(24):
        pieces.append(gpu.new(9))
        kept.append(gpu.new(6))
    pieces.clear()
    gpu.step()
    try:
        gpu.new(200)
    except torch.OutOfMemoryError:
        pass
    return kept


def expandable(gpu: Watch):
    kept = []
    for i in range(20):
        first = gpu.new(10 + i)
        kept.append(gpu.new(3))
        del first
        gpu.step()
    tail = gpu.new(300)
    del tail
    large = gpu.new(90)
    gpu.step()
    return kept, large


def small_blocks(gpu: Watch):
    kept = []
    for _ in range(3000):
        first = gpu.new(0.3)
        kept.append(gpu.new(0.01))
        del first
        if len(kept) % 100 == 0:
            gpu.step()
    return kept, [gpu.new(0.9) for _ in range(40)]


def rounded(gpu: Watch):
    kept = [gpu.new(1.1 * size) for size in (1, 3, 9.3, 17, 33, 70.01, 130)]
    odd = [gpu.new(0.0003), gpu.new(0.7), gpu.new(1.5)]
    gpu.step()
    return kept, odd


def emptied(gpu: Watch):
    """Segments go back to the driver, and come again at the same addresses."""
    kept = []
    for i in range(6):
        layers = [gpu.new(40 + 10 * i) for _ in range(4)]
        kept.append(gpu.new(2))
        del layers
        torch.cuda.empty_cache()
        gpu.step()
    last = gpu.new(14)
    return kept, last


def healthy(gpu: Watch):
    weights = [gpu.new(16) for _ in range(20)]
    for _ in range(20):
        layers = [gpu.new(32) for _ in range(10)]
        while layers:
            gradient = gpu.new(16)
            layers.pop()
            del gradient
        gpu.step()
    return weights


PROGRAMS = {
    "growing_cat": Kind(growing_cat),
    "variable_lengths": Kind(variable_lengths, blocked=True),
    "survivors": Kind(survivors, blocked=True),
    "second_stream": Kind(second_stream),
    "busy_stream": Kind(busy_stream),
    "train_and_evaluate": Kind(train_and_evaluate),
    "multi_scale": Kind(multi_scale, blocked=True),
    "private_pool": Kind(private_pool),
    "blocked": Kind(blocked, memory_mib=880, blocked=True),
    "expandable": Kind(expandable, "expandable_segments:True"),
    "small_blocks": Kind(small_blocks),
    "rounded": Kind(rounded),
    "rounded_to_powers": Kind(rounded, "roundup_power2_divisions:4"),
    "max_split": Kind(variable_lengths, "max_split_size_mb:32"),
    "emptied": Kind(emptied),
    "healthy": Kind(healthy),
}


def main(folder: Path, name: str) -> None:
    kind = PROGRAMS[name]
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = kind.settings
    os.environ["MEMTRACE_SIM_MEMORY"] = str(kind.memory_mib * MIB)
    status = 0
    kept = None
    try:
        gpu = Watch(kind)
        kept = kind.run(gpu)
        gc.disable()
        (folder / f"{name}.json").write_text(json.dumps(gpu.witness()))
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    # C's exit: the trace is finished, and what is kept is not freed.
    ctypes.CDLL(None).exit(status if kept is not None else 1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
