# SPDX-License-Identifier: Apache-2.0
"""Replay in chunks of nine steps, each made when it is first needed; after 36 steps the first is written over."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Chunked:
    def __init__(self, chunks=4, each=9, shape=(64, 256)):
        self.chunks, self.each, self.shape, self.count = [None] * chunks, each, shape, 0

    def add(self, states):
        chunk, row = divmod(self.count % (len(self.chunks) * self.each), self.each)
        if self.chunks[chunk] is None:
            self.chunks[chunk] = torch.empty(self.each, *self.shape, device="cuda")
        self.chunks[chunk][row] = states
        self.count += 1

    def draw(self, number):
        number %= min(self.count, len(self.chunks) * self.each)
        return self.chunks[number // self.each][number % self.each]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=41)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    critic = nn.Sequential(nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1)).cuda()
    optimizer, replay = torch.optim.Adam(critic.parameters(), lr=1e-3), Chunked()
    for step in range(args.steps):
        replay.add(torch.randn(64, 256).cuda())  # step
        states = replay.draw(5 * step)
        loss = F.mse_loss(critic(states), states.mean(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
