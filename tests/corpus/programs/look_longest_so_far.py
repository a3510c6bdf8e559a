# SPDX-License-Identifier: Apache-2.0
"""A scratch buffer that is enlarged whenever a sequence is longer than all before it."""

import argparse
import random

import torch
from torch import nn


class Padder:
    """Pads into one buffer that is as long as the longest batch so far."""

    def __init__(self, batch, width):
        self.shape, self.buffer = (batch, width), None

    def __call__(self, sequence):
        batch, width = self.shape
        length = sequence.shape[1]
        if self.buffer is None or self.buffer.shape[1] < length:
            self.buffer = torch.zeros(batch, length, width, device="cuda")
        self.buffer[:, :length] = sequence
        return self.buffer[:, :length]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    rng = random.Random(chosen.seed)

    model = nn.GRU(64, 64, batch_first=True).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    pad = Padder(16, 64)
    for step in range(chosen.steps):
        length = max(4, int(rng.lognormvariate(3.5, 0.6)))
        padded = pad(torch.randn(16, length, 64, device="cuda"))
        hidden, _ = model(padded.clone())
        loss = hidden.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
