# SPDX-License-Identifier: Apache-2.0
"""A mask is put over the input of each layer by hooks that go when the step is done."""

import argparse
from contextlib import ExitStack

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=17)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(128, 128) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


def masked(stack, module, mask):
    handle = module.register_forward_pre_hook(lambda _, inputs: (inputs[0] * mask,))
    stack.callback(handle.remove)


tagger = Tagger().cuda()
optimizer = torch.optim.SGD(tagger.parameters(), lr=0.01)
for step in range(options.steps):
    x = torch.randn(32, 64, 128, device="cuda")  # step
    with ExitStack() as stack:
        for layer in tagger.layers:
            masked(stack, layer, (torch.rand(32, 64, 128, device="cuda") > 0.1).float())
        loss = tagger(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del loss, x
