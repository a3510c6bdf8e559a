# SPDX-License-Identifier: Apache-2.0
"""Trains a classifier of images in batches of eight, and moves its weights once for every sixty-four images."""

import argparse

import torch
from torch import nn


def classifier():
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 24 * 24, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(),
                         nn.Linear(128, 10))


def batches(images, labels, size, count):
    for number in range(count):
        begin = (number * size) % images.shape[0]
        yield images[begin:begin + size], labels[begin:begin + size]


def train(model, optimizer, criterion, data, count, accumulation_steps=8):
    total = 0.0
    for number, (inputs, targets) in enumerate(data):
        inputs, targets = inputs.cuda(), targets.cuda()  # step
        loss = criterion(model(inputs), targets) / accumulation_steps
        loss.backward()
        total += loss.item()
        if (number + 1) % accumulation_steps == 0 or number + 1 == count:
            optimizer.step()
            optimizer.zero_grad()
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = classifier().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images, labels = torch.rand(256, 3, 24, 24), torch.randint(10, (256,))
    data = batches(images, labels, 8, chosen.steps)
    total = train(model, optimizer, nn.CrossEntropyLoss(), data, chosen.steps)
    print(f"total {total:.4f}")


if __name__ == "__main__":
    main()
