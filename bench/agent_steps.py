# SPDX-License-Identifier: Apache-2.0
"""Training steps of a model of 300 parameters, timed one by one: python agent_steps.py STEPS [SPIN].

SPIN is how often a small loop runs in every step, which stands for a training's other work on the
host: a fixed amount, so that what is added to a step is not swallowed by a wait."""

import json
import os
import sys
import time

import torch
from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks

WARM_UP = 10
LAYERS = 25  # of 12 parameters each


def build():
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False).cuda()
    parameters = list(model.parameters())
    assert len(parameters) == 300
    return model, torch.optim.AdamW(parameters)


def time_hooks(spent: list[int]) -> None:
    """Adds up in spent[0] what the global hooks of optimizers take: the agent's, if it is there."""
    def timed(hook):
        def around(*arguments):
            before = time.perf_counter_ns()
            hook(*arguments)
            spent[0] += time.perf_counter_ns() - before
        return around

    for hooks in (_global_optimizer_pre_hooks, _global_optimizer_post_hooks):
        for key, hook in hooks.items():
            hooks[key] = timed(hook)


def main(steps: int, spin: int) -> None:
    torch.set_num_threads(1)
    model, optimizer = build()
    batch = torch.zeros(4, 32, 64, device="cuda")

    def step():
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
        for _ in range(spin):
            pass

    all_used, all_before = time.process_time_ns(), time.perf_counter_ns()
    for _ in range(WARM_UP):
        step()
    wall, processor, in_hooks, spent = [], [], [], [0]
    time_hooks(spent)
    for _ in range(steps):
        spent[0] = 0
        used, before = time.process_time_ns(), time.perf_counter_ns()
        step()
        wall.append(time.perf_counter_ns() - before)
        processor.append(time.process_time_ns() - used)
        in_hooks.append(spent[0])
    stats = torch.cuda.memory_stats()
    events = stats["allocation.all.allocated"] + stats["allocation.all.freed"]
    print("RESULT " + json.dumps({
        "all_wall_ns": time.perf_counter_ns() - all_before, "all_cpu_ns": time.process_time_ns() - all_used,
        "wall_ns": wall, "cpu_ns": processor, "hooks_ns": in_hooks,
        "events": events / (steps + WARM_UP),
        "processors": os.cpu_count(),
    }))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
