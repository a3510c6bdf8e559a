# SPDX-License-Identifier: Apache-2.0
"""Retrieval with more negatives in each step, up to sixty-four a question."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=15)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


def batch(negatives):
    return torch.randn(32, 96, device="cuda"), torch.randn(32, 1 + negatives, 96, device="cuda")


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.question = nn.Linear(96, 128)
        self.passage = nn.Sequential(nn.Linear(96, 128), nn.ReLU(), nn.Linear(128, 128))

    def forward(self, question, passages):
        return torch.einsum("bd,bnd->bn", self.question(question), self.passage(passages))


scorer = Scorer().cuda()
optimizer = torch.optim.AdamW(scorer.parameters())
for step in range(options.steps):
    negatives = min(8 * (step + 1), 64)  # step
    question, passages = batch(negatives)
    scores = scorer(question, passages)
    loss = F.cross_entropy(scores, torch.zeros(32, dtype=torch.long, device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
