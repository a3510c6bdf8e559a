# SPDX-License-Identifier: Apache-2.0
"""Self-supervised learning in which an image's positive is its nearest neighbour among the batches before."""

import argparse
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F


class SupportSet:
    def __init__(self, batches):
        self.batches = deque(maxlen=batches)

    def nearest(self, queries):
        if not self.batches:
            return queries
        known = torch.cat(list(self.batches))
        return known[(queries @ known.T).argmax(1)]

    def push(self, embeddings):
        self.batches.append(embeddings.detach())


class Encoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten())
        self.project = nn.Linear(64, width)
        self.predict = nn.Linear(width, width)

    def forward(self, images):
        projected = F.normalize(self.project(self.trunk(images)), dim=1)
        return projected, F.normalize(self.predict(projected), dim=1)


def jitter(images):
    return (images + 0.1 * torch.randn_like(images)).flip(-1)


def contrast(neighbours, predicted, temperature=0.1):
    logits = neighbours @ predicted.T / temperature
    return F.cross_entropy(logits, torch.arange(len(logits), device=logits.device))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=18)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--support", type=int, default=24, help="batches whose embeddings are kept")
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    encoder, support = Encoder().cuda(), SupportSet(chosen.support)
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    for step in range(chosen.steps):
        images = torch.rand(32, 3, 24, 24, device="cuda")  # step
        one, _ = encoder(jitter(images))
        _, other = encoder(jitter(images))
        loss = contrast(support.nearest(one), other)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        support.push(one)
        if step % 6 == 0:
            print(f"{step}: {loss.item():.3f}")


if __name__ == "__main__":
    main()
