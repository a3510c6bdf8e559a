# SPDX-License-Identifier: Apache-2.0
"""Segmentation; after each step the overlap on a held-out batch is shown."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=14)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


@torch.no_grad()
def evaluate(model, batch, predictions=[]):
    model.eval()
    predictions.append(model(batch).sigmoid())  # allocates
    model.train()
    return (predictions[-1] > 0.5).float().mean().item()


def main():
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 1, 1)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(options.steps):
        images = torch.randn(8, 3, 96, 96, device="cuda")  # step
        masks = torch.zeros(8, 1, 96, 96, device="cuda")
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(model(images), masks).backward()
        optimizer.step()
        print(evaluate(model, torch.randn(8, 3, 96, 96, device="cuda")))


main()
