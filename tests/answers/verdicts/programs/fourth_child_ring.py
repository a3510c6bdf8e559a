# SPDX-License-Identifier: Apache-2.0
"""A child process trains; it keeps the attention maps of the last eight steps."""

import argparse
from collections import deque

import torch
import torch.multiprocessing as mp
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=19)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Attention(nn.Module):
    def __init__(self, shown):
        super().__init__()
        self.both, self.value = nn.Linear(64, 128), nn.Linear(64, 64)
        self.shown = shown

    def forward(self, x):
        query, key = self.both(x).chunk(2, -1)
        weights = (query @ key.transpose(1, 2) / 8).softmax(-1)
        self.shown.append(weights.detach())
        return weights @ self.value(x)


def train(steps):
    shown = deque(maxlen=8)
    model = Attention(shown).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(steps):
        x = torch.randn(8, 160, 64, device="cuda")  # step
        optimizer.zero_grad()
        (model(x) - x).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    child = mp.get_context("fork").Process(target=train, args=(options.steps,))
    child.start()
    child.join()
    if child.exitcode:
        raise RuntimeError(f"the child ended with {child.exitcode}")
