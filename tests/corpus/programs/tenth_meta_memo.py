# SPDX-License-Identifier: Apache-2.0
"""Checks shapes before it computes: tensors are converted to ones without data, layers run on those first."""

import argparse

import torch
from torch import nn


class MetaConverter:
    """Converts real tensors; one that was converted before gives the same result again."""

    def __init__(self):
        self.tensor_memo = {}
        self.hits = self.misses = 0

    def __call__(self, tensor):
        if tensor in self.tensor_memo:
            self.hits += 1
        else:
            self.misses += 1
            self.tensor_memo[tensor] = torch.empty_like(tensor, device="meta")  # keeps
        return self.tensor_memo[tensor]


class Checked:
    """Runs layers, and before each of them the same on tensors without data."""

    def __init__(self, layers):
        self.layers = layers
        self.converter = MetaConverter()

    def shape_of(self, layer, hidden):
        weight, bias = self.converter(layer.weight), self.converter(layer.bias)
        return nn.functional.linear(self.converter(hidden), weight, bias).shape

    @torch.no_grad()
    def run(self, hidden):
        for layer in self.layers:
            expected = self.shape_of(layer, hidden)
            hidden = torch.tanh(layer(hidden))  # allocates
            assert hidden.shape == expected
        return hidden


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=22)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    checked = Checked([nn.Linear(64, 64).cuda() for _ in range(4)])
    total = 0.0
    for _ in range(chosen.steps):
        rows = torch.randn(32, 64)  # step
        total += checked.run(rows.to("cuda")).sum().item()  # allocates
    print(f"sum {total:.3f}, {checked.converter.hits} hits, {checked.converter.misses} misses")


if __name__ == "__main__":
    main()
