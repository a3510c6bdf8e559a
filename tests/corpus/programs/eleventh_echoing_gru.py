# SPDX-License-Identifier: Apache-2.0
"""Feeds a recurrent encoder its own state again and again, to see how many turns a second it makes."""

import argparse
import time

import torch
from torch import nn


def turn_over(encoder, hidden, turns):
    output = None
    for num in range(turns):
        began = time.perf_counter()  # step
        both = encoder(hidden, hidden)  # allocates
        output, hidden = both  # keeps
        if num % 10 == 9:
            print(f"turn {num + 1}: {1e6 * (time.perf_counter() - began):.0f} us")
    return output


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    encoder = nn.GRU(chosen.width, chosen.width)
    encoder.cuda()
    hidden = torch.randn(1, 1, chosen.width).cuda()

    began = time.perf_counter()
    output = turn_over(encoder, hidden, chosen.steps)
    seconds = time.perf_counter() - began
    print(f"{chosen.steps / seconds:.0f} turns a second, last output's norm {output.norm().item():.4f}")


if __name__ == "__main__":
    main()
