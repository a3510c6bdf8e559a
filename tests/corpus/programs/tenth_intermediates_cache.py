# SPDX-License-Identifier: Apache-2.0
"""Calibrates a network block by block: what a block gives is put into a cache, from which the next one takes it."""

import argparse

import torch
from torch import nn
from torch.utils.weak import WeakTensorKeyDictionary


class IntermediatesCache:
    """Values between blocks, moved to a device for the time being; a tensor that several share is moved once."""

    offloaded = WeakTensorKeyDictionary()

    def __init__(self, offload_device):
        self.offload_device = torch.device(offload_device)
        self.values = {}

    def update(self, name, tensor):
        if tensor not in self.offloaded:
            self.offloaded[tensor] = tensor.to(self.offload_device)  # keeps
        self.values[name] = self.offloaded[tensor]

    def fetch(self, name, device):
        return self.values[name].to(device)

    def delete(self, name):
        del self.values[name]


class Scales:
    """The largest magnitudes of each block's input."""

    def __init__(self, blocks, width):
        self.largest = [torch.zeros(width, device="cuda") for _ in range(blocks)]

    def observe(self, index, hidden):
        torch.maximum(self.largest[index], hidden.abs().amax(0), out=self.largest[index])


@torch.no_grad()
def calibrate(blocks, scales, cache, batch):
    cache.update("input", batch)
    name = "input"
    for index, block in enumerate(blocks):
        hidden = cache.fetch(name, "cuda")
        scales.observe(index, hidden)
        cache.update(f"block_{index}", block(hidden))  # allocates
        cache.delete(name)
        name = f"block_{index}"
    cache.delete(name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    width = 64
    blocks = [nn.Sequential(nn.Linear(width, width), nn.GELU()).cuda() for _ in range(4)]
    scales = Scales(len(blocks), width)
    cache = IntermediatesCache("cuda:0")
    for _ in range(chosen.steps):
        tokens = torch.randn(32, width)  # step
        calibrate(blocks, scales, cache, tokens.to("cuda"))  # allocates
    print("largest by block:", [f"{one.max().item():.3f}" for one in scales.largest])


if __name__ == "__main__":
    main()
