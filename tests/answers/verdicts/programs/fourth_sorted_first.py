# SPDX-License-Identifier: Apache-2.0
"""Speech is learnt from the shortest batch to the longest in the first epoch, and in any order after it."""

import argparse
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
random.seed(options.seed)
LENGTHS = [120 + 40 * number for number in range(20)]


class Batches:
    def __init__(self, lengths):
        self.lengths, self.epoch = lengths, 0

    def __iter__(self):
        while True:
            order = sorted(self.lengths) if self.epoch == 0 else random.sample(self.lengths, len(self.lengths))
            for length in order:
                yield torch.randn(16, 80, length)
            self.epoch += 1


class Recognizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(80, 128, 5, 2), nn.ReLU(), nn.Conv1d(128, 128, 5, 2), nn.ReLU())
        self.letters = nn.Conv1d(128, 32, 1)

    def forward(self, sound):
        return self.letters(self.layers(sound)).log_softmax(1)


recognizer, batches = Recognizer().cuda(), iter(Batches(LENGTHS))
optimizer = torch.optim.SGD(recognizer.parameters(), lr=0.01)
for step in range(options.steps):
    sound = next(batches).cuda()  # step
    letters = recognizer(sound)
    optimizer.zero_grad()
    letters.mean().backward()
    optimizer.step()
