# SPDX-License-Identifier: Apache-2.0
"""Records the GPU's memory and the time of every step; a hook notes shapes and means as numbers."""

import argparse
import time

import torch
from torch import nn


class Notes:
    def __init__(self, model):
        self.rows, self.shapes = [], {}
        for name, module in model.named_modules():
            if not list(module.children()):
                module.register_forward_hook(lambda _, __, out, name=name: self.note(name, out))

    def note(self, name, out):
        self.shapes.setdefault(name, []).append((tuple(out.shape), out.detach().mean().item()))

    def step(self, number, began):
        self.rows.append({
            "step": number, "seconds": time.perf_counter() - began,
            "bytes": torch.cuda.memory_allocated(), "peak": torch.cuda.max_memory_allocated(),
        })


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = nn.Sequential(
        nn.Conv1d(8, 32, 5), nn.ReLU(), nn.Conv1d(32, 32, 5), nn.ReLU(), nn.Flatten(), nn.LazyLinear(4)
    ).cuda()
    model(torch.zeros(1, 8, 200, device="cuda"))
    optimizer = torch.optim.AdamW(model.parameters())
    notes = Notes(model)
    for step in range(chosen.steps):
        began = time.perf_counter()
        signal, labels = torch.randn(32, 8, 200, device="cuda"), torch.randint(4, (32,), device="cuda")
        loss = nn.functional.cross_entropy(model(signal), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        notes.step(step, began)


if __name__ == "__main__":
    main()
