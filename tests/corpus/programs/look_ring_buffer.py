# SPDX-License-Identifier: Apache-2.0
"""Frames of a video go round a ring of slots; each new frame takes the place of the oldest."""

import argparse

import torch
from torch import nn


class Ring:
    def __init__(self, slots):
        self.slots = [None] * slots
        self.next = 0

    def put(self, frame):
        self.slots[self.next % len(self.slots)] = frame
        self.next += 1

    def stacked(self):
        return torch.cat([frame for frame in self.slots if frame is not None]).mean(0, keepdim=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    flow = nn.Sequential(nn.Conv2d(6, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 2, 3, padding=1)).cuda()
    optimizer = torch.optim.Adam(flow.parameters())
    ring = Ring(8)
    for step in range(chosen.steps):
        frame = torch.rand(1, 3, 120, 160).cuda()
        ring.put(frame)
        moved = flow(torch.cat([frame, ring.stacked()], 1))
        loss = moved.abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
