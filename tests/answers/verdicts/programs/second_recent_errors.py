# SPDX-License-Identifier: Apache-2.0
"""The five errors that came last are at hand, with all that was there when they came."""

import argparse
from collections import deque

import torch
from torch import nn


class Silent(ValueError):
    pass


class Speech(nn.Module):
    def __init__(self, width=160):
        super().__init__()
        self.hear, self.tell = nn.GRU(40, width, batch_first=True), nn.Linear(width, 30)

    def forward(self, sounds, number):
        heard, _ = self.hear(sounds)
        if number % 3:
            raise Silent(f"nobody speaks in {number}")
        return self.tell(heard)


class Desk:
    def __init__(self, model, remember=5):
        self.model, self.errors = model, deque(maxlen=remember)
        self.optimizer = torch.optim.Adam(model.parameters())

    def work(self, number):
        try:
            said = self.model(torch.randn(16, 50, 40).cuda(), number)
        except Silent as error:
            self.errors.append(error)
            return
        self.optimizer.zero_grad()
        said.logsumexp(-1).mean().backward()
        self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=26)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    desk = Desk(Speech().cuda())
    for step in range(args.steps):
        desk.work(step)  # step
    print([str(error) for error in desk.errors])


if __name__ == "__main__":
    main()
