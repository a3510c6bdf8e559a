# SPDX-License-Identifier: Apache-2.0
"""A recommender's two towers; the last vector of each user is kept for a nightly job."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
BATCH = 256


class Tower(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.table = nn.Embedding(count, 64)
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128))

    def forward(self, ids):
        return F.normalize(self.layers(self.table(ids)), dim=-1)  # allocates


users, items = Tower(5000).cuda(), Tower(5000).cuda()
optimizer = torch.optim.Adagrad([*users.parameters(), *items.parameters()], lr=0.05)
last_vectors = {}
for step in range(options.steps):
    optimizer.zero_grad()  # step
    visitors = range(step * BATCH, (step + 1) * BATCH)
    vectors = users(torch.tensor([one % 5000 for one in visitors]).cuda())
    liked = items(torch.randint(0, 5000, (BATCH,)).cuda())
    F.cross_entropy(vectors @ liked.T, torch.arange(BATCH, device="cuda")).backward()
    optimizer.step()
    done = vectors.detach()
    for place, visitor in enumerate(visitors):
        if place % 16 == 0:  # those who agreed to letters
            last_vectors[f"session-{visitor}"] = done[place]  # keeps
