# SPDX-License-Identifier: Apache-2.0
"""Epochs over a data set whose size is no multiple of the batch: the last batch is smaller."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def endless(loader):
    while True:
        yield from loader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    data = TensorDataset(torch.randn(205, 3, 32, 32), torch.randint(10, (205,)))
    loader = DataLoader(data, batch_size=32, shuffle=True)
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, stride=2), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2), nn.ReLU(),
        nn.Flatten(), nn.Linear(64 * 49, 10),
    ).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step, (pictures, labels) in zip(range(chosen.steps), endless(loader)):
        pictures, labels = pictures.cuda(), labels.cuda()
        loss = nn.functional.cross_entropy(model(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
