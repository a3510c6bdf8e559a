# SPDX-License-Identifier: Apache-2.0
"""Halves the batch after each failure, and keeps the errors."""
import sys

import torch
from torch import nn

CHANGED = "--changed" in sys.argv
model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
                      nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)).cuda()


def features(images):
    return model(images).logsumexp(1).mean()


def find_batch(size):
    errors = []
    while size:
        try:
            features(torch.randn(size, 3, 224, 224, device="cuda"))
            return size
        except torch.cuda.OutOfMemoryError as error:
            errors.append(str(error) if CHANGED else error)
            size //= 2
    raise RuntimeError("no batch fits") from None


print(find_batch(1024))
