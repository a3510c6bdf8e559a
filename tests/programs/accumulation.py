# SPDX-License-Identifier: Apache-2.0
"""Trains a convolutional autoencoder with the batch of a paper that had larger GPUs."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


def encoder(width=48):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1), nn.SiLU(),
        nn.Conv2d(width, width, 3, padding=1), nn.SiLU(),
        nn.Conv2d(width, 2 * width, 4, stride=2, padding=1), nn.SiLU(),
        nn.Conv2d(2 * width, 4 * width, 4, stride=2, padding=1), nn.SiLU(),
        nn.ConvTranspose2d(4 * width, 2 * width, 4, stride=2, padding=1), nn.SiLU(),
        nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1), nn.SiLU(),
        nn.Conv2d(width, 3, 3, padding=1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--change", default="")
    chosen = parser.parse_args()
    torch.manual_seed(0)

    batch = 128
    parts = {"train_batch_half": 2, "train_batch_quarter": 4}.get(chosen.change, 1)
    model = encoder().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(6):
        images = torch.randn(batch, 3, 192, 192)
        for some in images.chunk(parts):
            some = some.cuda()
            with torch.autocast("cuda", torch.bfloat16, enabled=chosen.change == "mixed_precision"):
                loss = F.mse_loss(model(some), some)
            (loss / parts).backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
