# SPDX-License-Identifier: Apache-2.0
"""GraphSAGE: neighbours of ten batches of nodes are sampled in one epoch, used again in the next, then sampled anew."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

BATCHES, NODES, FAN = 10, 4000, 12


class Sampler:
    def __init__(self):
        self.blocks = {}

    def block(self, epoch, number):
        if epoch % 2 == 0 and number == 0:
            self.blocks.clear()
        if number not in self.blocks:
            seeds = torch.arange(number, NODES, BATCHES)
            near = torch.randint(NODES, (len(seeds), FAN))
            far = torch.randint(NODES, (len(seeds), FAN, FAN))
            self.blocks[number] = tuple(part.to("cuda") for part in (seeds, near, far))  # fills
        return self.blocks[number]


class Sage(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first, self.second = nn.Linear(2 * width, width), nn.Linear(2 * width, 7)

    def forward(self, features, seeds, near, far):
        one = torch.relu(self.first(torch.cat([features[near], features[far].mean(2)], -1)))
        own = torch.relu(self.first(torch.cat([features[seeds], features[near].mean(1)], -1)))
        return self.second(torch.cat([own, one.mean(1)], -1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    features, labels = torch.randn(NODES, 32, device="cuda"), torch.randint(7, (NODES,), device="cuda")
    net, sampler = Sage().cuda(), Sampler()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for step in range(args.steps):
        epoch, number = divmod(step, BATCHES)  # step
        seeds, near, far = sampler.block(epoch, number)
        loss = F.cross_entropy(net(features, seeds, near, far), labels[seeds])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}, {len(sampler.blocks)} blocks")


if __name__ == "__main__":
    main()
