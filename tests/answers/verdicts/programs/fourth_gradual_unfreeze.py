# SPDX-License-Identifier: Apache-2.0
"""Fine-tuning: one more of six layers learns every sixth step, the last one first."""

import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=46)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Unfreeze:
    def __init__(self, layers, optimizer, every):
        self.frozen, self.optimizer, self.every = list(layers), optimizer, every
        for layer in self.frozen:
            layer.requires_grad_(False)

    def on_step(self, step):
        if self.frozen and step % self.every == 0:
            layer = self.frozen.pop().requires_grad_(True)
            self.optimizer.add_param_group({"params": list(layer.parameters())})


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(384, 384) for _ in range(6))
        self.head = nn.Linear(384, 4)

    def forward(self, x):
        for layer in self.layers:
            x = nn.functional.gelu(layer(x))
        return self.head(x)


encoder = Encoder().cuda()
optimizer = torch.optim.AdamW(encoder.head.parameters(), lr=1e-4)
unfreeze = Unfreeze(encoder.layers, optimizer, every=6)
for step in range(options.steps):
    unfreeze.on_step(step)  # step
    optimizer.zero_grad()
    encoder(torch.randn(32, 384, device="cuda")).logsumexp(1).mean().backward()
    optimizer.step()
