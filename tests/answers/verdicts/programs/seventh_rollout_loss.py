# SPDX-License-Identifier: Apache-2.0
"""Learns to step a simulation of a wave: an episode of 32 frames is rolled out, and then learned from as a whole."""

import argparse

import torch
from torch import nn

FRAMES = 32


class Stepper(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.read = nn.Conv1d(2, width, 5, padding=2, padding_mode="circular")
        self.write = nn.Conv1d(width, 2, 5, padding=2, padding_mode="circular")

    def forward(self, field):
        hidden = torch.tanh(self.read(field))  # fills
        return field + 0.1 * self.write(hidden)  # fills


def reference(frame, cells):
    places = torch.arange(cells, device="cuda") / cells * 6.2832
    return torch.stack([(places + 0.1 * frame).sin(), (places + 0.1 * frame).cos()])


class Episode:
    def __init__(self, stepper, optimizer, cells=128, batch=4):
        self.stepper, self.optimizer = stepper, optimizer
        self.cells, self.batch = cells, batch
        self.begin()

    def begin(self):
        self.frame = 0
        self.field = reference(0, self.cells) + 0.01 * torch.randn(self.batch, 2, self.cells, device="cuda")
        self.loss = torch.zeros((), device="cuda")

    def advance(self):
        self.frame += 1
        self.field = self.stepper(self.field)
        error = self.field - reference(self.frame, self.cells)  # fills
        self.loss = self.loss + error.square().mean()  # fills
        if self.frame == FRAMES:
            self.learn()

    def learn(self):
        self.optimizer.zero_grad()
        (self.loss / FRAMES).backward()
        nn.utils.clip_grad_norm_(self.stepper.parameters(), 1.0)
        self.optimizer.step()
        self.begin()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=44)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    stepper = Stepper().cuda()
    episode = Episode(stepper, torch.optim.RMSprop(stepper.parameters(), lr=1e-3))
    for _ in range(chosen.steps):
        episode.advance()  # step
    print(f"frame {episode.frame} of an episode, loss so far {episode.loss.item():.3f}")


if __name__ == "__main__":
    main()
