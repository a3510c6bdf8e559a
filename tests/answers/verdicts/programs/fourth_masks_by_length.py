# SPDX-License-Identifier: Apache-2.0
"""A language model on longer and longer texts; a causal mask is made once for each of eight lengths."""

import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=17)
parser.add_argument("--seed", type=int, default=0)
options = parser.parse_args()
torch.manual_seed(options.seed)
LENGTHS = tuple(range(64, 576, 64))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(100, 64), nn.Linear(64, 100)
        self.masks = {}

    def mask(self, length):
        if length not in self.masks:
            self.masks[length] = torch.full((length, length), -1e9, device="cuda").triu(1)
        return self.masks[length]

    def forward(self, tokens):
        x = self.table(tokens)
        weights = (x @ x.transpose(1, 2) + self.mask(tokens.shape[1])).softmax(-1)
        return self.out(weights @ x)


model = Model().cuda()
optimizer = torch.optim.Adam(model.parameters())
for step in range(options.steps):
    length = LENGTHS[min(step // 2, len(LENGTHS) - 1)]  # step
    tokens = torch.randint(0, 100, (2, length)).cuda()
    loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del loss, tokens
