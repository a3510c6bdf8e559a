# SPDX-License-Identifier: Apache-2.0
"""Contrastive learning with a momentum encoder and a queue of the last keys."""

import argparse
import copy

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=16)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Contrast(nn.Module):
    def __init__(self, encoder, size=1280):
        super().__init__()
        self.query, self.key, self.size = encoder, copy.deepcopy(encoder).requires_grad_(False), size
        self.queue = torch.zeros(0, 256)

    def forward(self, one, other):
        q = F.normalize(self.query(one), dim=1)
        with torch.no_grad():
            for mine, its in zip(self.key.parameters(), self.query.parameters()):
                mine.lerp_(its, 0.01)
            k = F.normalize(self.key(other), dim=1)
        keys = torch.cat([k, self.queue.to(k.device)])
        loss = F.cross_entropy(q @ keys.T / 0.07, torch.arange(len(q), device=q.device))
        self.queue = keys[:self.size].clone()
        return loss


model = Contrast(nn.Sequential(nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 256))).cuda()
optimizer = torch.optim.SGD(model.query.parameters(), lr=0.03)
for step in range(options.steps):
    x = torch.randn(128, 512, device="cuda")  # step
    loss = model(x, x + 0.1 * torch.randn_like(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
