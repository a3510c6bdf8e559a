# SPDX-License-Identifier: Apache-2.0
"""A transformer compiled with mode="reduce-overhead": CUDA graphs with pools of their own."""

import torch

from compiling import DEVICE, compiled, finish, options, steps
from nano_gpt import GPT


def main():
    chosen = options(steps=5)
    model = GPT().to(DEVICE)
    network = compiled(chosen, model, mode="reduce-overhead")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    texts = (torch.randint(1024, (16, 129)) for _ in range(chosen.steps))
    for tokens, targets in steps((text[:, :-1].contiguous(), text[:, 1:].contiguous()) for text in texts):
        network(tokens, targets).backward()
        optimizer.step()
        optimizer.zero_grad()
    finish()


if __name__ == "__main__":
    main()
