# SPDX-License-Identifier: Apache-2.0
"""Feeds a long stream of readings through a recurrent network, one reading after the other, and prints its answers."""

import argparse
import time

import torch
from torch import nn

STREAMS, INPUT, HIDDEN = 16, 256, 512


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(INPUT, HIDDEN)
        self.readout = nn.Linear(HIDDEN, 4)

    def initial(self):
        return torch.zeros(STREAMS, HIDDEN, device="cuda")

    def forward(self, data, hidden):
        hidden = self.cell(data, hidden)  # allocates
        return self.readout(hidden), hidden


def run(rnn, steps, every=16):
    hidden = rnn.initial()
    began = time.perf_counter()
    for number in range(steps):
        readings = torch.rand(STREAMS, INPUT)  # step
        data = readings.cuda()  # allocates
        out, hidden = rnn(data, hidden)  # keeps
        if number % every == 0:
            print(f"{number}: mean {out.mean().item():.4f} after {time.perf_counter() - began:.1f} s")
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    out = run(Recurrent().cuda(), chosen.steps)
    print("last:", tuple(out.shape))


if __name__ == "__main__":
    main()
