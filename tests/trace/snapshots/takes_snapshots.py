# SPDX-License-Identifier: Apache-2.0
"""Programs that take a memory snapshot of themselves while memtrace records them.

python takes_snapshots.py FOLDER NAME: FOLDER gets NAME.pickle, and NAME.json (memory_stats of each device).
"""

import ctypes
import gc
import json
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

MIB = 1 << 20


@dataclass
class Kind:
    run: object
    settings: str = ""
    memory_mib: int = 4 << 10
    devices: int = 1
    history: dict | None = None  # of _record_memory_history; None: off, or the program's own


def record(**options) -> None:
    torch.cuda.memory._record_memory_history(
        **{"enabled": "all", "context": "all", "stacks": "python", "max_entries": 10**6, **options})


def model(width: int = 256, device: str = "cuda") -> nn.Module:
    return nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)).to(device)


def train(net: nn.Module, steps: int, kept=None, rows: int = 512, device: str = "cuda") -> None:
    optimizer = torch.optim.AdamW(net.parameters())
    for _ in range(steps):
        batch = torch.zeros(rows, net[0].in_features, device=device)
        loss = net(batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if kept is not None:
            kept.append(loss)


def training(kind: Kind):
    net = model()
    train(net, 24)
    return net


def leaking(kind: Kind):
    net, losses = model(), []
    for _ in range(40):
        batch = torch.zeros(512, 256, device="cuda")
        losses.append(net(batch).square().mean())
    return net, losses


def late(kind: Kind):
    net = model()
    train(net, 3)
    record()
    train(net, 5)
    return net


def ring(kind: Kind):
    record(max_entries=150)
    net, kept = model(), []
    train(net, 8, kept)
    return net, kept


def varying(kind: Kind):
    net = model()
    for i in range(16):
        train(net, 1, rows=300 + 217 * i)
    return net


def emptied(kind: Kind):
    kept = []
    for i in range(6):
        layers = [torch.empty((40 + 10 * i) * MIB, dtype=torch.uint8, device="cuda") for _ in range(4)]
        kept.append(torch.empty(2 * MIB, dtype=torch.uint8, device="cuda"))
        del layers
        torch.cuda.empty_cache()
    return kept


def pools(kind: Kind):
    net = model()
    train(net, 2)
    pool = own = None
    if hasattr(torch.cuda, "use_mem_pool"):  # since 2.6
        pool = torch.cuda.MemPool()
        with torch.cuda.use_mem_pool(pool):
            own = [torch.empty(5 * MIB, dtype=torch.uint8, device="cuda") for _ in range(3)]
    graph = torch.cuda.CUDAGraph()
    batch = torch.zeros(64, 256, device="cuda")
    with torch.cuda.graph(graph):
        result = net(batch)
    graph.replay()
    return net, pool, own, graph, batch, result


def streams(kind: Kind):
    other = torch.cuda.Stream()
    kept = []
    for i in range(20):
        tensor = torch.empty((3 + i) * MIB, dtype=torch.uint8, device="cuda")
        with torch.cuda.stream(other):
            work = torch.empty(2 * MIB, dtype=torch.uint8, device="cuda")
            tensor.record_stream(other)
            if i % 5 == 0:
                kept.append(work)
        del tensor
    return kept, other


def two_devices(kind: Kind):
    nets = [model(device=f"cuda:{i}") for i in range(2)]
    for _ in range(4):
        for i, net in enumerate(nets):
            train(net, 1 + i, device=f"cuda:{i}")
    return nets


def out_of_memory(kind: Kind):
    net, kept = model(), []
    try:
        while True:
            batch = torch.zeros(8192, 256, device="cuda")
            kept.append(net(batch))
    except torch.cuda.OutOfMemoryError:
        pass
    return net, kept


def named(kind: Kind):
    torch._C._cuda_setMemoryMetadata("keys and values")
    cache = [torch.empty(3 * MIB, dtype=torch.uint8, device="cuda") for _ in range(4)]
    torch._C._cuda_setMemoryMetadata("")
    return cache, torch.empty(MIB, dtype=torch.uint8, device="cuda")


PROGRAMS = {
    "training": Kind(training, history={}),
    "leaking": Kind(leaking, history={}),
    "all_frames": Kind(training, history={"stacks": "all"}),
    "no_frames": Kind(training, history={"context": None}),
    "no_history": Kind(training),
    "late": Kind(late),
    "ring": Kind(ring),
    "varying": Kind(varying, history={}),
    "emptied": Kind(emptied, history={}),
    "pools": Kind(pools, history={}),
    "streams": Kind(streams, history={}),
    "expandable": Kind(varying, "expandable_segments:True", history={}),
    "expandable_late": Kind(late, "expandable_segments:True"),
    "rounded": Kind(varying, "roundup_power2_divisions:4,max_split_size_mb:32", history={}),
    "two_devices": Kind(two_devices, devices=2, history={}),
    "out_of_memory": Kind(out_of_memory, memory_mib=600, history={}),
    "named": Kind(named, history={}),
}


def main(folder: Path, name: str) -> None:
    kind = PROGRAMS[name]
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = kind.settings
    os.environ["MEMTRACE_SIM_MEMORY"] = str(kind.memory_mib * MIB)
    status, kept = 1, None
    try:
        torch.cuda.init()
        if kind.history is not None:
            record(**kind.history)
        kept = kind.run(kind)
        gc.disable()  # a collection would free tensors while the snapshot is taken
        stats = [torch.cuda.memory_stats(i) for i in range(kind.devices)]
        torch.cuda.memory._dump_snapshot(str(folder / f"{name}.pickle"))
        (folder / f"{name}.json").write_text(json.dumps(stats))
        status = 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    # C's exit: the trace is finished, and what is kept is not freed.
    ctypes.CDLL(None).exit(status if kept is not None else 1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
