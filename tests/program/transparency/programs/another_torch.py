# SPDX-License-Identifier: Apache-2.0
"""A PyTorch that lacks something, or that nobody knows: what is named in the arguments is taken
away, or `version=2.0.1`, before CUDA is touched; then a model trains."""

import sys

import torch
import torch.optim.optimizer

import models


def take_away(what: str) -> None:
    if what.startswith("version"):
        torch.__version__ = what.partition("=")[2] or "9.9.9"
        return
    *path, name = what.split(".")
    owner = sys.modules[".".join(path)] if ".".join(path) in sys.modules else None
    if owner is None:
        owner = getattr(sys.modules[".".join(path[:-1])], path[-1])
    delattr(owner, name)


for each in sys.argv[1:]:
    take_away(each)
model, _ = models.hooked("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    models.step(model, optimizer, "cuda")
stats = torch.cuda.memory_stats()
print(stats["allocation.all.allocated"], stats["allocated_bytes.all.peak"])
