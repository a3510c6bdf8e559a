# SPDX-License-Identifier: Apache-2.0
"""A wide perceptron with Adam, on large batches. --compile lets torch.compile have it."""

import sys

import torch
from torch import nn

from batches import DEVICE, on_device, options, peak


COMPILE = "--compile" in sys.argv


def main():
    if COMPILE:
        sys.argv.remove("--compile")
    chosen = options(steps=3)
    model = nn.Sequential(
        nn.Linear(784, 2048), nn.ReLU(), nn.Dropout(0.1), nn.Linear(2048, 2048), nn.ReLU(),
        nn.Dropout(0.1), nn.Linear(2048, 10),
    ).to(DEVICE)
    if COMPILE:
        model = torch.compile(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    digits = ((torch.rand(4096, 784), torch.randint(10, (4096,))) for _ in range(chosen.steps))
    for image, label in on_device(digits, chosen.streams):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(image), label)
        loss.backward()
        optimizer.step()
    print(f"perceptron: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
