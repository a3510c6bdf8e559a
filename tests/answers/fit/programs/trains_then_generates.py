# SPDX-License-Identifier: Apache-2.0
"""Trains, and generates at the end with a batch of its own, beside the embeddings of the last two training batches."""

import argparse

import torch
from torch import nn

WIDTH = 1024
LENGTH, PROMPT = 8192, 16384  # an item of the training batch is 32 MiB, one of generation's 64

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=1)
parser.add_argument("--generation-batch", type=int, default=1)
parser.add_argument("--steps", type=int, default=5)
chosen = parser.parse_args()

model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
embeddings = []
for _ in range(chosen.steps):
    made = model(torch.zeros(chosen.batch_size, LENGTH, WIDTH, device="cuda"))
    made.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    embeddings = [*embeddings[-1:], made.detach()]
with torch.inference_mode():
    kept = torch.zeros(chosen.generation_batch, PROMPT, WIDTH, device="cuda")
    for _ in range(4):
        kept = torch.cat([kept, model(kept[:, -1:])], dim=1)
print(torch.cuda.max_memory_reserved())
