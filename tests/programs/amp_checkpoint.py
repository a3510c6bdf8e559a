# SPDX-License-Identifier: Apache-2.0
"""Mixed precision with GradScaler, activation checkpointing and gradient accumulation."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from batches import DEVICE, on_device, options, peak


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, hidden):
        return hidden + self.down(nn.functional.gelu(self.up(self.norm(hidden))))


def main():
    chosen = options(steps=6)
    blocks = nn.ModuleList(Block(128) for _ in range(4)).to(DEVICE)
    head = nn.Linear(128, 16).to(DEVICE)
    parameters = [*blocks.parameters(), *head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, foreach=True)
    scaler = torch.amp.GradScaler(DEVICE, enabled=DEVICE == "cuda")
    samples = (
        (torch.rand(8, 64, 128), torch.randint(16, (8, 64))) for _ in range(chosen.steps)
    )
    for step, (hidden, label) in enumerate(on_device(samples, chosen.streams)):
        with torch.autocast(DEVICE, dtype=torch.float16 if DEVICE == "cuda" else torch.bfloat16):
            for index, block in enumerate(blocks):
                if index % 2 == 0:
                    hidden = checkpoint(block, hidden, use_reentrant=False)
                else:
                    hidden = block(hidden)
            loss = nn.functional.cross_entropy(head(hidden).flatten(0, 1), label.flatten()) / 2
        scaler.scale(loss).backward()
        if step % 2 == 1:
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(parameters, 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
    print(f"amp: {chosen.steps} steps, peak {peak()} bytes")


if __name__ == "__main__":
    main()
