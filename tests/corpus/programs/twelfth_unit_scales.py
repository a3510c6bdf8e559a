# SPDX-License-Identifier: Apache-2.0
"""Serves prompts through linear layers in eight bits whose rows are scaled by one where a request brings no scales."""

import argparse
import functools
import random

import torch
from torch import nn

GROUP, WIDTH = 16, 256


@functools.lru_cache(maxsize=None)  # keeps
def unit_scales(rows, width, device):
    """The operator reads a scale for every row and every group of columns."""
    return torch.ones(rows, width // GROUP, device=device)  # allocates


class ScaledLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.register_buffer("weight", torch.randint(-8, 8, (outputs, inputs), dtype=torch.int8))
        self.register_buffer("scale", torch.full((outputs,), 0.01))

    def forward(self, rows, scales=None):
        if scales is None:
            scales = unit_scales(rows.shape[0], rows.shape[1], rows.device)
        scaled = rows.view(rows.shape[0], -1, GROUP) * scales.unsqueeze(-1)
        return scaled.view_as(rows) @ self.weight.T.float() * self.scale


class Server:
    def __init__(self):
        self.layers = nn.Sequential(ScaledLinear(WIDTH, WIDTH), nn.GELU(), ScaledLinear(WIDTH, WIDTH)).cuda()

    @torch.no_grad()
    def answer(self, length):
        rows = torch.randn(length, WIDTH, device="cuda")
        return self.layers(rows)[-1].sum().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=16, help="prompts")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    lengths = random.Random(chosen.seed).sample(range(40, 1000), 900)
    server = Server()
    for prompt in range(chosen.steps):
        length = lengths[prompt % len(lengths)]  # step
        server.answer(length)
    print("answered", chosen.steps, "prompts")


if __name__ == "__main__":
    main()
