# SPDX-License-Identifier: Apache-2.0
"""Only the last error is kept; but each is raised from the one before, and so they all are."""

import argparse

import torch
from torch import nn


class Unreadable(Exception):
    pass


class Reader:
    def __init__(self):
        self.encode = nn.Sequential(nn.Linear(128, 256), nn.ReLU()).cuda()
        self.decode = nn.Linear(256, 128).cuda()
        self.optimizer = torch.optim.Adam([*self.encode.parameters(), *self.decode.parameters()])
        self.last = None

    def read(self, page, lines):
        rows = lines.cuda()  # allocates
        code = self.encode(rows)  # allocates
        if page % 2:
            raise Unreadable(f"page {page} is upside down") from self.last
        return (self.decode(code) - rows).square().mean()

    def learn(self, page, lines):
        try:
            loss = self.read(page, lines)
        except Unreadable as error:
            self.last = error  # keeps
            return False
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=28)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    reader, read = Reader(), 0
    for step in range(args.steps):
        lines = torch.randn(64, 128)  # step
        # Two pages a step: every second one is unreadable.
        read += reader.learn(2 * step, lines) + reader.learn(2 * step + 1, lines)
    print(f"{read} pages read, the last error: {reader.last}")


if __name__ == "__main__":
    main()
