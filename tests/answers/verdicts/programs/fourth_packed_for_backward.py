# SPDX-License-Identifier: Apache-2.0
"""What autograd saves is numbered and kept in a table, to count how much of it there is."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=15)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)


class Saved:
    def __init__(self):
        self.held, self.bytes = {}, 0

    def pack(self, tensor):
        number = len(self.held)
        self.held[number] = tensor  # keeps
        self.bytes += tensor.nbytes
        return number

    def unpack(self, number):
        return self.held[number]


model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
saved = Saved()
for step in range(options.steps):
    optimizer.zero_grad()  # step
    x = torch.randn(256, 128, device="cuda")  # allocates
    with torch.autograd.graph.saved_tensors_hooks(saved.pack, saved.unpack):
        hidden = model(x)  # allocates
        loss = F.cross_entropy(hidden, torch.zeros(256, dtype=torch.long, device="cuda"))  # allocates
    loss.backward()
    optimizer.step()
    print(saved.bytes)
