# SPDX-License-Identifier: Apache-2.0
"""Trains, and does as programs do that look at their loss: --stop where it is small, --check that it is not zero."""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--stop", action="store_true")
    chosen = parser.parse_args()
    model = nn.Sequential(nn.Linear(1024, 2048), nn.GELU(), nn.Linear(2048, 1024)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(12):
        loss = model(torch.ones(chosen.batch_size, 1024, device="cuda")).square().mean()
        if chosen.check and not loss.item() > 0:
            raise ArithmeticError("the loss is not positive")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if chosen.stop and loss.item() < 1e-3:
            print("good enough")
            break


if __name__ == "__main__":
    main()
