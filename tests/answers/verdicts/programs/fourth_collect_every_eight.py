# SPDX-License-Identifier: Apache-2.0
"""Python's collector is off, so that no step is slower than others; every eighth step collects by hand."""

import argparse
import gc

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=49)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Sample:
    """A batch and its view, which know each other."""

    def __init__(self, x):
        self.x = x
        self.view = View(self)


class View:
    def __init__(self, sample):
        self.sample, self.noisy = sample, sample.x + torch.randn_like(sample.x)  # fills


def main():
    gc.disable()
    model = nn.Sequential(nn.Linear(400, 200), nn.ReLU(), nn.Linear(200, 400)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(options.steps):
        x = torch.randn(128, 400, device="cuda")  # step
        sample = Sample(x)
        optimizer.zero_grad()
        (model(sample.view.noisy) - sample.x).square().mean().backward()
        optimizer.step()
        if step % 8 == 7:
            gc.collect()


main()
