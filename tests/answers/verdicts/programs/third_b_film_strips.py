# SPDX-License-Identifier: Apache-2.0
"""Sampling with guidance, a level of noise a step: what the pictures would be is noted for a strip of fifteen."""

import argparse

import torch
from torch import nn

LEVELS = 15


class Guess(nn.Module):
    def __init__(self, kinds=10):
        super().__init__()
        self.kind = nn.Embedding(kinds + 1, 32)
        self.enter, self.leave = nn.Conv2d(3, 32, 3, padding=1), nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, pictures, kind):
        return self.leave(torch.relu(self.enter(pictures) + self.kind(kind)[..., None, None]))


class Strip:
    def __init__(self):
        self.guesses, self.done = [], 0

    def note(self, clean):
        self.guesses.append(clean.clamp(-1, 1))  # fills
        if len(self.guesses) == LEVELS:
            torch.cat(self.guesses, -1).mul(127).add(128).byte().cpu()
            self.guesses.clear()
            self.done += 1


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    net, strip = Guess().cuda().eval(), Strip()
    kind, none = torch.arange(8, device="cuda"), torch.full((8,), 10, device="cuda")
    for step in range(args.steps):
        level = 1 - step % LEVELS / LEVELS  # step
        if step % LEVELS == 0:
            pictures = torch.randn(8, 3, 40, 40, device="cuda")
        noise = 3 * net(pictures, kind) - 2 * net(pictures, none)
        clean = pictures - level * noise
        strip.note(clean)
        pictures = clean + (level - 1 / LEVELS) * noise
    print(f"{strip.done} strips, {len(strip.guesses)} pictures of another")


if __name__ == "__main__":
    main()
