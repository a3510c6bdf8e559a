# SPDX-License-Identifier: Apache-2.0
"""Every tenth step six held-out batches are answered, and scored together."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Task:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 2000)).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def train_step(self):
        x = torch.randn(64, 256, device="cuda")
        loss = F.cross_entropy(self.model(x), torch.zeros(64, dtype=torch.long, device="cuda"))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        outputs = []
        for _ in range(6):
            outputs.append(self.model(torch.randn(256, 256, device="cuda")))  # fills
        self.model.train()
        return torch.cat(outputs).topk(5).indices.float().mean().item()


task = Task()
for step in range(options.steps):
    task.train_step()  # step
    if step % 10 == 9:
        print(task.evaluate())
