# SPDX-License-Identifier: Apache-2.0
"""A few steps of a small network; its last line says what PyTorch itself has counted.

Usage: small_training.py [WIDTH]"""

import json
import sys

import torch

STEPS = 5


def main(width: int) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    history = []
    for step in range(STEPS):
        torch.cuda.nvtx.range_push(f"batch {step % 2}")
        x = torch.randn(256 + 64 * step, width, device="cuda")
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        history.append(loss)
        torch.cuda.nvtx.range_pop()
    stats = torch.cuda.memory_stats()
    print(json.dumps({
        "peak_allocated": torch.cuda.max_memory_allocated(),
        "peak_reserved": torch.cuda.max_memory_reserved(),
        "allocated": stats["allocated_bytes.all.allocated"],
        "blocks": stats["allocation.all.allocated"],
        "steps": STEPS,
    }))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 256)
