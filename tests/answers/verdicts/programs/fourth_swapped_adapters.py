# SPDX-License-Identifier: Apache-2.0
"""Seven low-rank adapters are trained in turn; at most three are on the GPU, the others wait on the host."""

import argparse
from collections import OrderedDict

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=38)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
NAMES = ("law", "code", "verse", "news", "maths", "chat", "songs")


class Adapter(nn.Module):
    def __init__(self, width=2048, rank=32):
        super().__init__()
        self.down, self.up = nn.Linear(width, rank, bias=False), nn.Linear(rank, width, bias=False)

    def forward(self, x):
        return self.up(self.down(x))


class Residents:
    def __init__(self, most):
        self.most, self.on_gpu, self.on_host = most, OrderedDict(), {name: Adapter() for name in NAMES}

    def get(self, name):
        if name in self.on_gpu:
            self.on_gpu.move_to_end(name)
        else:
            if len(self.on_gpu) == self.most:
                oldest, adapter = self.on_gpu.popitem(last=False)
                self.on_host[oldest] = adapter.cpu()
            self.on_gpu[name] = self.on_host.pop(name).cuda()
        return self.on_gpu[name]


base = nn.Linear(2048, 2048).cuda().requires_grad_(False)
residents = Residents(most=3)
for step in range(options.steps):
    x = torch.randn(16, 2048, device="cuda")  # step
    adapter = residents.get(NAMES[step // 5 % len(NAMES)])
    (base(x) + adapter(x)).square().mean().backward()
    with torch.no_grad():
        for parameter in adapter.parameters():
            parameter -= 0.01 * parameter.grad
            parameter.grad = None
