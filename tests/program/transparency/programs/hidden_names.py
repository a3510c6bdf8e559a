# SPDX-License-Identifier: Apache-2.0
"""A PyTorch in which names of its own are others, as far as memtrace's agent can see: it finds
modules in sys.modules, where the arguments (MODULE:PATH) put stand-ins that lack them."""

import sys
import types

import torch
import torch.optim.optimizer

import models

AGENT = "<memtrace: agent.py>"


class StandIn(types.ModuleType):
    def __init__(self, real, path):
        name, _, rest = path.partition(".")
        object.__getattribute__(self, "__dict__").update(_real=real, _name=name, _rest=rest)

    def __getattribute__(self, name):
        mine = object.__getattribute__(self, "__dict__")
        if name != mine["_name"] or sys._getframe(1).f_code.co_filename != AGENT:
            return getattr(mine["_real"], name)  # PyTorch itself needs it
        if not mine["_rest"]:
            raise AttributeError(name)
        return StandIn(getattr(mine["_real"], name), mine["_rest"])

    def __setattr__(self, name, value):
        setattr(object.__getattribute__(self, "__dict__")["_real"], name, value)

    def __call__(self, *arguments, **named):
        return object.__getattribute__(self, "__dict__")["_real"](*arguments, **named)


for hidden in sys.argv[1:]:
    module, _, path = hidden.partition(":")
    sys.modules[module] = StandIn(sys.modules[module], path)
model, _ = models.hooked("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    models.step(model, optimizer, "cuda")
stats = torch.cuda.memory_stats()
print(stats["allocation.all.allocated"], stats["allocated_bytes.all.peak"])
