# SPDX-License-Identifier: Apache-2.0
"""A transformer that checkpoints each block, compiled as a whole."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from compiling import DEVICE, compiled, finish, options, steps
from nano_gpt import Block


class Checkpointed(nn.Module):
    def __init__(self, words=512, width=192, heads=6, layers=6):
        super().__init__()
        self.tokens = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, tokens, targets):
        x = self.tokens(tokens)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())


def main():
    chosen = options(steps=4)
    model = Checkpointed().to(DEVICE)
    network = compiled(chosen, model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    texts = (torch.randint(512, (24, 129)) for _ in range(chosen.steps))
    for tokens, targets in steps((text[:, :-1].contiguous(), text[:, 1:].contiguous()) for text in texts):
        network(tokens, targets).backward()
        optimizer.step()
        optimizer.zero_grad()
    finish()


if __name__ == "__main__":
    main()
