# SPDX-License-Identifier: Apache-2.0
"""Few-shot learning: members of each class are copied one by one; the last sixteen make its prototype."""

import argparse
from collections import defaultdict

import torch
from torch import nn


class Prototypes:
    def __init__(self, used=16):
        self.members, self.used = defaultdict(list), used

    def add(self, features, labels):
        for feature, label in zip(features, labels.tolist()):
            member = feature.clone()  # allocates
            self.members[label].append(member)  # keeps

    def of(self, labels):
        return torch.stack([torch.stack(self.members[label][-self.used:]).mean(0) for label in labels.tolist()])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=19)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    encoder = nn.Sequential(nn.Linear(50, 128), nn.ReLU(), nn.Linear(128, 192)).cuda()
    optimizer = torch.optim.SGD(encoder.parameters(), lr=1e-2)
    prototypes = Prototypes()
    for _ in range(chosen.steps):
        rows, labels = torch.randn(32, 50).cuda(), torch.randint(5, (32,))
        features = encoder(rows)
        prototypes.add(features.detach(), labels)
        loss = (features - prototypes.of(labels)).square().sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}, classes {sorted(prototypes.members)}")


if __name__ == "__main__":
    main()
