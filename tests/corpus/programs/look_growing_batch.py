# SPDX-License-Identifier: Apache-2.0
"""Instead of the learning rate going down, the batch is doubled three times."""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    data, labels = torch.randn(4096, 256), torch.randint(20, (4096,))
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 20)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for step in range(chosen.steps):
        batch = 32 << (4 * step // chosen.steps)
        drawn = torch.randint(len(data), (batch,))
        inputs, targets = data[drawn].cuda(), labels[drawn].cuda()
        outputs = model(inputs)
        loss = nn.functional.cross_entropy(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
