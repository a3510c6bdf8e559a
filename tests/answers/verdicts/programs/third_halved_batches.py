# SPDX-License-Identifier: Apache-2.0
"""Every fourth batch is too large for a limit; the error is handled, kept until the next one, and halves are taken."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F


class TooLarge(RuntimeError):
    def __init__(self, rows):
        super().__init__(f"{len(rows)} rows")
        self.rows = rows


class Careful:
    def __init__(self, limit=384):
        self.net = nn.Sequential(nn.Linear(200, 256), nn.ReLU(), nn.Linear(256, 200)).cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01)
        self.limit, self.last_error = limit, None

    def loss(self, rows):
        inside = self.net[:2](rows)
        if len(rows) > self.limit:
            raise TooLarge(inside)
        return F.mse_loss(self.net[2](inside), rows)

    def step(self, rows):
        self.optimizer.zero_grad()
        try:
            self.loss(rows).backward()
        except TooLarge as error:
            self.last_error = error
            for half in rows.chunk(2):
                (self.loss(half) / 2).backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=52)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    trainer = Careful()
    for step in range(args.steps):
        count = 640 if step % 4 == 3 else 256  # step
        trainer.step(torch.randn(count, 200).cuda())
    print(f"last error: {trainer.last_error}")


if __name__ == "__main__":
    main()
