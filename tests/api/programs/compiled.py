# SPDX-License-Identifier: Apache-2.0
"""torch.compile beside phases: around a compiled function, and inside one."""
import torch

import memtrace

layer = torch.nn.Linear(32, 32).cuda()


def inside(x):
    with memtrace.phase("inside"):
        y = layer(x)
    memtrace.step()
    return y * 2


whole = torch.compile(layer, fullgraph=True)
x = torch.ones(4, 32, device="cuda")
with memtrace.phase("around"):
    print(tuple(whole(x).shape))
print(tuple(torch.compile(inside)(x).shape))
