# SPDX-License-Identifier: Apache-2.0
"""Tries again with half the batch inside of the except block, whose error has the frames of all tries."""
import sys

import torch
from torch import nn

CHANGED = "--changed" in sys.argv
layers = [nn.Sequential(nn.Conv2d(64, 64, 3, padding=1), nn.ReLU()) for _ in range(4)]
model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).cuda()


def evaluate(size):
    images = torch.randn(size, 3, 256, 256, device="cuda")
    hidden = images
    for layer in model:
        hidden = layer(hidden)
    return hidden.argmax(1).tolist()


def answers(size):
    """Of a batch of this size, or as large as fits."""
    if CHANGED:
        failed = True
        while failed and size:
            try:
                found, failed = evaluate(size), False
            except torch.cuda.OutOfMemoryError:
                size //= 2
        return found
    try:
        return evaluate(size)
    except torch.cuda.OutOfMemoryError:
        if size == 1:
            raise
        return answers(size // 2)


print(len(answers(256)))
