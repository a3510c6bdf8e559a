# SPDX-License-Identifier: Apache-2.0
"""A transformer compiled for shapes that change: batches of five lengths."""

import torch

from compiling import DEVICE, compiled, finish, options, steps
from nano_gpt import GPT


def main():
    chosen = options(steps=5)
    model = GPT().to(DEVICE)
    network = compiled(chosen, model, dynamic=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    lengths = [96, 80, 128, 64, 112]
    texts = (torch.randint(1024, (16, lengths[number % 5] + 1)) for number in range(chosen.steps))
    for tokens, targets in steps((text[:, :-1].contiguous(), text[:, 1:].contiguous()) for text in texts):
        network(tokens, targets).backward()
        optimizer.step()
        optimizer.zero_grad()
    finish()


if __name__ == "__main__":
    main()
