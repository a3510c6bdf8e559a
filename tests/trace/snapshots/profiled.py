# SPDX-License-Identifier: Apache-2.0
"""Trains under torch.profiler, as a user would, and leaves what it writes: NAME.json (the trace),
NAME.timeline.json.gz of one, and NAME.stats.json (memory_stats, since the profiler began).

python profiled.py FOLDER NAME    leaking, bounded or late; under memtrace
"""

import ctypes
import json
import sys
import traceback
import warnings
from collections import deque
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, schedule

STEPS = 16
TIMELINE = "leaking"  # with the frames and shapes that a memory timeline needs


def train(name: str, kept: list | deque) -> profile:
    """Memory grows in the first alone; the second keeps as much, of the latest two steps."""
    if name == "late":
        kept.append(torch.empty(3_000_001, device="cuda"))
        torch.empty(30_000_000, device="cuda")
        kept.append(torch.empty(5_000_001, device="cuda"))
        torch.cuda.reset_peak_memory_stats()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True,
                 record_shapes=name == TIMELINE, with_stack=name == TIMELINE,
                 schedule=schedule(wait=0, warmup=0, active=STEPS, repeat=1)) as profiler:
        model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(),
                                    torch.nn.Linear(512, 512)).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        for step in range(STEPS):
            loss = model(torch.randn(300, 512, device="cuda")).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            kept.append(torch.empty(300_001, device="cuda"))
            if step + 1 < STEPS:
                profiler.step()
    return profiler


def main(folder: Path, name: str) -> None:
    status = 1
    kept = [] if name == "leaking" else deque(maxlen=2)
    try:
        profiler = train(name, kept)
        stats = torch.cuda.memory_stats()
        profiler.export_chrome_trace(str(folder / f"{name}.json"))
        if name == TIMELINE:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                profiler.export_memory_timeline(str(folder / f"{name}.timeline.json.gz"), device="cuda:0")
        (folder / f"{name}.stats.json").write_text(json.dumps(stats))
        status = 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).exit(status)  # C's: the trace is finished


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
