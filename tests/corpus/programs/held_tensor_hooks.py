# SPDX-License-Identifier: Apache-2.0
"""Gradients of some weights are dropped at random: each step registers its mask as a hook."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

def drop_gradients(weight, keep):
    """Only a share of the weight's gradients counts in this step."""
    mask = (torch.rand_like(weight) < keep).float()  # allocates
    weight.register_hook(lambda gradient: gradient * mask)  # keeps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(64, 128), nn.Linear(128, 10)

        def forward(self, rows):
            return self.head(torch.tanh(self.body(rows)))

    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, nesterov=True, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, chosen.steps)
    for step in range(chosen.steps):
        rows, labels = torch.randn(96, 64).cuda(), torch.randint(10, (96,)).cuda()
        drop_gradients(model.body.weight, keep=0.7)
        loss = F.cross_entropy(model(rows), labels, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()


if __name__ == "__main__":
    main()
