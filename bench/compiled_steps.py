# SPDX-License-Identifier: Apache-2.0
"""Training steps of a small transformer, timed one by one: python compiled_steps.py STEPS [--eager].

Prints RESULT and JSON: wall_ns and cpu_ns of each step, allocations of one."""

import json
import sys
import time

import torch

WARM_UP = 10
LAYERS = 8


def main(steps: int, eager: bool) -> None:
    torch.set_num_threads(1)
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    forward = model if eager else torch.compile(model)
    batch = torch.zeros(4, 32, 64, device="cuda")

    def step():
        optimizer.zero_grad()
        forward(batch).sum().backward()
        optimizer.step()

    for _ in range(WARM_UP):
        step()
    allocated = torch.cuda.memory_stats()["allocation.all.allocated"]
    wall, processor = [], []
    for _ in range(steps):
        used, before = time.process_time_ns(), time.perf_counter_ns()
        step()
        wall.append(time.perf_counter_ns() - before)
        processor.append(time.process_time_ns() - used)
    made = torch.cuda.memory_stats()["allocation.all.allocated"] - allocated
    print("RESULT", json.dumps({"wall_ns": wall, "cpu_ns": processor, "allocations": made / steps}))


if __name__ == "__main__":
    main(int(sys.argv[1]), "--eager" in sys.argv)
