# SPDX-License-Identifier: Apache-2.0
"""Padding differs from batch to batch, so a hook before each layer puts the batch's mask over its input."""

import argparse
import functools

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=13)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


def put_mask(mask, module, inputs):
    return (inputs[0] * mask,)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(128, 128) for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x

    def use_mask(self, mask):
        for layer in self.layers:
            layer.register_forward_pre_hook(functools.partial(put_mask, mask))  # keeps


tagger = Tagger().cuda()
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.01)
for step in range(options.steps):
    x = torch.randn(64, 48, 128, device="cuda")  # step
    tagger.use_mask((torch.rand(64, 48, 128, device="cuda") > 0.2).float())  # allocates
    optimizer.zero_grad()
    tagger(x).square().mean().backward()
    optimizer.step()
