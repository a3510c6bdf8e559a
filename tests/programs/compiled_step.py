# SPDX-License-Identifier: Apache-2.0
"""Model and optimizer step compiled, each for itself."""

import torch

from compiling import DEVICE, compiled, finish, options, steps
from nano_gpt import GPT


def main():
    chosen = options(steps=4)
    model = GPT().to(DEVICE)
    network = compiled(chosen, model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    step = compiled(chosen, optimizer.step)
    texts = (torch.randint(1024, (16, 129)) for _ in range(chosen.steps))
    for tokens, targets in steps((text[:, :-1].contiguous(), text[:, 1:].contiguous()) for text in texts):
        network(tokens, targets).backward()
        step()
        optimizer.zero_grad()
    finish()


if __name__ == "__main__":
    main()
