# SPDX-License-Identifier: Apache-2.0
"""Stochastic weight averaging in the last third of the run, with its own evaluation at the end."""

import argparse

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(8), nn.Flatten(),
        nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 10),
    ).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    averaged = schedule = None
    for step in range(chosen.steps):
        loss = nn.functional.cross_entropy(
            model(torch.randn(32, 3, 32, 32, device="cuda")), torch.randint(10, (32,), device="cuda")
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step >= chosen.steps * 2 // 3:
            if averaged is None:
                averaged, schedule = AveragedModel(model), SWALR(optimizer, swa_lr=0.05)
            averaged.update_parameters(model)
            schedule.step()
    batches = [torch.randn(32, 3, 32, 32) for _ in range(4)]
    torch.optim.swa_utils.update_bn(batches, averaged, device="cuda")


if __name__ == "__main__":
    main()
