# SPDX-License-Identifier: Apache-2.0
"""Link prediction on a stream of edges; messages go along the latest 1280 of them."""

import argparse
import random

import torch
from torch import nn

NODES, NEW = 120, 32


class EdgeWindow:
    def __init__(self, size, features):
        self.size = size
        self.ends = torch.empty(0, 2, dtype=torch.long, device="cuda")
        self.features = torch.empty(0, features, device="cuda")

    def push(self, ends, features):
        self.ends = torch.cat([self.ends, ends])[-self.size:]
        self.features = torch.cat([self.features, features])[-self.size:]


class MessagePassing(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.nodes = nn.Embedding(NODES, width)
        self.message = nn.Linear(width + features, width)
        self.combine = nn.Linear(2 * width, width)

    def forward(self, window):
        hidden = self.nodes.weight
        sources, targets = window.ends.unbind(1)
        messages = torch.relu(self.message(torch.cat([hidden[sources], window.features], 1)))
        gathered = torch.zeros_like(hidden).index_add(0, targets, messages)
        return torch.tanh(self.combine(torch.cat([hidden, gathered], 1)))


def arrive(rng):
    pairs = [rng.sample(range(NODES), 2) for _ in range(NEW)]
    return torch.tensor(pairs, device="cuda"), torch.randn(NEW, 16, device="cuda")


def link_loss(hidden, ends, rng):
    wrong = torch.tensor([rng.randrange(NODES) for _ in range(len(ends))], device="cuda")
    found = (hidden[ends[:, 0]] * hidden[ends[:, 1]]).sum(1)
    missed = (hidden[ends[:, 0]] * hidden[wrong]).sum(1)
    return nn.functional.softplus(missed - found).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--window", type=int, default=1280)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    window, model = EdgeWindow(chosen.window, 16), MessagePassing(24, 16).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    window.push(*arrive(rng))
    for _ in range(chosen.steps):
        ends, features = arrive(rng)  # step
        loss = link_loss(model(window), ends, rng)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        window.push(ends, features)
    print(f"loss {loss.item():.3f} over {len(window.ends)} edges")


if __name__ == "__main__":
    main()
