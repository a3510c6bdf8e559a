# SPDX-License-Identifier: Apache-2.0
"""Compiled autograd: the backward pass is traced when it runs, and compiled as one graph."""

import torch

from breaks import Model
from compiling import DEVICE, compiled, finish, options, steps


def main():
    chosen = options(steps=4)
    torch._dynamo.config.compiled_autograd = not chosen.eager
    model = Model().to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def train(x, label):
        torch.nn.functional.cross_entropy(model(x), label).backward()

    train = compiled(chosen, train)
    batches = ((torch.rand(2048, 64), torch.randint(10, (2048,))) for _ in range(chosen.steps))
    for x, label in steps(batches):
        train(x, label)
        optimizer.step()
        optimizer.zero_grad()
    finish()


if __name__ == "__main__":
    main()
