# SPDX-License-Identifier: Apache-2.0
"""torch.compile beside phases: around a compiled function, and inside one."""
import torch

import memtrace

layer = torch.nn.Linear(32, 32).cuda()


def inside(x):
    with memtrace.phase("inside"):
        y = layer(x)
    memtrace.step()
    memtrace.counter("tokens", 3)
    memtrace.census()
    memtrace.annotate(y, "outputs")
    return y * 2


@memtrace.phase("decorated")
def decorated(x):
    return layer(x)


def with_a_break(x):
    with memtrace.phase("with a break"):
        y = layer(x)
        torch._dynamo.graph_break()
        return layer(y)


x = torch.ones(4, 32, device="cuda")
whole = torch.compile(layer, fullgraph=True)
with memtrace.phase("around"):
    print(tuple(whole(x).shape))
for function in (inside, decorated):
    print(tuple(torch.compile(function, fullgraph=True)(x).shape))
    print(torch._dynamo.explain(function)(x).graph_count)
with memtrace.phase("outer"):
    print(tuple(torch.compile(with_a_break)(x).shape))
