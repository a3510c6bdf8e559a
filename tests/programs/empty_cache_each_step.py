# SPDX-License-Identifier: Apache-2.0
"""Trains a small network and empties the allocator's cache after every step, as somebody once advised."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1),
                          nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(60):
        images = torch.randn(64, 3, 64, 64).cuda()
        labels = torch.randint(10, (64,)).cuda()
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if chosen.change != "remove_empty_cache":
            torch.cuda.empty_cache()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
