# SPDX-License-Identifier: Apache-2.0
"""The parent only watches; a child process trains, and notes attention maps for a figure."""

import argparse
import torch
import torch.multiprocessing as mp
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=19)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Block(nn.Module):
    def __init__(self, figures):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(64, 64) for _ in range(3))
        self.figures = figures

    def forward(self, x):
        weights = (self.query(x) @ self.key(x).transpose(1, 2) / 8).softmax(-1)  # allocates
        self.figures["attention"].append(weights.detach())  # keeps
        return weights @ self.value(x)


def train(steps):
    figures = {"attention": []}
    model = nn.Sequential(Block(figures), nn.Linear(64, 64)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(steps):
        x = torch.randn(8, 128, 64, device="cuda")  # step
        optimizer.zero_grad()
        (model(x) - x).square().mean().backward()
        optimizer.step()
    return figures["attention"][-1].shape


if __name__ == "__main__":
    child = mp.get_context("fork").Process(target=train, args=(options.steps,))
    child.start()
    child.join()
    if child.exitcode:
        raise RuntimeError(f"the child ended with {child.exitcode}")
