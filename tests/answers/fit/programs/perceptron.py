# SPDX-License-Identifier: Apache-2.0
"""Trains, and prints the most that PyTorch reserved and what of the GPU is not PyTorch's. What is asked for goes wrong."""

import argparse
import json

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--deaf", action="store_true")
    parser.add_argument("--broken", action="store_true")
    chosen = parser.parse_args()
    batch = 8 if chosen.deaf else chosen.batch_size
    model = nn.Sequential(nn.Linear(4096, 8192), nn.GELU(), nn.Linear(8192, 4096)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(chosen.steps):
        if chosen.broken and step == 2:
            raise ValueError("the data are not there")
        loss = model(torch.zeros(batch, 4096, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    free, total = torch.cuda.mem_get_info()
    print(json.dumps([torch.cuda.max_memory_reserved(), total - free - torch.cuda.memory_reserved()]))


if __name__ == "__main__":
    main()
