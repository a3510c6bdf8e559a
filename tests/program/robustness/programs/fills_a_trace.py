# SPDX-License-Identifier: Apache-2.0
"""Many events from stacks and sizes that do not repeat, so that the trace grows."""

import random

import torch

choose = random.Random(1)
scope = {"torch": torch}
held = []
for number in range(400):
    lines = "\n" * choose.randrange(3000)
    exec(f"{lines}def made_{number}_{'x' * 200}(size):\n    return torch.empty(size, device='cuda')", scope)
    function = scope[f"made_{number}_{'x' * 200}"]
    for _ in range(200):
        held.append(function(choose.randrange(1, 1 << 16)))
        if len(held) > 100:
            held.pop(choose.randrange(len(held)))
print(torch.cuda.memory_stats()["allocation.all.allocated"])
