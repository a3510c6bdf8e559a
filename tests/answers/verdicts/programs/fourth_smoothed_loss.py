# SPDX-License-Identifier: Apache-2.0
"""A small picture classifier that shows a smoothed loss of a held-out batch beside each step."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=18)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


def network():
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)).cuda()


def main():
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    labels = torch.randint(0, 10, (16,)).cuda()
    smoothed = 0.0
    for step in range(options.steps):
        optimizer.zero_grad()  # step
        F.cross_entropy(net(torch.randn(16, 3, 32, 32, device="cuda")), labels).backward()
        optimizer.step()
        net.eval()
        held_out = torch.randn(16, 3, 32, 32, device="cuda")  # allocates
        loss = F.cross_entropy(net(held_out), labels)  # allocates
        net.train()
        smoothed = 0.9 * smoothed + 0.1 * loss  # keeps
        if step % 5 == 4:
            print(f"{step}: {smoothed.item():.3f}")


main()
