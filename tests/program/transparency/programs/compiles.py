# SPDX-License-Identifier: Apache-2.0
"""torch.compile of models, of functions and of optimizer steps; prints every graph, graph break and
recompilation. Arguments: the backend; `agent-first`, or `agent-between`: an agent comes with the
first CUDA event, before anything is compiled or between two compiled trainings."""

import json
import sys

import torch
import torch._dynamo
from torch._dynamo.backends.registry import lookup_backend
from torch._dynamo.utils import counters

import models
from saying import digest, say

graphs = []


def backend(graph, inputs):
    graphs.append(digest(graph.print_readable(print_output=False)))
    return lookup_backend(sys.argv[1])(graph, inputs)


def compiled(what, **how):
    return torch.compile(what, backend=backend, **how)


def say_compiled(moment):
    """Since the last call."""
    say(f"{moment} graphs", [len(graphs), graphs])
    for kind in ("stats", "graph_break", "recompiles", "unimplemented", "frames", "aot_autograd"):
        say(f"{moment} {kind}", sorted(counters[kind].items()))
    graphs.clear()
    counters.clear()


class Broken(torch.nn.Module):
    """One graph break in every forward."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(8, 8) for _ in range(2)])

    def forward(self, x):
        x = self.layers[0](x)
        torch._dynamo.graph_break()
        return self.layers[1](x).sum()


class Training:
    """A compiled model, a compiled loss with fullgraph, and a compiled optimizer."""

    def __init__(self, device):
        self.device = device
        self.model, _ = models.hooked(device)
        self.compiled = compiled(self.model, fullgraph=True)
        named = {} if device == "cpu" else {"capturable": True}
        self.optimizer = torch.optim.AdamW(self.model.parameters(), **named)
        self.update = compiled(self.optimizer.step)
        self.plain = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.plain_update = compiled(lambda: self.plain.step())
        self.loss = compiled(torch.nn.functional.cross_entropy, fullgraph=True)
        self.broken = compiled(Broken().to(device))

    def step(self, length=16):
        tokens = torch.arange(length).to(self.device) % 64
        self.loss(self.compiled(tokens), tokens).backward()
        self.update()
        self.plain_update()
        self.optimizer.zero_grad()
        self.broken(torch.ones(4, 8).to(self.device)).backward()

    def several(self):
        for length in (16, 16, 24):
            self.step(length)


def in_place(device):
    """Module.compile, and a compiled part of a model that is not compiled."""
    model, _ = models.hooked(device)
    model.compile(backend=backend, fullgraph=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    other, _ = models.hooked(device)
    other.blocks[0] = compiled(other.blocks[0])
    for each in (model, other):
        for _ in range(2):
            models.step(each, optimizer, device)


def agent_between():
    early = Training("cpu")
    early.several()
    say_compiled("CPU, before CUDA")
    late = Training("cuda")
    late.several()
    say_compiled("CUDA")
    early.several()
    # Dynamo guards a compiled Optimizer.step with the number of its hooks. See test_compile.py.
    frames, breaks = counters.pop("frames", {}), counters.pop("graph_break", {})
    print("looked at again:", json.dumps([frames.get("total", 0), sum(breaks.values())]), file=sys.stderr)
    say_compiled("CPU again")
    late.several()
    say_compiled("CUDA again")


def agent_first():
    model, _ = models.hooked("cuda")
    models.step(model, torch.optim.AdamW(model.parameters()), "cuda")
    Training("cuda").several()
    say_compiled("CUDA")
    in_place("cuda")
    say_compiled("in place")


def main():
    {"agent-first": agent_first, "agent-between": agent_between}[sys.argv[2]]()
    say("memory", [torch.cuda.max_memory_allocated(), torch.cuda.memory_stats()["allocation.all.allocated"]])


main()
