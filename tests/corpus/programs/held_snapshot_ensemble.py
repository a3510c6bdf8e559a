# SPDX-License-Identifier: Apache-2.0
"""Three cycles leave a snapshot each; then the ensemble teaches the last model for the rest of the run."""

import argparse
import copy

import torch
from torch import nn
from torch.nn import functional as F

CYCLE, MEMBERS = 12, 3

def taught(model, members, rows):
    with torch.no_grad():
        wanted = sum(member(rows).softmax(1) for member in members) / len(members)
    return F.kl_div(model(rows).log_softmax(1), wanted, reduction="batchmean")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 20)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, CYCLE)
    members = []
    for step in range(1, chosen.steps + 1):
        rows, labels = torch.randn(64, 64).cuda(), torch.randint(20, (64,)).cuda()
        if len(members) < MEMBERS:
            loss = F.cross_entropy(model(rows), labels)
        else:
            loss = taught(model, members, rows)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % CYCLE == 0 and len(members) < MEMBERS:
            snapshot = copy.deepcopy(model).eval()
            snapshot.requires_grad_(False).zero_grad(set_to_none=True)
            members.append(snapshot)


if __name__ == "__main__":
    main()
