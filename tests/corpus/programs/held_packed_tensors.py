# SPDX-License-Identifier: Apache-2.0
"""Hooks on saved tensors count what autograd saves; the numbers that they hand out index a list."""

import argparse

import torch
from torch import nn
from torch.nn import functional as F

class CountSaved(torch.autograd.graph.saved_tensors_hooks):
    """How many bytes are saved for backward, by shape."""

    def __init__(self):
        super().__init__(self.pack, self.unpack)
        self.packed, self.bytes_of = [], {}

    def pack(self, tensor):
        size = tensor.numel() * tensor.element_size()
        self.bytes_of[tuple(tensor.shape)] = self.bytes_of.get(tuple(tensor.shape), 0) + size
        self.packed.append(tensor)  # keeps
        return len(self.packed) - 1

    def unpack(self, number):
        return self.packed[number]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(96, 192), nn.LayerNorm(192), nn.Linear(192, 16)

    def forward(self, rows):
        hidden = F.silu(self.first(rows))  # allocates
        return self.last(self.norm(hidden))  # allocates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)

    model = Net().cuda()
    optimizer = torch.optim.Adam(model.parameters())
    saved = CountSaved()
    for step in range(chosen.steps):
        rows = torch.randn(64, 96, device="cuda")  # allocates
        labels = torch.randint(16, (64,), device="cuda")
        with saved:
            loss = F.cross_entropy(model(rows), labels)  # allocates
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for shape, size in sorted(saved.bytes_of.items()):
        print(shape, size // chosen.steps, "bytes a step")


if __name__ == "__main__":
    main()
