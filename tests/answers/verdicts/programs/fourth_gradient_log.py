# SPDX-License-Identifier: Apache-2.0
"""Hooks on parameters look at each gradient as it comes, for a histogram of the last one."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)

model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
seen = {}


def watch(name):
    def hook(gradient):
        seen.setdefault(name, []).append(gradient.detach().abs())  # allocates
    return hook


for name, parameter in model.named_parameters():
    if name.endswith("weight"):
        parameter.register_hook(watch(name))

for step in range(options.steps):
    x = torch.randn(64, 256, device="cuda")  # step
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 3:
        print({name: them[-1].mean().item() for name, them in seen.items()})
