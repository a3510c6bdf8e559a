# SPDX-License-Identifier: Apache-2.0
"""Trains a two-tower recommender; metrics are updated with every batch and computed at each epoch's end."""

import argparse

import torch
import torch.nn.functional as F
from torch import nn


class Metric:
    def __init__(self):
        self.reset()

    def reset(self):
        self.scores, self.targets = [], []

    def update(self, scores, targets):
        self.scores.append(scores.detach())
        self.targets.append(targets)

    def value(self, scores, targets):
        raise NotImplementedError

    def compute(self):
        value = self.value(torch.cat(self.scores), torch.cat(self.targets)).item()
        self.reset()
        return value


class HitRate(Metric):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def value(self, scores, targets):
        return (scores.topk(self.k, dim=1).indices == targets.unsqueeze(1)).any(1).float().mean()


class ReciprocalRank(Metric):
    def value(self, scores, targets):
        own = scores.gather(1, targets.unsqueeze(1))
        return (1 / (1 + (scores > own).sum(1))).mean()


class TwoTower(nn.Module):
    def __init__(self, users=3000, items=1500, width=48):
        super().__init__()
        self.users = nn.Sequential(nn.Embedding(users, width), nn.Linear(width, width))
        self.items = nn.Sequential(nn.Embedding(items, width), nn.Linear(width, width))

    def forward(self, users, items):
        return self.users(users) @ self.items(items).t()  # fills


def interactions(batches, batch=128):
    return [(torch.randint(0, 3000, (batch,)), torch.randint(0, 1500, (batch,))) for _ in range(batches)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    epoch = interactions(25)
    model = TwoTower().cuda()
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    metrics = {"hit rate": HitRate(10), "reciprocal rank": ReciprocalRank()}
    targets = torch.arange(128, device="cuda")
    for step in range(args.steps):
        users, items = epoch[step % len(epoch)]  # step
        scores = model(users.cuda(), items.cuda())
        loss = F.cross_entropy(scores, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for metric in metrics.values():
            metric.update(scores, targets)
        if (step + 1) % len(epoch) == 0:
            print({name: metric.compute() for name, metric in metrics.items()})


if __name__ == "__main__":
    main()
