# SPDX-License-Identifier: Apache-2.0
"""A training that keeps its outputs, in an environment full of what nobody else should know."""

import sys

import torch
from torch import nn

from layers_of_ada import Block


class Trainer:
    def __init__(self):
        self.outputs = []
        self.model = nn.Sequential(*[Block(64) for _ in range(3)]).to("cuda")
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def fit(self, steps):
        for step in range(steps):
            torch.cuda.nvtx.range_push("step of ada")
            loss = self.model(torch.randn(32, 64, device="cuda")).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.outputs.append(self.model(torch.randn(512, 64, device="cuda")))
            torch.cuda.nvtx.range_pop()


Trainer().fit(30)
print("arguments", len(sys.argv))
