# SPDX-License-Identifier: Apache-2.0
"""A moment of many series a step; the graph of nine moments is worked through, then the state is cut off from it."""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--window", type=int, default=9)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    cell, read = nn.LSTMCell(24, 160).cuda(), nn.Linear(160, 24).cuda()
    optimizer = torch.optim.RMSprop([*cell.parameters(), *read.parameters()], lr=1e-3)
    state = (torch.zeros(128, 160, device="cuda"), torch.zeros(128, 160, device="cuda"))
    loss, now = 0.0, torch.zeros(128, 24, device="cuda")
    for step in range(args.steps):
        following = torch.randn(128, 24)  # step
        following = following.cuda()  # fills
        state = cell(now, state)  # fills
        loss = loss + (read(state[0]) - following).abs().mean()  # fills
        now = following
        if (step + 1) % args.window == 0:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            state, loss = tuple(one.detach() for one in state), 0.0
    print(f"{args.steps} moments")


if __name__ == "__main__":
    main()
