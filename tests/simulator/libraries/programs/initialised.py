# SPDX-License-Identifier: Apache-2.0
"""Builds a model on the CPU in the ways that weights are initialised, trains it for two steps on the GPU, and
prints what a program can see: random numbers, which weights are zeros, PyTorch's counters, host memory."""
import copy

import torch
from torch import nn

WIDTH = 1024  # a weight of 4 MiB, more than the simulator remembers of an upload


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.trunc_normal_(module.weight, std=0.02)
    if isinstance(module, nn.Embedding):
        module.weight.data.normal_(mean=0.0, std=0.02)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(8192, WIDTH)
        self.layers = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
                                      for _ in range(4)))
        self.head = nn.Linear(WIDTH, 8192, bias=False)
        nn.init.xavier_uniform_(self.head.weight)

    def forward(self, ids):
        return self.head(self.layers(self.tokens(ids)))


torch.manual_seed(1)
before = resident()
model = Model().apply(initialise)
halves = copy.deepcopy(model).to(torch.bfloat16)
# No multiple of 16 elements: what is left is drawn in another way.
fills = [getattr(torch.empty((1 << 20) + 3, dtype=dtype), name)() for dtype in (torch.half, torch.double, torch.bfloat16)
         for name in ("normal_", "uniform_")]
own = torch.empty(1 << 20).normal_(generator=torch.Generator().manual_seed(2))
print("numbers", torch.rand(2).tolist(), torch.randn(40).sum().item(), torch.randperm(5).tolist())
print("made", torch.randn(1 << 20).std().item(), torch.rand(1 << 20).mean().item(), torch.randint(9, (1 << 19,)).sum().item())
print("small", nn.Linear(64, 64).weight.abs().sum().item())
print("HOST", (resident() - before) >> 20)
print("LARGE", model.head.weight.abs().max().item(), model.tokens.weight.abs().max().item(),
      model.layers[0][0].weight.abs().max().item(), halves.head.weight.abs().max().item(), own.abs().max().item(),
      *(fill.abs().max().item() for fill in fills))

model, halves = model.cuda(), halves.cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    ids = torch.randint(0, 8192, (4, 128)).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten()) + halves(ids).float().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
stats = torch.cuda.memory_stats()
print("stats", [stats[f"{what}.all.{when}"] for what in ("allocation", "allocated_bytes", "reserved_bytes", "segment")
                for when in ("peak", "allocated", "freed")])
