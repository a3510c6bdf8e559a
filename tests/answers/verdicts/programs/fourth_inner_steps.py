# SPDX-License-Identifier: Apache-2.0
"""Learning to learn: one inner step at first, one more every third step, at most five."""

import argparse
import torch
from torch import nn
from torch.func import functional_call

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=18)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)

model = nn.Sequential(nn.Linear(32, 256), nn.Tanh(), nn.Linear(256, 32)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def adapted(x, count):
    path = [dict(model.named_parameters())]
    for _ in range(count):
        now = path[-1]
        loss = (functional_call(model, now, x) - x).square().mean()
        slopes = torch.autograd.grad(loss, list(now.values()), create_graph=True)
        path.append({name: value - 0.1 * slope for (name, value), slope in zip(now.items(), slopes)})
    return path


for step in range(options.steps):
    x = torch.randn(64, 32, device="cuda")  # step
    path = adapted(x, min(1 + step // 3, 5))
    loss = (functional_call(model, path[-1], x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
