# SPDX-License-Identifier: Apache-2.0
"""Two models of one class at work by turns: a generator and a critic of it, each compiled."""

import torch
from torch import nn
from torch.nn import functional as F

from compiling import DEVICE, compiled, finish, options, steps


class Perceptron(nn.Module):
    def __init__(self, before, width, after):
        super().__init__()
        self.first = nn.Linear(before, width)
        self.middle = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.last = nn.Linear(width, after)

    def forward(self, x):
        x = F.silu(self.first(x))
        for layer in self.middle:
            x = F.silu(layer(x))
        return self.last(x)


class Critic(Perceptron):
    pass


def main():
    chosen = options(steps=4)
    generator, critic = Perceptron(64, 384, 256).to(DEVICE), Critic(256, 384, 1).to(DEVICE)
    generate, criticise = compiled(chosen, generator), compiled(chosen, critic)
    optimizers = [torch.optim.Adam(one.parameters(), lr=1e-4) for one in (generator, critic)]
    batches = ((torch.rand(2048, 256), torch.rand(2048, 64)) for _ in range(chosen.steps))
    for real, noise in steps(batches):
        false = generate(noise)
        F.softplus(criticise(false.detach()) - criticise(real)).mean().backward()
        optimizers[1].step()
        optimizers[1].zero_grad()
        F.softplus(-criticise(false)).mean().backward()
        optimizers[0].step()
        for optimizer in optimizers:
            optimizer.zero_grad()
    finish()


if __name__ == "__main__":
    main()
