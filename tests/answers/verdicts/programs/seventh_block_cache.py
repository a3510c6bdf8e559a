# SPDX-License-Identifier: Apache-2.0
"""Node classification on sampled blocks of a graph; the latest 16 blocks are kept ready."""

import argparse
import random
from collections import deque

import torch
from torch import nn

NODES, SEEDS, NEIGHBOURS = 400, 16, 96


class BlockCache:
    def __init__(self, edges, most=16):
        self.edges, self.most = edges, most
        self.blocks = {}
        self.order = deque()

    def build(self, seeds):
        near = sorted({other for seed in seeds for other in self.edges[seed]})[:NEIGHBOURS]
        near += [0] * (NEIGHBOURS - len(near))
        counts = torch.tensor([[float(other in self.edges[seed]) for other in near] for seed in seeds], device="cuda")
        block = counts / counts.sum(1, keepdim=True).clamp(min=1)  # allocates
        return near, block

    def get(self, seeds):
        key = tuple(sorted(seeds))
        if key not in self.blocks:
            self.blocks[key] = self.build(key)  # keeps
            self.order.append(key)
            if len(self.order) > self.most:
                self.order.popleft()
        return self.blocks[key]


class Sage(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.own = nn.Linear(features, 32)
        self.near = nn.Linear(features, 32, bias=False)
        self.out = nn.Linear(32, classes)

    def forward(self, own, near, block):
        return self.out(torch.relu(self.own(own) + block @ self.near(near)))


def random_graph(rng, degree=8):
    return [set(rng.sample(range(NODES), degree)) for _ in range(NODES)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=45)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    features = torch.randn(NODES, 24, device="cuda")
    labels = torch.tensor([rng.randrange(5) for _ in range(NODES)], device="cuda")
    cache = BlockCache(random_graph(rng))
    model = Sage(24, 5).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(chosen.steps):
        seeds = sorted(rng.sample(range(NODES), SEEDS))  # step
        near, block = cache.get(seeds)
        index = torch.tensor(seeds, device="cuda")
        logits = model(features[index], features[torch.tensor(near, device="cuda")], block)
        loss = nn.functional.cross_entropy(logits, labels[index])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
