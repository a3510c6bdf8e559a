# SPDX-License-Identifier: Apache-2.0
"""After ten steps, negatives also come from the last twenty batches."""

import argparse
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=42)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
WARM, MEMORY = 10, 20

encoder = nn.Sequential(nn.Linear(300, 512), nn.ReLU(), nn.Linear(512, 512)).cuda()
optimizer = torch.optim.AdamW(encoder.parameters())
memory = deque(maxlen=MEMORY)


def loss_of(vectors):
    negatives = torch.cat([vectors, *memory])
    return F.cross_entropy(vectors @ negatives.T, torch.arange(len(vectors), device="cuda"))


for step in range(options.steps):
    x = torch.randn(128, 300, device="cuda")  # step
    vectors = F.normalize(encoder(x), dim=-1)
    loss = loss_of(vectors)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step >= WARM:
        memory.append(vectors.detach())
