# SPDX-License-Identifier: Apache-2.0
"""A Gaussian over weights: how far each step is from their mean is noted; twenty of them are used in the end."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parameters_to_vector


class WeightGaussian:
    def __init__(self, model, rank=20):
        self.mean, self.rank = parameters_to_vector(model.parameters()).detach().clone(), rank
        self.count, self.deviations = 1, []

    @torch.no_grad()
    def collect(self, model):
        weights = parameters_to_vector(model.parameters())
        self.count += 1
        self.mean.lerp_(weights, 1 / self.count)
        deviation = weights - self.mean  # allocates
        self.deviations.append(deviation)  # keeps

    def draw(self):
        sides = torch.stack(self.deviations[-self.rank:])
        return self.mean + torch.randn(len(sides), device="cuda") @ sides / (self.rank - 1) ** 0.5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net = nn.Sequential(nn.Linear(32, 96), nn.ReLU(), nn.Linear(96, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, 0.01, 0.1, step_size_up=4)
    gaussian = WeightGaussian(net)
    for _ in range(args.steps):
        rows, kinds = torch.randn(400, 32).cuda(), torch.randint(10, (400,)).cuda()  # step
        loss = F.cross_entropy(net(rows), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        gaussian.collect(net)
    print(f"drawn {gaussian.draw().norm().item():.4f}")


if __name__ == "__main__":
    main()
