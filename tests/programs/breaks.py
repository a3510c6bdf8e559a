# SPDX-License-Identifier: Apache-2.0
"""A feed-forward network of residual blocks, each with a graph break in its middle."""

import torch
from torch import nn
from torch.nn import functional as F

from compiling import DEVICE, compiled, finish, options, steps


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        y = self.up(self.norm(x))
        y = F.gelu(y)
        torch._dynamo.graph_break()
        y = torch.tanh(y)
        y = self.down(y)
        return x + y


class Model(nn.Module):
    def __init__(self, width=256, depth=4):
        super().__init__()
        self.first = nn.Linear(64, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.last = nn.Linear(width, 10)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def main():
    chosen = options(steps=4)
    model = Model().to(DEVICE)
    network = compiled(chosen, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = ((torch.rand(2048, 64), torch.randint(10, (2048,))) for _ in range(chosen.steps))
    for x, label in steps(batches):
        F.cross_entropy(network(x), label).backward()
        optimizer.step()
        optimizer.zero_grad()
    finish()


if __name__ == "__main__":
    main()
