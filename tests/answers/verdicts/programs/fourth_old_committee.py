# SPDX-License-Identifier: Apache-2.0
"""Active learning by disagreement: a fresh model every third step, and the last three vote."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=54)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Committee:
    def __init__(self, voters):
        self.voters, self.members = voters, []

    def join(self, model):
        self.members.append(model.eval().requires_grad_(False))  # keeps

    @torch.no_grad()
    def disagreement(self, x):
        votes = torch.stack([member(x).softmax(-1) for member in self.members[-self.voters:]])
        return votes.var(0).sum(-1)


def fresh():
    return nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 20)).cuda()  # allocates


def main():
    committee, model = Committee(voters=3), fresh()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    labelled = torch.randn(64, 64, device="cuda")
    for step in range(options.steps):
        optimizer.zero_grad()  # step
        F.cross_entropy(model(labelled), torch.zeros(64, dtype=torch.long, device="cuda")).backward()
        optimizer.step()
        if step % 3 == 2:
            optimizer.zero_grad()
            committee.join(model)
            pool = torch.randn(256, 64, device="cuda")
            labelled = pool[committee.disagreement(pool).topk(64).indices]
            model = fresh()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


main()
