# SPDX-License-Identifier: Apache-2.0
"""A transformer of which only the blocks are compiled, each for itself: one code for all."""

import torch

from compiling import DEVICE, finish, options, steps
from nano_gpt import GPT


def main():
    chosen = options(steps=4)
    model = GPT().to(DEVICE)
    if not chosen.eager:
        for number, block in enumerate(model.blocks):
            model.blocks[number] = torch.compile(block)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    texts = (torch.randint(1024, (16, 129)) for _ in range(chosen.steps))
    for tokens, targets in steps((text[:, :-1].contiguous(), text[:, 1:].contiguous()) for text in texts):
        model(tokens, targets).backward()
        optimizer.step()
        optimizer.zero_grad()
    finish()


if __name__ == "__main__":
    main()
